"""A Python child that makes calls of its own and talks back through its output."""

import subprocess
import sys

code = "import os, urllib.request; print(urllib.request.urlopen(os.environ['BASE'] + '/json').read().decode())"
done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
print("child said:", done.stdout.strip())

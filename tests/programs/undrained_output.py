"""A command that says more than a pipe holds, on both of its outputs, to an agent that reads one after the other (equipa#32)."""

import subprocess
import sys

code = "import sys; sys.stderr.write('e' * 300000); sys.stdout.write('o' * 300000)"
done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
print(len(done.stdout), len(done.stderr))
child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
print(len(child.stdout.read()), child.wait())

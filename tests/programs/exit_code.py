# expect: exit=3
"""An agent that says no."""

import os
import sys
import urllib.request

print(urllib.request.urlopen(os.environ["BASE"] + "/json").read().decode())
sys.exit(3)

# expect: signal=9
"""The agent is killed between two calls."""

import os
import signal
import urllib.request

print(urllib.request.urlopen(os.environ["BASE"] + "/counter").read().decode(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)

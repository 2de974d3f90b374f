# expect: signal=9
"""The agent is killed while a call is under way."""

import os
import signal
import threading
import time
import urllib.request

print(urllib.request.urlopen(os.environ["BASE"] + "/counter").read().decode(), flush=True)
threading.Thread(target=urllib.request.urlopen, args=(os.environ["BASE"] + "/slow?ms=20000",), daemon=True).start()
time.sleep(0.5)
os.kill(os.getpid(), signal.SIGKILL)

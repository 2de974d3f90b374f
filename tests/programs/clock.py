"""What the clock said, in what is asked and in what is printed; also bound before the agent began, and as an attribute of a class."""

import os
import time
import urllib.request
from time import time as early


class Timer:
    now = time.perf_counter
    wall = staticmethod(time.time_ns)


began = Timer().now()
stamp = f"{time.time()!r}-{early()!r}-{Timer.wall()}"
print(urllib.request.urlopen(os.environ["BASE"] + "/echo?at=" + stamp).read().decode())
print(Timer().now() - began, time.monotonic())

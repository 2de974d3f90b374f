"""What a recorded read costs: each read in a loop, without and with the recorder. Prints nanoseconds of the agent's processor time.

python bench/ambient.py            plain
tacho record -- python bench/ambient.py   recorded
"""

from __future__ import annotations

import datetime
import os
import random
import resource
import time
import timeit
import uuid
from collections.abc import Callable

READS: dict[str, Callable[[], object]] = {
    "time.time": time.time,
    "time.monotonic": time.monotonic,
    "datetime.now": datetime.datetime.now,
    "os.urandom": lambda: os.urandom(16),
    "uuid.uuid4": uuid.uuid4,
    "random.random": random.random,
    "random.randrange": lambda: random.randrange(1000),
    "os.getpid": os.getpid,
}


def used() -> float:
    """Processor time of this process: the host works on another processor."""
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime


for name, read in READS.items():
    best = min(timeit.repeat(read, timer=used, number=20_000, repeat=5)) / 20_000
    print(f"{name:18} {best * 1e9:8.0f} ns")

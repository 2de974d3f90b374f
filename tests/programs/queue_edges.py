"""What the queues between threads promise besides the order: errors, time-outs, types, and what a finalizer may do."""

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor


def raised(act, *args, **kwargs):
    try:
        return act(*args, **kwargs)
    except Exception as error:
        return type(error).__name__


one = queue.Queue(1)
print(raised(one.put, 1), raised(one.put_nowait, 2), raised(one.put, 2, timeout=0.01), raised(one.put, 2, timeout=-1))
print(one.get(), raised(one.get_nowait), raised(one.get, timeout=0.01), raised(one.get, timeout=-1))

simple = queue.SimpleQueue()
assert isinstance(simple, queue.SimpleQueue)
assert queue.SimpleQueue[int] != queue.SimpleQueue
simple.put(1, False, 0)
simple.put_nowait(item=2)
print(simple.qsize(), simple.get(), simple.get_nowait(), simple.empty())
print(raised(simple.get_nowait), raised(simple.get, timeout=0.01), raised(simple.get, timeout=-1), raised(simple.get, False))


class Named(queue.SimpleQueue):
    def __init__(self, name):
        self.name = name


named = Named("mine")
named.put(3)
print(named.name, named.get())


class Late:
    def __del__(self):
        simple.put("from a finalizer")


simple.put(Late())
simple.get()
print(simple.get(timeout=5))

# Somebody waits for what is only put later; somebody else looks in the meantime.
waiting = threading.Thread(target=lambda: one.put(simple.get()))
waiting.start()
time.sleep(0.02)
print(raised(simple.get_nowait), raised(simple.get, timeout=0.01))
simple.put("late")
print(one.get())
waiting.join()
with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(str, range(4))))

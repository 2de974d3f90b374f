"""Waits with a time-out, each once in time and once not: Event, Queue, Condition, Semaphore, Barrier, Thread.join, Timer."""

import queue
import threading
import time

import tachograph


@tachograph.tool(effect="read")
def ask(number: int) -> int:
    time.sleep(0.01)
    return number


@tachograph.tool(effect="write")
def conclude(order: list) -> str:
    return "-".join(map(str, order))


def soon(act, seconds=0.03):
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


event = threading.Event()
print(event.wait(0.02), soon(event.set) is not None, event.wait(30))

things = queue.Queue()
try:
    things.get(timeout=0.02)
except queue.Empty:
    print("empty")
soon(lambda: things.put(ask(1)))
print(things.get(timeout=30))
full = queue.Queue(1)
full.put(1)
try:
    full.put(2, timeout=0.02)
except queue.Full:
    print("full")

condition, ready = threading.Condition(), []


def make_ready():
    with condition:
        ready.append(ask(2))
        condition.notify_all()


with condition:
    print(condition.wait_for(lambda: ready, 0.02))
soon(make_ready)
with condition:
    print(condition.wait_for(lambda: ready, 30))

semaphore = threading.Semaphore(0)
print(semaphore.acquire(timeout=0.02), soon(semaphore.release) is not None, semaphore.acquire(timeout=30))

barrier = threading.Barrier(2)
try:
    barrier.wait(0.02)
except threading.BrokenBarrierError:
    print("broken", barrier.broken)

thread = threading.Thread(target=ask, args=(3,))
sleeper = threading.Thread(target=time.sleep, args=(0.2,))
thread.start(), sleeper.start()
sleeper.join(0.02)
print(sleeper.is_alive())
thread.join(30), sleeper.join(30)
print(sleeper.is_alive())

never = threading.Timer(30, print, ("never",))
never.start()
never.cancel()
never.join()
print(conclude([1]))

"""Threads that put into the queues that they share what they have worked out without a call, and get from them; what is asked next depends on the order."""

import contextlib
import queue
import random
import threading
import time

import tachograph


@tachograph.tool(effect="read")
def conclude(order: list) -> str:
    return " ".join(map(str, order))


def spin():
    end = time.perf_counter() + random.choice((0, 0, 0.0003, 0.002))
    while time.perf_counter() < end:
        pass


def run(todo, done):
    def work(name):
        while (n := todo.get()) is not None:
            spin()
            done.put("%s%d" % (name, n))

    workers = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for worker in workers:
        worker.start()
    for n in range(12):
        todo.put(n)
    order = [done.get() for _ in range(6)]
    print(conclude(order))
    while len(order) < 12:
        try:
            order.append(done.get(timeout=0.0005))
        except queue.Empty:
            order.append("-")
            order.append(done.get())
        with contextlib.suppress(queue.Empty):
            order.append(done.get_nowait())
    for _ in workers:
        todo.put(None)
    for worker in workers:
        worker.join()
    print(conclude(order))


run(queue.Queue(), queue.SimpleQueue())
run(queue.SimpleQueue(), queue.Queue(2))
run(queue.LifoQueue(), queue.PriorityQueue())

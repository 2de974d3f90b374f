"""Workers that take from a queue and put into another; what is made of it depends on who was first."""

import queue
import random
import threading
import time

import tachograph


@tachograph.tool(effect="read")
def ask(number: int) -> int:
    time.sleep(random.uniform(0, 0.03))
    return number


@tachograph.tool(effect="write")
def conclude(order: list) -> str:
    return "-".join(map(str, order))


todo, done = queue.Queue(), queue.Queue()


def work():
    while (n := todo.get()) is not None:
        done.put(ask(n))
        todo.task_done()


workers = [threading.Thread(target=work) for _ in range(3)]
for worker in workers:
    worker.start()
    time.sleep(0.005)
for n in range(3):
    todo.put(n)
order = [done.get() for _ in range(3)]
print(conclude(order))
for n in range(3):
    todo.put(order[n] + 10)
    print(done.get())
for _ in workers:
    todo.put(None)
for worker in workers:
    worker.join()

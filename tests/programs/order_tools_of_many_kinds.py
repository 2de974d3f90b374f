"""A tool that starts threads and sleeps inside of itself: what it did there shifts nothing of the agent's own afterwards."""

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


def pause():
    time.sleep(0.005)


@tachograph.tool(effect="read")
def busy(number: int) -> int:
    pause()
    threads = [threading.Thread(target=ask, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pause()
    return number


print(busy(1))
pause()
order = []
threads = [threading.Thread(target=lambda n=n: order.append(ask(n))) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(conclude(order), busy(2))
pause()
print(conclude([ask(5)]))

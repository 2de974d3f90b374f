"""Plain threads, done in the reverse order, and a lock around what they share."""

import threading
import time

import tachograph


@tachograph.tool(effect="read")
def ask(number: int) -> int:
    time.sleep(0.05 * (5 - number) if number < 100 else 0)
    return number


@tachograph.tool(effect="write")
def conclude(order: list) -> str:
    return "-".join(map(str, order))


order, lock = [], threading.Lock()


def work(n):
    answer = ask(n)
    with lock:
        order.append(answer)
    ask(n + 100)


threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(conclude(order))

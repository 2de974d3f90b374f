"""Eight tools in a pool of threads; the next call holds the order in which they were done."""

import concurrent.futures
import random
import time

import tachograph


@tachograph.tool(effect="read")
def ask(number: int) -> int:
    time.sleep(random.uniform(0, 0.03))
    return number


@tachograph.tool(effect="write")
def conclude(order: list) -> str:
    return "-".join(map(str, order))


with concurrent.futures.ThreadPoolExecutor(8) as pool:
    waiting = [pool.submit(ask, n) for n in range(8)]
    print(conclude([done.result() for done in concurrent.futures.as_completed(waiting)]))
    # All are done by now: a set of futures has an order, too.
    print(conclude([done.result() for done in concurrent.futures.as_completed(waiting)]))

"""Callbacks of futures, on the threads that finish them."""

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


order = []
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    for n in range(8):
        pool.submit(ask, n).add_done_callback(lambda done: order.append(done.result()))
print(conclude(order))

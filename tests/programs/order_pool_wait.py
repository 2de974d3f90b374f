"""concurrent.futures.wait, the first of several again and again, and one that does not make it in time."""

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


with concurrent.futures.ThreadPoolExecutor(6) as pool:
    waiting, order = {pool.submit(ask, n) for n in range(6)}, []
    while waiting:
        done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
        order.extend(future.result() for future in done)
    print(conclude(order))
    late = pool.submit(time.sleep, 0.3)
    try:
        late.result(timeout=0.05)
    except concurrent.futures.TimeoutError:
        print("late")
    print(concurrent.futures.wait([late], timeout=0.01).done, late.result(timeout=30))

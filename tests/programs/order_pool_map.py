"""Executor.map with fewer workers than work: who takes what depends on who is free."""

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


seen = []


def work(n):
    answer = ask(n)
    seen.append(answer)
    return answer


with concurrent.futures.ThreadPoolExecutor(3) as pool:
    print(list(pool.map(work, range(12))))
print(sorted(seen), conclude(sorted(seen)))

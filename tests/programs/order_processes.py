"""Processes: a pool that gives results as they come, an executor, and a queue between processes."""

import concurrent.futures
import multiprocessing
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


def put(queue, n):
    queue.put(ask(n))


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with context.Pool(3) as pool:
        print(conclude(list(pool.imap_unordered(ask, range(6)))))
        print(pool.map(ask, range(4)), pool.apply_async(ask, (9,)).get(timeout=30))
    with concurrent.futures.ProcessPoolExecutor(3, mp_context=context) as executor:
        waiting = [executor.submit(ask, n) for n in range(6)]
        print(conclude([done.result() for done in concurrent.futures.as_completed(waiting)]))
    queue = context.Queue()
    children = [context.Process(target=put, args=(queue, n)) for n in range(4)]
    for child in children:
        child.start()
    print(conclude([queue.get(timeout=30) for _ in children]))
    for child in children:
        child.join(timeout=30)
    print([child.exitcode for child in children])

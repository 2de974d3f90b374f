"""Callbacks of futures that submit more work: whether they run in the worker or where they were hung up depends on timing, and nothing else."""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor, wait

import tachograph


@tachograph.tool(effect="read")
def look(name):
    time.sleep(0.003)
    return name + "!"


def second(name):
    return look(name), str(uuid.uuid4())


with ThreadPoolExecutor(4) as pool:
    for turn in range(5):
        more = []

        def go_on(future, name, more=more):
            more.append(pool.submit(second, name + future.result()))

        first = [pool.submit(look, "%s%d" % (name, turn)) for name in "abc"]
        for number, future in enumerate(first):
            if number == turn % 3:
                wait([future])
            future.add_done_callback(lambda future, number=number: go_on(future, "ABC"[number]))
        wait(first)
        while len(more) < 3:
            time.sleep(0.001)
        print(sorted(each.result() for each in more))

"""Pools whose work runs in a copy of the submitter's context, as LangChain's and ``asyncio.to_thread`` do: each piece of work is a lane of
its own all the same, also where several read the clock and ask for random numbers at once."""

import asyncio
import contextvars
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import tachograph


@tachograph.tool(effect="read")
def look(name):
    time.sleep(0.002 * len(name))
    return name.upper()


def work(name):
    ids = []
    for _ in range(40):
        ids.append(str(uuid.uuid4()))
        time.sleep(0)
    return look(name), ids, time.time()


names = ["a", "bb", "ccc", "dddd"]
with ThreadPoolExecutor(4) as pool:
    print([each.result() for each in [pool.submit(contextvars.copy_context().run, work, name) for name in names]])
    print(list(pool.map(lambda name: contextvars.copy_context().run(work, name), names)))


def nested(name):
    with ThreadPoolExecutor(2) as inner:
        return [each.result() for each in [inner.submit(contextvars.copy_context().run, work, name + number) for number in "12"]]


with ThreadPoolExecutor(4) as pool:
    print([each.result() for each in [pool.submit(contextvars.copy_context().run, nested, name) for name in names]])


async def main():
    for _ in range(2):
        print(await asyncio.gather(*(asyncio.to_thread(work, name) for name in names)))
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    print(await asyncio.gather(*(loop.run_in_executor(None, contextvars.copy_context().run, work, name) for name in names)))
    print(context.run(work, "here"))


asyncio.run(main())
out = []
threads = [threading.Thread(target=contextvars.copy_context().run, args=(lambda name=name: out.append(work(name)),)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(out))

# needs-python: 3.11
"""Tasks that are given a copy of their maker's context, as LangGraph's are: each is a lane of its own, and so is the work that they hand to threads."""

import asyncio
import contextvars
import time
import uuid

import tachograph


@tachograph.tool(effect="read")
async def look(name):
    await asyncio.sleep(0.002 * (5 - len(name)))
    return name.upper()


def work(name):
    ids = []
    for _ in range(10):
        ids.append(str(uuid.uuid4()))
        time.sleep(0)
    return name, ids


async def one(name):
    loop = asyncio.get_running_loop()
    first = await look(name)
    ids = await loop.run_in_executor(None, contextvars.copy_context().run, work, name)
    inner = [loop.create_task(look(name + each), context=contextvars.copy_context()) for each in "xy"]
    return first, ids, await asyncio.gather(*inner), str(uuid.uuid4()), time.time()


async def main():
    loop = asyncio.get_running_loop()
    for _ in range(3):
        tasks = [loop.create_task(one(name), context=contextvars.copy_context()) for name in ("a", "bb", "ccc")]
        print(await asyncio.gather(*tasks), str(uuid.uuid4()))
    print(await look("end"))


asyncio.run(main())

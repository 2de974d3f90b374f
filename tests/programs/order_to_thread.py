"""Threads from asyncio: to_thread and run_in_executor; who is first decides."""

import asyncio
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


async def main():
    order = []

    async def work(n):
        order.append(await asyncio.to_thread(ask, n))

    await asyncio.gather(*(work(n) for n in range(6)))
    print(conclude(order))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        loop = asyncio.get_running_loop()
        waiting = [loop.run_in_executor(pool, ask, n) for n in range(6)]
        print(conclude([await done for done in asyncio.as_completed(waiting)]))
        future = asyncio.run_coroutine_threadsafe(asyncio.sleep(0.01, "from the loop"), loop)
        print(await asyncio.to_thread(future.result, 30))


asyncio.run(main())

"""A thread hands a loop what it reads, and the loop looks whether something is there: what it does next depends on it."""

import asyncio
import random
import time

import tachograph


@tachograph.tool(effect="read")
def answer(words: int):
    for n in range(words):
        time.sleep(random.choice((0, 0, 0, 0.001, 0.003)))
        yield n


@tachograph.tool(effect="read")
async def conclude(seen: str) -> str:
    return seen


async def work(n):
    return await conclude(n)


async def main():
    loop = asyncio.get_running_loop()
    items = asyncio.Queue()

    def read():
        for n in answer(12):
            loop.call_soon_threadsafe(items.put_nowait, n)
        loop.call_soon_threadsafe(items.put_nowait, None)

    reading = asyncio.create_task(asyncio.to_thread(read))
    seen = []
    while True:
        try:
            n = items.get_nowait()
        except asyncio.QueueEmpty:
            n = await asyncio.ensure_future(items.get())
            seen.append("waited")
        seen.append(str(n))
        if n is None:
            break
        end = time.perf_counter() + random.choice((0, 0, 0.001, 0.002))
        while time.perf_counter() < end:
            pass
        for _ in range(random.choice((0, 0, 1, 2, 20))):
            await asyncio.sleep(0)
    await reading
    print(await asyncio.create_task(work(" ".join(seen))))


asyncio.run(main())

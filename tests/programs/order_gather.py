"""asyncio.gather; each task says when it is done."""

import asyncio
import random

import tachograph


@tachograph.tool(effect="read")
async def ask(number: int) -> int:
    await asyncio.sleep(random.uniform(0, 0.03))
    return number


@tachograph.tool(effect="write")
def conclude(order: list) -> str:
    return "-".join(map(str, order))


order = []


async def work(n):
    order.append(await ask(n))
    await asyncio.sleep(random.uniform(0, 0.01))
    order.append(await ask(n + 100))


async def main():
    await asyncio.gather(*(work(n) for n in range(8)))
    print(conclude(order))


asyncio.run(main())

"""Async tools that finish out of order."""

import asyncio
import random

import tachograph

order = []


@tachograph.tool(effect="read")
async def think(name, delay):
    await asyncio.sleep(delay)
    order.append(name)
    return {"name": name, "luck": random.random()}


async def main():
    answers = await asyncio.gather(think("a", 0.15), think("b", 0.05), think("c", 0.1))
    print(answers)


asyncio.run(main())

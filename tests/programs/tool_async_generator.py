"""An async generator as a tool."""

import asyncio
import os

import tachograph


@tachograph.tool(effect="read")
async def ticks(count):
    for number in range(count):
        await asyncio.sleep(0.01)
        yield number, os.urandom(2).hex()


async def main():
    print([tick async for tick in ticks(4)])


asyncio.run(main())

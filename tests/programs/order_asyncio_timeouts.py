# needs-python: 3.11
"""Time-outs of asyncio that fire, that do not, that are moved, and that have passed already."""

import asyncio

import tachograph


@tachograph.tool(effect="read")
async def ask(number: int) -> int:
    await asyncio.sleep(0.01 * number)
    return number


@tachograph.tool(effect="write")
def conclude(order: list) -> str:
    return "-".join(map(str, order))


async def main():
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(0.02):
            await ask(30)
    except TimeoutError:
        print("fired")
    async with asyncio.timeout(30):
        print(await ask(1))
    async with asyncio.timeout(0.01) as moved:
        moved.reschedule(loop.time() + 30)
        print(await ask(3), moved.expired())
    deadline = loop.time() + 0.05
    await asyncio.sleep(0.08)
    try:
        async with asyncio.timeout_at(deadline):
            await asyncio.sleep(30)
    except TimeoutError:
        print("had passed")
    try:
        print(await asyncio.wait_for(ask(2), 30), await asyncio.wait_for(ask(50), 0.01))
    except TimeoutError:
        print("fired again")
    handle = loop.call_later(0.05, print, "never")
    loop.call_later(0.01, print, "called")
    await asyncio.sleep(0.02)
    handle.cancel()
    await asyncio.sleep(0.06)
    print(conclude([1]))


asyncio.run(main())

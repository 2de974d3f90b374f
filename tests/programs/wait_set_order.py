# needs: aiohttp
"""asyncio.wait gives sets, whose order is that of addresses; what is asked next follows from who was done (temporalio/sdk-python#429)."""

import asyncio
import os

import aiohttp

base = os.environ["BASE"]


async def ask(session, number, ms):
    async with session.get(f"{base}/slow", params={"ms": ms, "n": number}) as answer:
        return (await answer.json())["n"]


async def main():
    async with aiohttp.ClientSession() as session:
        waiting = {asyncio.ensure_future(ask(session, n, ms)) for n, ms in enumerate((200, 30, 120, 70))}
        order = []
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            order += sorted(task.result() for task in done)
        async with session.post(f"{base}/echo", json=order) as answer:
            print(order, await answer.text())


asyncio.run(main())

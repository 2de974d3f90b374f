# needs: aiohttp
"""asyncio.as_completed with aiohttp; the last question holds the order of the answers."""

import asyncio
import os

import aiohttp

base = os.environ["BASE"]


async def ask(session, number, ms):
    async with session.get(f"{base}/slow", params={"ms": ms, "n": number}) as answer:
        return (await answer.json())["n"]


async def main():
    async with aiohttp.ClientSession() as session:
        waiting = [asyncio.ensure_future(ask(session, n, ms)) for n, ms in enumerate((200, 20, 110, 60))]
        order = [await one for one in asyncio.as_completed(waiting)]
        async with session.post(f"{base}/echo", json=order) as answer:
            print(order, await answer.text())


asyncio.run(main())

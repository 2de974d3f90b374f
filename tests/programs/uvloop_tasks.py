# needs: httpx uvloop
"""The same under uvloop."""

import asyncio
import os

import httpx
import uvloop

base = os.environ["BASE"]


async def ask(client, number):
    return (await client.get(f"{base}/slow", params={"ms": 20 + 50 * (3 - number), "n": number})).json()["n"]


async def main():
    async with httpx.AsyncClient() as client:
        print(await asyncio.gather(*(ask(client, n) for n in range(4))))


uvloop.run(main())

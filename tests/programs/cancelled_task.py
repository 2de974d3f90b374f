# needs: httpx
"""A call that is given up after a while, and the agent goes on."""

import asyncio
import os

import httpx

base = os.environ["BASE"]


async def main():
    async with httpx.AsyncClient() as client:
        try:
            await asyncio.wait_for(client.get(f"{base}/slow?ms=4000"), 0.3)
        except asyncio.TimeoutError:
            print("gave up")
        print((await client.get(f"{base}/json")).text)


asyncio.run(main())

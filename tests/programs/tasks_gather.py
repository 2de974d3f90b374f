# needs: httpx
"""asyncio.gather of calls that finish out of order, each followed by a second call in its own task."""

import asyncio
import os

import httpx

base, order = os.environ["BASE"], []


async def ask(client, number):
    first = (await client.get(f"{base}/slow", params={"ms": 30 + 60 * (4 - number), "n": number})).json()["n"]
    order.append(first)
    return (await client.post(f"{base}/echo", json={"n": first, "so far": list(order)})).json()


async def main():
    async with httpx.AsyncClient() as client:
        print(await asyncio.gather(*(ask(client, n) for n in range(5))))


asyncio.run(main())

# needs: httpx
# needs-python: 3.11
"""A TaskGroup in which one task fails and the others are cancelled."""

import asyncio
import os

import httpx

base = os.environ["BASE"]


async def ask(client, path):
    answer = await client.get(base + path)
    answer.raise_for_status()
    return answer.text


async def main():
    async with httpx.AsyncClient() as client:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(ask(client, "/slow?ms=3000&n=1"))
                group.create_task(ask(client, "/status?code=500"))
        except* httpx.HTTPStatusError as errors:
            print("failed:", [error.response.status_code for error in errors.exceptions])
        print(await ask(client, "/json"))


asyncio.run(main())

"""asyncio.sleep and deadlines beside reads of the clock: time goes on in a replay (freezegun#437)."""

import asyncio
import time
import urllib.request
from os import environ


async def main():
    until = time.time() + 0.2
    turns = 0
    while time.time() < until:
        await asyncio.sleep(0.02)
        turns += 1
    await asyncio.wait_for(asyncio.sleep(0.01), 5)
    print(urllib.request.urlopen(environ["BASE"] + f"/echo?turns={turns}").read().decode())


asyncio.run(main())

# needs: httpx requests aiohttp
"""Nobody listens: each library says so in its own words, and says the same in the replay."""

import asyncio
import urllib.error
import urllib.request

import aiohttp
import httpx
import requests

url = "http://127.0.0.1:9/nobody"
for call in (httpx.get, requests.get, urllib.request.urlopen):
    try:
        call(url)
    except (httpx.ConnectError, requests.ConnectionError, urllib.error.URLError) as error:
        print(type(error).__module__, type(error).__name__)


async def main():
    async with aiohttp.ClientSession() as session:
        try:
            await session.get(url)
        except aiohttp.ClientConnectorError as error:
            print(type(error).__name__, error.os_error.errno)


asyncio.run(main())

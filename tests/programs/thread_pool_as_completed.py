# needs: httpx
"""A thread pool whose results are used as they come."""

import concurrent.futures
import os

import httpx

base = os.environ["BASE"]
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    waiting = [pool.submit(httpx.get, f"{base}/slow?ms={ms}&n={n}") for n, ms in enumerate((240, 40, 140, 60))]
    order = [future.result().json()["n"] for future in concurrent.futures.as_completed(waiting)]
print(order, httpx.post(f"{base}/echo", json=order).text)

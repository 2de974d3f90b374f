# needs: httpx requests
"""gzip and deflate, HEAD, 204 and 304."""

import os

import httpx
import requests

base = os.environ["BASE"]
print(httpx.get(f"{base}/gzip").json(), requests.get(f"{base}/gzip").json(), requests.get(f"{base}/deflate").json())
print(requests.head(f"{base}/gzip").headers["content-encoding"], httpx.head(f"{base}/json").status_code)
print(requests.get(f"{base}/status?code=204").content, httpx.get(f"{base}/status?code=304").content)

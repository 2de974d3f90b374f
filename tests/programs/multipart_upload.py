# needs: httpx requests
"""Multipart boundaries are drawn anew each time and do not count."""

import os

import httpx
import requests

base = os.environ["BASE"]
print(httpx.post(f"{base}/length", files={"a": ("a.txt", b"content")}, data={"b": "1"}).status_code)
print(requests.post(f"{base}/length", files={"a": ("a.bin", bytes(range(256)))}).status_code)

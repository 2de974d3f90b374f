# needs: httpx
"""Bytes that are no text, both ways."""

import hashlib
import os

import httpx

data = bytes(range(256)) * 300
answer = httpx.post(os.environ["BASE"] + "/echo", content=data, headers={"content-type": "application/octet-stream"})
print(answer.content == data, hashlib.sha256(answer.content).hexdigest())
print(hashlib.sha256(httpx.get(os.environ["BASE"] + "/binary").content).hexdigest())

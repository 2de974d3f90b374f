# needs: httpx
"""The connection breaks after three chunks."""

import os

import httpx

got = []
try:
    with httpx.stream("GET", os.environ["BASE"] + "/drop?after=3") as answer:
        for chunk in answer.iter_bytes():
            got.append(chunk)
except httpx.RemoteProtocolError as error:
    print(type(error).__name__, len(got), b"".join(got))

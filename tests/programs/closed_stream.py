# needs: httpx
"""The agent stops reading after the second chunk."""

import os

import httpx

with httpx.stream("GET", os.environ["BASE"] + "/stream?n=50") as answer:
    for number, chunk in enumerate(answer.iter_raw()):
        print(chunk)
        if number == 1:
            break
print(httpx.get(os.environ["BASE"] + "/json").text)

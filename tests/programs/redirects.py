# needs: httpx requests
"""Redirects are followed; a loop is refused by the library."""

import os

import httpx
import requests

base = os.environ["BASE"]
answer = httpx.get(f"{base}/redirect?times=3", follow_redirects=True)
print(answer.status_code, len(answer.history), answer.url.path)
answer = requests.get(f"{base}/redirect?times=2")
print(answer.status_code, [step.status_code for step in answer.history])

# needs: requests
"""429 twice, then an answer."""

import os

import requests

base = os.environ["BASE"]
for attempt in range(5):
    answer = requests.get(f"{base}/flaky?fail=2")
    print(attempt, answer.status_code, answer.headers.get("retry-after"))
    if answer.ok:
        print(answer.json())
        break

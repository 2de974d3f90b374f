# needs: requests
"""Eight megabytes each way."""

import hashlib
import os

import requests

answer = requests.post(os.environ["BASE"] + "/echo", data=("0123456789abcdef" * (1 << 19)).encode())
print(len(answer.content), hashlib.sha256(answer.content).hexdigest())

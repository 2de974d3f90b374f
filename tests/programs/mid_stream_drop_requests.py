# needs: requests
"""The same through requests."""

import os

import requests

got = b""
try:
    for chunk in requests.get(os.environ["BASE"] + "/drop?after=3", stream=True).iter_content(None):
        got += chunk
except requests.exceptions.ChunkedEncodingError as error:
    print(type(error).__name__, got)

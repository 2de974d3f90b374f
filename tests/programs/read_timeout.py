# needs: httpx requests
"""A time-out is an outcome; in the replay it costs no time."""

import os

import httpx
import requests

base = os.environ["BASE"]
try:
    httpx.get(f"{base}/slow?ms=5000", timeout=0.3)
except httpx.ReadTimeout as error:
    print(type(error).__name__)
try:
    requests.get(f"{base}/slow?ms=5000", timeout=0.3)
except requests.exceptions.ReadTimeout as error:
    print(type(error).__name__)

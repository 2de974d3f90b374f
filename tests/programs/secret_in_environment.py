"""A secret of the environment is sent; the replay has only its placeholder, and matches all the same."""

import os
import urllib.request

os.environ.setdefault("SERVICE_API_KEY", "none")
request = urllib.request.Request(os.environ["BASE"] + "/length", data=("key=" + os.environ["PROGRAM_API_TOKEN"]).encode(), method="POST")
request.add_header("Authorization", "Bearer " + os.environ["PROGRAM_API_TOKEN"])
print(urllib.request.urlopen(request).status)

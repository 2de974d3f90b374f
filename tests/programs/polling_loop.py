"""The same poll until it says that it is done: each answer is given once, the last is not given for ever (datahub#18641)."""

import json
import os
import urllib.request

polls = 0
while True:
    polls += 1
    count = json.loads(urllib.request.urlopen(os.environ["BASE"] + "/counter").read())["count"]
    if count >= 5:
        break
print("done after", polls, "polls, at", count)

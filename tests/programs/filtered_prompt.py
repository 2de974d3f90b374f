"""What a tool read is filtered before the model sees it; the replay filters what it is answered, and prompts the same."""

import json
import os
import threading
import urllib.request

import tachograph

TOKEN = "gh" + "p_" + "q8Wm3ZrT5vYx7NbK2LdJ4HgF6SaP9CeU1RoI"


@tachograph.tool(effect="read")
def read_config(path):
    return "db_password: hunter2-Correct.Horse\nkey " + TOKEN + "\nservice " + os.environ["PROGRAM_API_TOKEN"] + "\nport: 5432\n"


text = tachograph.filter(read_config("/etc/app.env"))
value = {"headers": [["Authorization", "Bearer " + TOKEN]], "client_secret": "hunter2-Correct.Horse", "n": 1, "none": None}
filtered = tachograph.filter(value)
plain = {"nothing": ["here", 1, 2.5, True]}
assert tachograph.filter(plain) is plain
for secret in ("hunter2-Correct.Horse", TOKEN):
    assert secret not in text
    assert secret not in json.dumps(filtered)
assert "port: 5432" in text
assert filtered["n"] == 1
assert value["client_secret"] == "hunter2-Correct.Horse"
assert tachograph.filter(text) is text

threads = [threading.Thread(target=lambda: tachograph.filter("password=hunter2-Correct.Horse")) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

request = urllib.request.Request(os.environ["BASE"] + "/length", data=json.dumps([text, filtered]).encode(), method="POST")
print(urllib.request.urlopen(request).status)
print(text)

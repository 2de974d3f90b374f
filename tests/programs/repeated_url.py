"""The same question three times, three different answers."""

import os
import urllib.request

for _ in range(3):
    print(urllib.request.urlopen(os.environ["BASE"] + "/counter").read().decode())

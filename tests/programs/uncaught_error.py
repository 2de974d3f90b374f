# expect: exit=1
"""An agent that fails on a bad answer."""

import json
import os
import urllib.request

json.loads(urllib.request.urlopen(os.environ["BASE"] + "/binary").read())

"""The workspace is as it was when the recording began, whatever was done to it since."""

import os
import pathlib
import urllib.request

text = pathlib.Path("seed.txt").read_text()
pathlib.Path("seed.txt").write_text("changed by the agent\n")
print(urllib.request.urlopen(os.environ["BASE"] + "/echo", data=text.encode()).read())

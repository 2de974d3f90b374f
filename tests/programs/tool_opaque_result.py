"""A result that is no plain data: the tool runs in a replay, too, and its inner call is answered."""

import os
import urllib.request

import tachograph


class Report:
    def __init__(self, text):
        self.text = text


@tachograph.tool(effect="read")
def fetch():
    return Report(urllib.request.urlopen(os.environ["BASE"] + "/counter").read().decode())


print(fetch().text, fetch().text)

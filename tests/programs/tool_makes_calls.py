"""A declared tool that makes a call: answered whole, its inner call is not asked for."""

import os
import urllib.request

import tachograph


@tachograph.tool(effect="external")
def fetch(path):
    return urllib.request.urlopen(os.environ["BASE"] + path).read().decode()


print(fetch("/counter"), fetch("/counter"))
print(urllib.request.urlopen(os.environ["BASE"] + "/counter").read())

"""Declared tools: a reading one, an external one, and one that fails."""

import os

import tachograph

runs = []


@tachograph.tool(effect="read")
def look(path, *, deep=False):
    runs.append("look")
    return {"path": path, "deep": deep, "pid": os.getpid()}


@tachograph.tool(effect="external")
def pay(cents):
    runs.append("pay")
    return {"receipt": os.urandom(4).hex(), "cents": cents}


@tachograph.tool
def fail(code):
    raise KeyError(code)


print(look("/etc", deep=True), pay(500), pay(cents=500))
try:
    fail("nope")
except KeyError as error:
    print("failed:", repr(error))

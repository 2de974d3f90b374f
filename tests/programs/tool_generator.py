"""A tool that yields, one that is not read to its end, and one that breaks half-way."""

import os

import tachograph


@tachograph.tool(effect="read")
def rows(count):
    for number in range(count):
        yield {"row": number, "token": os.urandom(2).hex()}
    return "done"


@tachograph.tool(effect="read")
def broken():
    yield 1
    raise ValueError("half-way")


def whole():
    last = yield from rows(3)
    print("returned", last)


print(list(whole()))
for row in rows(100):
    print(row)
    if row["row"] == 2:
        break
try:
    print(list(broken()))
except ValueError as error:
    print("broke:", error)

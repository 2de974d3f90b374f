"""Tools that print: they do not run in a replay, and their words are there all the same."""

import sys

import tachograph


@tachograph.tool
def inner(n):
    print("inner", n)
    return n


@tachograph.tool
def outer(n):
    print("before", n)
    inner(n)
    print("after", n, file=sys.stderr)
    print("after", n)
    return n


print("first")
outer(1)
print("between")
inner(2)
print("last")

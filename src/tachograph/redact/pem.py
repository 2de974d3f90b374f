"""Whole private-key blocks: from the opener to its END, or to the end of the text where the END never came.

A key that lost its end (cut by a pager, a token limit, a dropped connection) is still a key. An opener without key material behind it
(a scanner's source code, documentation) is a mention and is left alone.
"""

from __future__ import annotations

import re

OPENER = "-----BEGIN "
_OPEN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?(?: ?-{4,5})?")
_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?(?: ?-{4,5})?")
_BODY = re.compile(r"[A-Za-z0-9+/=]{16,}")
#: Between an opener and its END less will do: nobody writes both without meaning a key.
_CLOSED = re.compile(r"[A-Za-z0-9+/=]{8,}")
#: Characters between opener and the first line of key material: line breaks, quotes, ``Proc-Type`` and other headers.
_HEAD = 400
#: Characters. A block ends within this; farther away is another block's END.
_LONGEST = 65536


def find(text: str) -> list[tuple[int, int]]:
    """Ranges of private-key blocks, in characters."""
    out = []
    at = text.find("BEGIN ")
    while at >= 0:
        opened = _OPEN.match(text, max(0, at - 6)) or _OPEN.match(text, max(0, at - 5)) or _OPEN.match(text, max(0, at - 4))
        if opened is None:
            at = text.find("BEGIN ", at + 6)
            continue
        ended = _END.search(text, opened.end(), min(len(text), opened.end() + _LONGEST))
        again = text.find("BEGIN ", opened.end(), ended.start() if ended else opened.end() + _LONGEST)
        if ended is not None and again < 0:
            if _CLOSED.search(text, opened.end(), ended.start()):
                out.append((opened.start(), ended.end()))
            at = text.find("BEGIN ", ended.end())
        elif _BODY.search(text, opened.end(), min(len(text), opened.end() + _HEAD)):
            end = again if again >= 0 else len(text)
            while again >= 0 and text[end - 1] == "-":
                end -= 1
            out.append((opened.start(), end))
            at = again
        else:
            at = text.find("BEGIN ", opened.end())
    return out

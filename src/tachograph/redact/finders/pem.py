"""Whole private-key blocks: from the opener to its END, or to the end of the text where the END never came.

A key that lost its end (cut by a pager, a token limit, a dropped connection) is still a key, and so is one that lost its beginning: the lines
of base64 before an END that nothing opened. An opener without key material behind it (a scanner's source code, documentation) is a mention
and is left alone, unless the text breaks off right behind it.

Nothing is found in a text without ``PRIVATE KEY``.
"""

from __future__ import annotations

from bisect import bisect_left

from tachograph.redact.lazy import expression
from tachograph.redact.prefilter.trigger import Trigger

#: What must be in a text for ``find``.
TRIGGERS = (Trigger(("PRIVATE KEY",), r"(?:BEGIN|END) [A-Z0-9 ]{0,40}?PRIVATE KEY"),)

OPENER = "-----BEGIN "
_OPEN = expression(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?(?: ?-{4,5})?")
_END = expression(r"-{4,5} ?END [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?(?: ?-{4,5})?")
_BODY = expression(r"[A-Za-z0-9+/=]{16,}")
#: Between an opener and its END less will do: nobody writes both without meaning a key.
_CLOSED = expression(r"(?=[a-z]{0,64}[A-Z0-9+/=])[A-Za-z0-9+/=]{8,}")
#: What may follow an opener at which a text breaks off: line breaks, the quotes and signs of a literal that goes on. A quote directly
#: behind it closes a literal that is a mention.
_BROKEN = expression(r"(?:\\{1,4}n[\"'`]?|[ \t]*\r?\n|[ \t]|\\|(?<=[n\s\"'])[\"'+;,]){0,12}\Z")
#: Characters between opener and the first line of key material: line breaks, quotes, ``Proc-Type`` and other headers.
_HEAD = 400
#: Characters. A block ends within this; farther away is another block's END.
_LONGEST = 65536
#: A line of a block that lost its beginning, with what may stand before and behind the key material on it; and the last, a shorter one.
_LINE = expression(r"(?:[^\n]{0,80}?[\s\"'`>|*])?[A-Za-z0-9+/]{16,120}={0,2}[\"'\s,;+\\]{0,8}\Z")
_LAST_LINE = expression(r"(?:[^\n]{0,80}?[\s\"'`>|*])?[A-Za-z0-9+/]{2,120}={0,2}[\"'\s,;+\\]{0,8}\Z")
#: What a word on the line before a mention of an END is not.
_REST = expression(r"[A-Za-z0-9+/=]{16}|(?=[A-Za-z]{0,64}[0-9+/=])[A-Za-z0-9+/=]{8}")
#: Characters of a log's prefix.
_PREFIX = 80
_BREAK = expression(r"\r?\n|\\{1,4}r\\{1,4}n|\\{1,4}n")


def find(text: str) -> list[tuple[int, int]]:
    """Ranges of private-key blocks, in characters."""
    out = []
    ends = [match.span() for match in _END.finditer(text)]
    at = text.find("BEGIN ")
    while at >= 0:
        opened = _OPEN.match(text, max(0, at - 6)) or _OPEN.match(text, max(0, at - 5)) or _OPEN.match(text, max(0, at - 4))
        if opened is None:
            at = text.find("BEGIN ", at + 6)
            continue
        number = bisect_left(ends, (opened.end(), 0))
        ended = ends[number] if number < len(ends) and ends[number][1] <= opened.end() + _LONGEST else None
        again = text.find("BEGIN ", opened.end(), ended[0] if ended else opened.end() + _LONGEST)
        if ended is not None and again < 0:
            if _CLOSED.search(text, opened.end(), ended[0]):
                out.append((opened.start(), ended[1]))
            at = text.find("BEGIN ", ended[1])
        elif _BODY.search(text, opened.end(), min(len(text), opened.end() + _HEAD)):
            end = again if again >= 0 else len(text)
            while again >= 0 and text[end - 1] == "-":
                end -= 1
            out.append((opened.start(), end))
            at = again
        else:
            if _BROKEN.match(text, opened.end()):
                out.append((opened.start(), opened.end()))
            at = text.find("BEGIN ", opened.end())
    return out + _headless(text, ends, out)


def _headless(text: str, ends: list[tuple[int, int]], found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Blocks whose beginning is lost: an END that ends none of the blocks found, and the lines of key material before it."""
    out: list[tuple[int, int]] = []
    floor = 0
    for low, high in ends:
        number = bisect_left(found, (low, 0))
        if not (number and low < found[number - 1][1]):
            start = _first_line(text, max(floor, low - _LONGEST), low)
            if start < low and _REST.search(text, start, low):
                out.append((start, high))
        floor = high
    return out


def _first_line(text: str, floor: int, end: int) -> int:
    """Where the lines of key material before ``end`` begin; ``end`` where there are none."""
    breaks = [(floor, floor), *(match.span() for match in _BREAK.finditer(text, floor, end))]
    first = stop = end
    for low, start in reversed(breaks):
        line = text[start:stop]
        if line.strip(" \t\"'+,"):
            if (_LINE if first < end else _LAST_LINE).match(line):
                first = start
            elif stop < end or len(line) > _PREFIX:
                break  # not what stands before the END on its own line, a time or a quote
        stop = low
    return first

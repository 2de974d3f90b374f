"""What a write leaves that did not reach the device whole (``docs/format/v1.md``, section 3.4).

A killed process leaves the beginning of what it wrote. After a power cut any part may be missing: the end, and whole blocks before it,
which read as zeros up to the end of a block. A line has no zeros and ends in its only line feed, so either leaves a mark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from . import canonical

#: The reason of a ``gap`` that makes void what a failed write left.
WRITE_FAILED = "write_failed"
_EVENTS = re.compile(r"([0-9]{8})\.events\.jsonl\Z")
#: Bytes. The least that a device writes whole; what file systems and devices do is a multiple of it.
BLOCK = 512


def torn_line(data: bytes, at: int) -> bool:
    """Whether the bytes from ``at`` on, where a good line ended last, may be a torn tail: they are one line at most, or the first of
    them has a hole."""
    end = data.find(b"\n", at)
    return end in (-1, len(data) - 1) or holed(data, at, end)


def holed(data: bytes, at: int, end: int) -> bool:
    """Whether a block that was never written ends between these offsets of a file."""
    return any(data[last] == 0 for last in range(at | (BLOCK - 1), end, BLOCK))


def whole_notes(data: bytes) -> int:
    """Where the last whole note (text, empty line, signatures, empty line) of a file of seals ends."""
    at = 0
    while True:
        middle = data.find(b"\n\n", at)
        end = data.find(b"\n\n", middle + 2) + 2 if middle >= 0 else 1
        if end == 1 or holed(data, at, end):
            return at
        at = end


def counted(heads: Sequence[bytes]) -> list[int | None]:
    """How many bytes of the lines of each segment count, None for all of them. ``heads``: the first line of each segment, as stored. A
    segment that begins with a ``write_failed`` gap makes void what comes after its place: the rest of that segment, and any between."""
    out: list[int | None] = [None] * len(heads)
    at = len(heads) - 1
    while at > 0:
        place = _failed(heads[at])
        if place is None or not 0 < place[0] <= at:
            at -= 1
            continue
        number, offset = place
        out[number - 1 : at] = [offset, *[0] * (at - number)]
        # A segment that is void as a whole makes nothing void itself.
        at = number - 1 if offset else number - 2
    return out


def _failed(head: bytes) -> tuple[int, int] | None:
    if b'"write_failed"' not in head:
        return None
    try:
        fields: dict[str, Any] = canonical.loads_strict(head)
    except ValueError:
        return None
    if fields.get("type") != "gap" or fields.get("reason") != WRITE_FAILED:
        return None
    match, offset = _EVENTS.match(str(fields.get("file"))), fields.get("offset")
    return (int(match[1]), offset) if match and type(offset) is int and offset >= 0 else None

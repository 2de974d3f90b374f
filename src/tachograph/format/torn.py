"""What a write leaves that did not reach the device whole (``docs/format/v1.md``, section 3.4).

A killed process leaves the beginning of what it wrote. After a power cut any part may be missing: the end, and whole blocks before it,
which read as zeros up to the end of a block. A line has no zeros and ends in its only line feed, so either leaves a mark.
"""

from __future__ import annotations

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

"""Step 5: the frames that lines refer to tile the content pack, and have the hashes that the lines say. Needs no key."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

MAGIC = b"TACHOPK1"
HEADER = 8 + 32

#: Of a frame that is in its place: index, offset, length.
Frame = tuple[int, int, int]


class Tiling:
    """The pack of one segment, which is open while the segment's lines are read. ``name``: of its file, ``lines``: of theirs; ``there``: it
    was opened; ``problems``: (offset, what); ``lost``: a frame is out of place, or the pack ends too early, and what comes then is not
    looked at. When it is closed, ``end`` is where the last frame ends, and ``rest`` what is behind it."""

    def __init__(self, name: str, lines: str) -> None:
        self.name = name
        self.problems: list[tuple[int, str]] = []
        self.there = self.lost = False
        self.end = 0
        self.rest = b""
        self._lines = lines
        self._data = b""
        self._view = memoryview(b"")
        self._at = HEADER
        self._count = 0

    def open(self, data: bytes) -> None:
        self.there, self._data, self._view = True, data, memoryview(data)

    def take(self, frames: list[Any], offset: int, place: int) -> tuple[Frame, ...]:
        """The frames of the next line that has any, as they stand there: the line at this offset, the place-th (from 0) of its segment.
        Those that are in their place."""
        if not self.there or self.lost:
            return ()
        taken = []
        for frame in frames:
            at, count = self._at, self._count
            if not _is_frame(frame) or frame["n"] != count or frame["at"] != at:
                self._lost(f"a frame out of place, {self._by(offset)} (line {place + 1} of the segment)")
                break
            if count == 0 and frame.get("salt") != self._data[8:HEADER].hex():
                self.problems.append((8, f"the salt was changed, {self._by(offset)}"))
            length = frame["len"]
            stored = self._view[at : at + length]
            if len(stored) != length:
                self._lost(f"the pack ends inside a frame, {self._by(offset)}")
                break
            if sha256(stored).hexdigest() != frame["sha256"] or int.from_bytes(stored[:4], "big") != length - 4:
                self.problems.append((at, f"the frame was changed, {self._by(offset)}"))
            taken.append((count, at, length))
            self._at = at + length
            self._count = count + 1
        return tuple(taken)

    def close(self) -> None:
        """All lines were read."""
        data = self._data
        headed = data[:8] == MAGIC and len(data) >= HEADER
        if self._count and not headed and not self.lost:
            self.problems.append((0, "not a content pack"))
        # Without a whole header, and without a frame that a line refers to, it was torn while it was made: all of it is tail.
        self.end = min(self._at, len(data)) if headed else 0
        self.rest = data[self.end :]
        self._data, self._view = b"", memoryview(b"")

    def _lost(self, what: str) -> None:
        self.problems.append((self._at, what))
        self.lost = True

    def _by(self, offset: int) -> str:
        return f"referred to by {self._lines} offset {offset}"


def _is_frame(frame: Any) -> bool:
    return (
        type(frame) is dict
        and type(frame.get("n")) is int
        and type(frame.get("at")) is int
        and type(length := frame.get("len")) is int
        and type(frame.get("sha256")) is str
        and length > 4
    )

"""Ambient reads on the host's side: gathered while recording, written with the next commit, never a line a read.

A content ``reads`` is ``{"reads": [[lane, kind, site, [value, …]], …], "marks": [[order, lane, kind, value], …]}``: what was read, by
lane, kind and site in the order of reading; and what happened at a moment of the session-wide order (``replay.tape.Mark``).
"""

from __future__ import annotations

import collections
import struct
from collections.abc import Callable, Iterator
from typing import Any

from tachograph.client import ambient as client
from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.redact.engine import Redactor

#: The kinds of reads. Each can be left out of a recording (``[record]`` in a policy) or of a replay (``--live``).
KINDS = (*client.KINDS, "files")
#: A line is written at the latest when there are so many.
MOST = 4096
#: Kinds whose values are numbers or pure chance: masking could only spoil them.
_NOT_TEXT = ("clock", "monotonic", "entropy", "random")


class Lives:
    """A process that goes on as another program (``os.exec``) is the same lane again. Its reads are another lane's to whoever looks them up:
    ``main``, then ``main#2``."""

    def __init__(self) -> None:
        self._count: collections.Counter[str] = collections.Counter()
        self._suffix: dict[int, str] = {}

    def joined(self, peer: int, lane: str) -> None:
        self._count[lane] += 1
        if self._count[lane] > 1:
            self._suffix[peer] = f"#{self._count[lane]}"

    def lane(self, peer: int, lane: str) -> str:
        return lane + self._suffix.get(peer, "")


class Gathered:
    """What clients told since the last line."""

    def __init__(self, opened: Callable[[list[Any]], None] | None = None) -> None:
        """``opened`` is told of files that were opened for reading (``outside.Outside``)."""
        self._lives = Lives()
        self._opened = opened
        self._reads: dict[tuple[str, str, str], list[Any]] = {}
        self._marks: list[list[Any]] = []
        self.size = 0

    def joined(self, peer: int, lane: str) -> None:
        self._lives.joined(peer, lane)

    def add(self, peer: int, header: dict[str, Any], payload: bytes, order: Callable[[], int]) -> None:
        """A message ``ambient``. Its marks are numbered here, by ``order``, among the pieces of answers. What is not as agreed is left out."""
        at = 0
        for lane, kind, site, values in _entries(header.get("reads"), 4):
            if isinstance(values, int) and 0 < values <= (len(payload) - at) // 8:
                size = values
                values, at = list(struct.unpack_from(f"<{size}d", payload, at)), at + 8 * size
            if kind == "files.open":
                if self._opened is not None and isinstance(values, list):
                    self._opened(values)
            elif isinstance(values, list):
                self._reads.setdefault((self._lives.lane(peer, str(lane)), str(kind), str(site)), []).extend(values)
                self.size += len(values)
        for lane, kind, value in _entries(header.get("marks"), 3):
            self._marks.append([order(), str(lane), str(kind), value])
            self.size += 1

    def draft(self, redactor: Redactor) -> Draft | None:
        """The line for what was gathered, masked; None where nothing was."""
        if not self.size:
            return None
        tally: collections.Counter[str] = collections.Counter()
        reads = [
            [lane, kind, redactor.text(site, tally), values if kind.startswith(_NOT_TEXT) else redactor.document(values, tally)]
            for (lane, kind, site), values in self._reads.items()
        ]
        marks = redactor.document(self._marks, tally)
        size, self.size = self.size, 0
        self._reads, self._marks = {}, []
        event = events.Ambient(kind="reads", size=size, redactions=sum(tally.values()), redacted_kinds=dict(sorted(tally.items())))
        return Draft(event=event, contents={"content_uri": {"reads": reads, "marks": marks}})


class Answering:
    """Replay: what each lane has read, and the reads that had no value."""

    def __init__(self, reads: dict[str, dict[tuple[str, str], list[Any]]]) -> None:
        self._reads = reads
        self._lives = Lives()
        self.unrecorded: collections.Counter[tuple[str, str]] = collections.Counter()

    def joined(self, peer: int, lane: str) -> None:
        self._lives.joined(peer, lane)

    def values(self, peer: int, lane: str) -> list[list[Any]]:
        """``[[kind, site, [value, …]], …]``."""
        found = self._reads.get(self._lives.lane(peer, lane), {})
        return [[kind, site, values] for (kind, site), values in found.items()]

    def told(self, header: dict[str, Any]) -> None:
        """A message ``ambient`` of a replayed client."""
        for kind, site, number in _entries(header.get("missing"), 3):
            if isinstance(number, int):
                self.unrecorded[str(kind), str(site)] += number


def _entries(said: Any, length: int) -> Iterator[list[Any]]:
    entries = said if isinstance(said, list) else []
    return (entry for entry in entries if isinstance(entry, list) and len(entry) == length)

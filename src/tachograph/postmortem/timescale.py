"""Where a moment stands on a timeline's axis.

Sessions rest: a user thinks for an hour between two turns of ten seconds. On a linear axis the work would be a
hairline, so stretches in which nothing ran are shortened when they are long, and shown as broken. Within the rest the
axis is linear.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .when import duration

if TYPE_CHECKING:
    from collections.abc import Iterable

#: A stretch without work is shortened when it is longer than this share of all working time (and a second).
_LONG_SHARE = 0.12
#: Width of a shortened stretch, as a share of the axis' working time.
_SHORT_SHARE = 0.045
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_UNITS = (
    *(step for step in _STEPS),
    *(step * 1000 for step in (1, 2, 5, 10, 15, 30)),
    *(step * 60_000 for step in (1, 2, 5, 10, 15, 30)),
    *(step * 3_600_000 for step in (1, 2, 3, 6, 12, 24, 48, 96, 168, 720, 8760)),
)


@dataclass(frozen=True)
class Piece:
    """A stretch of the axis: from ``start`` to ``end`` in milliseconds, at ``x`` with ``width``, both as shares of
    the axis."""

    start: float
    end: float
    x: float
    width: float
    idle: bool


@dataclass(frozen=True)
class Scale:
    """Milliseconds to percent of the width."""

    pieces: tuple[Piece, ...]

    def percent(self, ms: float) -> float:
        """The place of a moment, from 0 to 100."""
        for piece in self.pieces:
            if ms <= piece.end:
                share = (ms - piece.start) / (piece.end - piece.start) if piece.end > piece.start else 0.0
                return 100 * (piece.x + piece.width * min(max(share, 0.0), 1.0))
        return 100.0

    def breaks(self) -> list[tuple[float, float, str]]:
        """Shortened stretches: left and right edge in percent, and how long each is."""
        return [(100 * one.x, 100 * (one.x + one.width), duration(one.end - one.start)) for one in self.pieces if one.idle]

    def ticks(self, most: int = 12) -> list[tuple[float, float]]:
        """Round moments to label, as (milliseconds, percent), none within a shortened stretch."""
        working = sum(one.end - one.start for one in self.pieces if not one.idle)
        unit = next((step for step in _UNITS if working / step <= most), _UNITS[-1])
        found: list[tuple[float, float]] = []
        for piece in self.pieces:
            if piece.idle:
                continue
            first = -(-piece.start // unit)
            count = min(int(piece.end // unit - first) + 1, most + 1)
            for number in range(max(count, 0)):
                ms = (first + number) * unit
                at = self.percent(ms)
                if not found or at - found[-1][1] >= 100 / (most + 2):
                    found.append((ms, at))
        return found


def scale(spans: Iterable[tuple[float, float]]) -> Scale:
    """The axis for what ran from when to when."""
    known = sorted((start, max(end, start)) for start, end in spans)
    if not known:
        return Scale((Piece(0.0, 1.0, 0.0, 1.0, idle=False),))
    first, last = min(known[0][0], 0.0), max(end for _, end in known)
    busy = _merged(known)
    working = sum(end - start for start, end in busy)
    limit = max(working * _LONG_SHARE, 1000.0, 0.0 if working else 10 * _median_rest(busy))
    marks: list[tuple[float, float, bool]] = []
    at = first
    for start, end in busy:
        if start - at > limit:
            marks.append((at, start, True))
        elif start > at:
            marks.append((at, start, False))
        if end > start:
            marks.append((start, end, False))
        at = max(at, end)
    if all(idle for _, _, idle in marks):
        marks = [(start, end, False) for start, end, _ in marks] or [(first, max(last, first + 1.0), False)]
    joined = _joined(marks)
    linear = sum(end - start for start, end, idle in joined if not idle)
    gaps = sum(idle for _, _, idle in joined)
    short = min(linear * _SHORT_SHARE, linear * 0.5 / gaps) if gaps else 0.0
    total = (linear + gaps * short) or 1.0
    pieces: list[Piece] = []
    x = 0.0
    for start, end, idle in joined:
        width = (short if idle else end - start) / total
        pieces.append(Piece(start, end, x, width, idle))
        x += width
    return Scale(tuple(pieces))


def _median_rest(busy: list[tuple[float, float]]) -> float:
    """For moments without durations (a transcript): how long the usual stretch between two is."""
    rests = sorted(later[0] - earlier[1] for earlier, later in itertools.pairwise(busy))
    return rests[len(rests) // 2] if rests else 0.0


def _merged(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for start, end in spans:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _joined(marks: list[tuple[float, float, bool]]) -> list[tuple[float, float, bool]]:
    found: list[tuple[float, float, bool]] = []
    for start, end, idle in marks:
        if found and not idle and not found[-1][2]:
            found[-1] = (found[-1][0], end, False)
        else:
            found.append((start, end, idle))
    return found


def pack(spans: list[tuple[float, float]], gap: float, most: int) -> list[int]:
    """A row for each span so that spans of a row do not touch (``gap`` apart); the last row takes what does not fit
    into ``most``. The spans must be sorted by their start."""
    ends: list[float] = []
    rows: list[int] = []
    for start, end in spans:
        row = next((number for number, free in enumerate(ends) if start >= free - 1e-6), None)
        if row is None:
            if len(ends) < most:
                ends.append(0.0)
                row = len(ends) - 1
            else:
                row = min(range(len(ends)), key=ends.__getitem__)
        ends[row] = max(ends[row], end + gap)
        rows.append(row)
    return rows

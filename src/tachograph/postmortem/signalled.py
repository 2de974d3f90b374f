"""Signals within a report: which of them are moments of its timeline, and how they are told.

A signal is cited by its number, from 1 in the order of time (``[#s3]``): it is on no line of the log, and nothing seals it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tachograph.core.signals import Signal, Signals, iso

from .values import one_line, visible
from .when import unix_ms

if TYPE_CHECKING:
    from .case import Case

#: Lines of a log in a row that are told one by one.
MOST_LINES = 12


@dataclass(frozen=True, kw_only=True)
class Told:
    """A signal on the timeline. ``at_ms``: milliseconds since the session's first event, below 0 before it."""

    number: int
    at_ms: int
    what: str
    bad: bool
    signal: Signal


@dataclass(frozen=True, kw_only=True)
class Series:
    """The points of one metric: each the number of its signal, when, and its value."""

    name: str
    source: str
    unit: str
    points: tuple[tuple[int, int, float], ...]

    @property
    def highest(self) -> tuple[int, int, float]:
        """The first of the highest points."""
        return max(self.points, key=lambda point: point[2])


def to_json(signals: Signals | None) -> dict[str, Any]:
    """``signals`` (each with its ``number``), and how they were read: ``signals_read``, None where none were asked."""
    if signals is None:
        return {"signals": [], "signals_read": None}
    read = {
        "window": {"from": iso(signals.window.start), "to": iso(signals.window.end)},
        "sources": list(signals.asked),
        "missing": [one.to_json() for one in signals.missing],
    }
    return {"signals": [{"number": number, **one.to_json()} for number, one in enumerate(signals.found, 1)], "signals_read": read}


def zero(case: Case) -> int | None:
    """When the session began, in milliseconds since 1970."""
    return next((at for entry in case.recording.entries if (at := unix_ms(entry.ts)) is not None), None)


def moments(case: Case) -> list[Told]:
    """What belongs on the timeline: nothing where it is not known when the session was."""
    return list(told(case)) if zero(case) is not None else []


def told(case: Case) -> Iterator[Told]:
    """What a person reads of them: all but metrics, of which the highest point of each is told, and long rows of log lines, which are counted.
    ``at_ms`` counts from the window's start where it is not known when the session was."""
    if case.signals is None:
        return
    known = zero(case)
    start = known if known is not None else case.signals.window.start
    numbered = list(enumerate(case.signals.found, 1))
    peaks = {series.highest[0] for series in metrics(case)}
    shown = [(number, one) for number, one in numbered if one.kind != "metric" or number in peaks]
    for (kind, name), group in itertools.groupby(shown, key=lambda pair: (pair[1].kind, pair[1].name)):
        row = list(group)
        for place, (number, one) in enumerate(row):
            if kind == "log" and place == MOST_LINES and len(row) > MOST_LINES + 1:
                what = f"{one.source} log {name}: {len(row) - place} more lines until {iso(row[-1][1].at)}"
                yield Told(number=number, at_ms=one.at - start, what=visible(what), bad=False, signal=one)
                break
            yield Told(number=number, at_ms=one.at - start, what=words(one), bad=one.begins, signal=one)


def metrics(case: Case) -> list[Series]:
    """The metrics, in the order in which they were asked for."""
    found: dict[tuple[str, str, str], list[tuple[int, int, float]]] = {}
    for number, one in enumerate(case.signals.found if case.signals is not None else (), 1):
        if one.kind == "metric" and one.value is not None:
            found.setdefault((one.source, one.name, one.unit or ""), []).append((number, one.at, one.value))
    return [Series(name=name, source=source, unit=unit, points=tuple(points)) for (source, name, unit), points in found.items()]


def words(one: Signal) -> str:
    """A signal as a clause: ``cloudwatch alarm checkout-5xx: ALARM, 7 Count – 7.0 > 5.0``."""
    said = ", ".join(filter(None, (one.state, amount(one))))
    if one.kind == "metric":
        return visible(f"{one.source} metric {one.name}: highest, {amount(one)}")
    by = f" by {one.by}" if one.by else ""
    text = f" – {one_line(one.text, 160)}" if one.text else ""
    return visible(f"{one.source} {one.kind} {one.name}" + (f": {said}{by}" if said else by) + text)


def amount(one: Signal) -> str:
    """``7.5 %``; empty where there is no number."""
    return f"{one.value:g} {one.unit or ''}".strip() if one.value is not None else ""

"""``file:PATH``: signals in a JSON file, for every monitor that has no reader here, and for what people noted during an incident.

    {"signals": [{"at": "2026-11-30T12:04:00Z", "kind": "alarm", "name": "checkout errors", "state": "ALARM", "value": 7.5, "unit": "%",
                  "text": "…", "by": "…", "url": "https://…", "source": "grafana"}]}

or the list alone. ``at`` and ``name`` are needed. A mistake in it is the user's to mend, so it stops the report.
"""

from __future__ import annotations

import json
from typing import Any

from tachograph.core.errors import UsageError
from tachograph.core.signals import KINDS, Budget, Missing, Signal, Window

from .making import MOST, line, link, number, signal
from .window import moment

LARGEST = 16 << 20
_TEXTS = ("kind", "name", "state", "unit", "text", "by", "url", "source")


class FileSource:
    """A file of signals, read when it is named."""

    def __init__(self, spec: str) -> None:
        if not spec:
            raise UsageError("which file, --signals file:; name one, as in --signals file:signals.json")
        self._signals = _read(spec)

    def read(self, window: Window, budget: Budget) -> tuple[list[Signal], list[Missing]]:  # noqa: ARG002 -- it was read
        """Those of the window."""
        inside = [one for one in self._signals if window.holds(one.at)]
        outside = len(self._signals) - len(inside)
        return inside, [Missing("file", f"{outside} of its {len(self._signals)} signals are outside of the window")] if outside else []


def _read(path: str) -> list[Signal]:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"cannot read signals from {path}, {error.strerror}; check the path and its mode") from None
    try:
        document = json.loads(data) if len(data) <= LARGEST else None
    except (ValueError, RecursionError):
        document = None
    found = document.get("signals") if isinstance(document, dict) else document
    if not isinstance(found, list):
        raise UsageError(f'no signals, {path}; it holds {{"signals": [{{"at": "2026-11-30T12:00:00Z", "name": …}}, …]}}')
    if len(found) > MOST:
        raise UsageError(f"{len(found):,} signals, {path}; a report takes {MOST:,} of one source: leave out what does not matter")
    return [_signal(one, f"signal {number} of {path}") for number, one in enumerate(found, 1)]


def _signal(one: Any, where: str) -> Signal:
    if not isinstance(one, dict):
        raise UsageError(f'not an object, {where}; each is {{"at": …, "name": …}}')
    for name in _TEXTS:
        if one.get(name) is not None and not isinstance(one[name], str):
            raise UsageError(f"{name} is no text, {where}; put it into quotes")
    at = moment(one.get("at"))
    if at is None:
        raise UsageError(f"no time with an offset in at, {where}; write it as 2026-11-30T12:00:00Z")
    if not line(one.get("name")):
        raise UsageError(f"no name, {where}; name what it is of")
    kind = one.get("kind", "alarm")
    if kind not in KINDS:
        raise UsageError(f"not a kind, {line(kind, 40)!r}, {where}; kinds are {', '.join(KINDS)}")
    if one.get("value") is not None and (isinstance(one["value"], str) or number(one["value"]) is None):
        raise UsageError(f"value is no number, {where}; write it without quotes")
    if one.get("url") is not None and link(one["url"]) is None:
        raise UsageError(f"not an address, {where}; url begins with https:// and holds no user")
    return signal(
        at=at, source=line(one.get("source"), 40) or "file", kind=kind, name=one["name"], state=one.get("state"), value=one.get("value"),
        unit=one.get("unit"), text=one.get("text") or "", by=one.get("by"), url=one.get("url"),
    )  # fmt: skip

"""Signals: what other systems say about the time around a session, as plain values.

A monitor's alarm, a paged incident, a metric, a line of a log, a deploy: none of these is part of the record, and none is sealed. They are read
when a report is written, by a ``SignalSource`` (docs/howto/add-signals-to-a-postmortem.md), and the report says from where.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from .ports import Clock

#: What a signal is of. Only alarms and incidents say that something is wrong.
KINDS = ("alarm", "incident", "metric", "log", "deploy", "note")

#: Words of monitors, in lower case. What is in none of these lists says neither.
_BEGUN = frozenset({"alarm", "alerting", "firing", "triggered", "open", "opened", "critical", "active", "down"})
_TAKEN = frozenset({"acknowledged", "ack", "assigned"})
_OVER = frozenset({"ok", "resolved", "closed", "inactive", "recovered", "normal", "up", "rolled_back"})


@dataclass(frozen=True, kw_only=True)
class Signal:
    """``at``: milliseconds since 1970. ``source``: who said it (``cloudwatch``). ``name``: of the alarm, the metric, the log group. ``state``: in
    the source's own word (``ALARM``, ``firing``, ``acknowledged``). ``by``: the person or service that acted, where the source names one.
    ``url``: where it can be looked at."""

    at: int
    source: str
    kind: str
    name: str
    state: str | None = None
    value: float | None = None
    unit: str | None = None
    text: str = ""
    by: str | None = None
    url: str | None = None

    @property
    def begins(self) -> bool:
        """Whether it says that something is wrong from now on."""
        return self.kind in ("alarm", "incident") and (self.state or "").lower() in _BEGUN

    @property
    def taken(self) -> bool:
        """Whether it says that somebody took it up."""
        return self.kind in ("alarm", "incident") and (self.state or "").lower() in _TAKEN

    @property
    def ends(self) -> bool:
        """Whether it says that all is well again."""
        return self.kind in ("alarm", "incident") and (self.state or "").lower() in _OVER

    def to_json(self) -> dict[str, Any]:
        """All fields; ``at`` as ISO 8601."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"at": iso(self.at)}


@dataclass(frozen=True)
class Window:
    """From when to when signals are wanted, both in milliseconds since 1970 and both included."""

    start: int
    end: int

    def holds(self, at: int) -> bool:
        """Whether a moment is in it."""
        return self.start <= at <= self.end


@dataclass(frozen=True)
class Missing:
    """Signals that could not be had: of which source, and why in one line."""

    source: str
    why: str

    def to_json(self) -> dict[str, str]:
        """``{"source", "why"}``."""
        return {"source": self.source, "why": self.why}


@dataclass(frozen=True, kw_only=True)
class Signals:
    """What was asked for and what came: ``window``; ``asked``: the sources as they were named; ``found``, oldest first; ``missing``."""

    window: Window
    asked: tuple[str, ...] = ()
    found: tuple[Signal, ...] = ()
    missing: tuple[Missing, ...] = ()


class Budget:
    """How long a source may take, all its questions together. ``pause`` waits for that many seconds."""

    def __init__(self, clock: Clock, seconds: float, pause: Callable[[float], None]) -> None:
        self._clock = clock
        self._pause = pause
        self._end = clock.monotonic() + seconds
        self.seconds = seconds

    @property
    def left(self) -> float:
        """Seconds that are left, 0 where none are."""
        return max(self._end - self._clock.monotonic(), 0.0)

    def wait(self, seconds: float) -> bool:
        """Wait, where that much is left. Whether it was."""
        if self.left <= seconds:
            return False
        self._pause(seconds)
        return True


class SignalSource(Protocol):
    """One place that knows signals, as the user named it.

    ``read`` gives the signals of the window and what could not be had. It uses the user's own credentials, from the environment alone, and says
    them to nobody. It raises ``SignalError`` (one line: what, where, what next) where nothing can be had; another exception of a plug-in counts
    as that, without its text.
    """

    def read(self, window: Window, budget: Budget) -> tuple[list[Signal], list[Missing]]: ...


def iso(at: int) -> str:
    """Milliseconds since 1970 as ISO 8601 in UTC; as far as years go."""
    moment = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(milliseconds=min(max(at, 0), _LATEST))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_LATEST = 253_402_300_799_999

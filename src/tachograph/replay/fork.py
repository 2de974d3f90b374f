"""A tape, cut at a model call: what comes before it is replayed strictly; what the recording holds besides, a fork may still use. Pure.

Behind the cut the agent goes its own way, so nothing is due in any order there: a tool that is called with the same input is given the
recorded result, each once; whatever was never recorded is not to be had.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from tachograph.core import events
from tachograph.core.errors import NotFoundError, ReplayError
from tachograph.format import canonical

from . import match
from .tape import Tape, TapeCall


@dataclass
class Cut:
    """``point``: the model call at which the fork begins; ``before``: the tape up to there; ``rest``: all other calls."""

    point: TapeCall
    before: Tape
    rest: Tape

    def __post_init__(self) -> None:
        self._index()

    def rewrite(self, mask: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """As ``Tape.rewrite``, of the calls behind the cut."""
        self.rest.rewrite(mask)
        self._index()

    def _index(self) -> None:
        self._by_input: dict[bytes, collections.deque[TapeCall]] = {}
        for call in self.rest.calls:
            if not call.covered:
                self._by_input.setdefault(_key(call.kind, call.name, call.request), collections.deque()).append(call)

    def recorded(self, kind: str, name: str, lane: str, request: dict[str, Any]) -> TapeCall | None:
        """What was recorded for this call: in its own lane first, else in any. None where nothing is left of it."""
        waiting = self._by_input.get(_key(kind, name, request))
        free = [call for call in waiting or () if not call.used and not call.covered and call.pieces]
        call = next((one for one in free if one.lane == lane), free[0] if free else None)
        if call is not None:
            call.used = True
        return call

    def same(self, lane: str, name: str, request: dict[str, Any]) -> TapeCall | None:
        """A model call of another lane that the change did not reach: asked in its lane exactly as it was recorded. None for others."""
        if lane == self.point.lane:
            return None
        wanted = match.key(lane, "http", name, request)
        call = next((one for one in self.rest.calls if one.key == wanted and not one.used and not one.covered and one.pieces), None)
        if call is not None:
            call.used = True
        return call


def _key(kind: str, name: str, request: dict[str, Any]) -> bytes:
    return canonical.dumps([kind, name if kind == "tool" else "", match.canonical_request(kind, request)])


def cut(tape: Tape, event_id: str) -> Cut:
    """The tape, cut at the model call with this id. Raises ``NotFoundError`` and ``ReplayError`` where it cannot be."""
    point = next((call for call in tape.calls if call.event.id == event_id), None)
    if point is None or point.sort != "model":
        raise NotFoundError(f"no model call {event_id} that can be replayed in this session; tacho show lists its steps")
    if point.covered:
        raise ReplayError(
            f"this step was made by a command of the agent's (lane {point.lane}), which a replay answers from its record as a whole; "
            "fork at a step of the agent itself"
        )
    around = _around(tape, point)
    before = [_run(call) if id(call) in around else call for call in tape.calls if call.seq < point.seq]
    rest = [call for call in tape.calls if call.seq >= point.seq and call is not point]
    # Up to the cut nothing is missing, whatever became of the recording later.
    end = tape.end if tape.end is not None and tape.end.status in ("ok", "error") else events.SessionEnd()
    first, second = replace(tape, calls=before, end=end, gap=None), replace(tape, calls=rest)
    first.index()
    second.index()
    return Cut(point, first, second)


def _around(tape: Tape, point: TapeCall) -> set[int]:
    """The tools within which the call was made. They have to run, or it would not be asked for."""
    by_id = {call.event.call_id if isinstance(call.event, events.Started) else call.event.id: call for call in tape.calls}
    found: set[int] = set()
    parent = point.event.parent_id
    while parent is not None and (call := by_id.get(parent)) is not None and id(call) not in found:
        found.add(id(call))
        parent = call.event.parent_id
    return found


def _run(call: TapeCall) -> TapeCall:
    """The same call, not to be answered but to be run under the guard."""
    event = call.event
    if isinstance(event, events.ToolCall):
        return replace(call, event=msgspec.structs.replace(event, exact=False))
    made = events.ToolCall(
        id=event.call_id if isinstance(event, events.Started) else event.id, parent_id=event.parent_id, lane=event.lane, name=call.name,
        exact=False,
    )  # fmt: skip
    return replace(call, event=made)


def same_call(call: TapeCall, lane: str, kind: str, name: str, request: dict[str, Any]) -> bool:
    """Whether a live call is this recorded one."""
    return match.key(lane, kind, name, request) == call.key


def masked(call: TapeCall, mask: Callable[[dict[str, Any]], dict[str, Any]]) -> TapeCall:
    """The same recorded call, its request masked by what is known now."""
    request = mask(call.request)
    return replace(call, request=request, key=match.key(call.lane, call.kind, call.name, request))

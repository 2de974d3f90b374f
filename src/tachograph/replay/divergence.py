"""The first difference between the tape and what the re-run agent asked for, told so that a person can act on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tachograph.core import events

from . import causes, match, nearest
from .causes import Cause
from .difference import Difference, first, first_difference, short
from .tape import Mark, TapeCall
from .unify import Clash, Matcher

__all__ = ["Divergence", "called", "first_difference", "miss", "output", "step_of", "stuck", "with_code", "with_files"]


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """``path``: the first differing field of the nearest recorded request; ``expected``/``actual``: its text around the first differing
    character; ``difference``: where in that text it is, and the first differing words; ``nearest``: that request, and why it is not the one
    that was asked for; ``cause``: what kind of thing makes such a difference (``causes.CAUSES``); ``hint``: the same in words."""

    step: int | None
    event_id: str | None
    kind: str
    operation: str
    lane: str
    path: str | None
    expected: Any
    actual: Any
    nearest: dict[str, Any] | None
    hint: str
    cause: str = "unknown"
    difference: dict[str, Any] | None = None
    site: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def miss(
    kind: str, name: str, lane: str, request: dict[str, Any], calls: list[TapeCall], site: str | None, matcher: Matcher | None = None,
    unrecorded: Mapping[tuple[str, str], int] | None = None,
) -> Divergence:  # fmt: skip
    """A request that the tape does not hold. ``unrecorded``: reads of the clock, of entropy … that the agent made and the tape could not
    answer, by kind and place."""
    live = match.canonical_request(kind, request)
    found = nearest.find(kind, name, lane, live, calls)
    if found is None:
        cause = causes.none_left(kind, name, calls)
        return Divergence(
            step=_next_step(calls), event_id=None, kind=kind, operation=name, lane=lane, path=None, expected=None, actual=short(live),
            nearest=None, cause=cause.kind, hint=cause.hint, site=site,
        )  # fmt: skip
    clash = matcher.clash if matcher is not None else None
    recorded = match.canonical_request(kind, found.call.request)
    differs = first(recorded, live, equal=None if matcher is None else matcher.equal)
    if differs is None and clash is not None:
        differs = Difference((clash.where.partition(" ")[2],), clash.recorded, clash.live)
    if differs is None:
        differs = Difference(("lane",), found.call.lane, lane)
        cause = causes.other_lane(found.call.lane, lane)
    elif clash is not None and found.call.seq == _seq(clash):
        cause = causes.clashes(clash)
    else:
        cause = causes.of(differs, recorded, live, model=isinstance(found.call.event, events.ModelCall), unrecorded=unrecorded or {})
    return Divergence(
        step=step_of(found.call, calls), event_id=found.call.event.id, kind=kind, operation=name, lane=lane, path=differs.where,
        expected=differs.shown[0], actual=differs.shown[1], difference=differs.characters, cause=cause.kind, hint=cause.hint, site=site,
        nearest={
            "event_id": found.call.event.id, "seq": found.call.seq, "lane": found.call.lane, "what": found.call.label,
            "site": getattr(found.call.event, "site", None), "alike": round(found.alike, 3), "why": found.why(differs.where, lane),
        },
    )  # fmt: skip


def _seq(clash: Clash) -> int:
    number = clash.where.partition(" ")[0].removeprefix("#")
    return int(number) if number.isdigit() else -1


def output(
    kind: str, expected: Any, actual: Any, *, refused: Iterable[Mapping[str, Any]] = (), code_changed: Iterable[str] = (),
    unrecorded: Mapping[tuple[str, str], int] | None = None,
) -> Divergence:  # fmt: skip
    """The calls matched, but what the agent printed, or how it ended, did not. ``refused``: what the guard refused on the way."""
    path = "stdout" if kind == "output" else "exit_code"
    found = first(expected, actual) or Difference((), expected, actual)
    cause = causes.of_ending(
        kind, found, expected, actual, refused=list(refused), code_changed=list(code_changed), unrecorded=unrecorded or {}
    )
    return Divergence(
        step=None, event_id=None, kind=kind, operation="", lane="main", path=path, expected=found.shown[0], actual=found.shown[1],
        difference=found.characters, nearest=None, cause=cause.kind, hint=cause.hint,
    )  # fmt: skip


def stuck(waiting: Sequence[TapeCall | Mark], missing: TapeCall | Mark | None, calls: list[TapeCall]) -> Divergence:
    """Everything the agent runs is blocked, and nothing can be released. ``missing``: the call whose answer came next when it was recorded,
    and which the agent does not make."""
    if isinstance(missing, TapeCall):
        lanes = ", ".join(sorted({f"{call.label} in lane {call.lane}" for call in waiting})[:4])
        return Divergence(
            step=step_of(missing, calls), event_id=missing.event.id, kind=missing.kind, operation=missing.name, lane=missing.lane, path=None,
            expected=f"{missing.label} in lane {missing.lane}, whose answer came next", actual=f"everything waits: {lanes}", nearest=None,
            cause="order", site=next((getattr(call.event, "site", None) for call in waiting if isinstance(call, TapeCall)), None),
            hint="the agent made this call before it got the other answers, and does not make it now: its threads, tasks or processes do not "
            "do what they did, because of something that is not recorded",
        )  # fmt: skip
    call = next((call for call in waiting if isinstance(call, TapeCall)), None)
    if call is None:
        return Divergence(
            step=_next_step(calls), event_id=None, kind="end", operation="", lane="main", path=None, nearest=None,
            expected="the agent goes on", actual="everything in it waits",
            hint="something that it waits for did not happen when it was recorded, and does not happen now: a sleep that was interrupted from "
            "outside, or threads that wait for each other",
        )  # fmt: skip
    return Divergence(
        step=step_of(call, calls), event_id=call.event.id, kind=call.kind, operation=call.name, lane=call.lane, path=None,
        expected="the agent gives this call up, as it did when it was recorded", actual="it waits", nearest=None, cause="order",
        hint="a cancellation or a time-out came from somewhere that is not recorded", site=getattr(call.event, "site", None),
    )  # fmt: skip


def called(site: str | None) -> str:
    """Where in the agent's code, as the end of a line. Of what a library's thread or task did the site is where that was started."""
    if not site:
        return ""
    return f", in a thread or task {site}" if site.startswith("started at ") else f", called at {site}"


def with_code(found: Divergence, code_changed: list[str]) -> Divergence:
    """The same, where it is known that the agent's code is not what was recorded: that is then the likeliest cause of all that says nothing
    of itself."""
    cause = causes.in_code(Cause(found.cause, found.hint), found.site, code_changed)
    return replace(found, cause=cause.kind, hint=cause.hint)


def with_files(found: Divergence, files: Iterable[Mapping[str, Any]]) -> Divergence:
    """The same, where files outside of the workspace are known to be others than the agent read, and were not shown as they were."""
    cause = causes.in_files(Cause(found.cause, found.hint), [file for file in files if not file["shown"]])
    return replace(found, cause=cause.kind, hint=cause.hint)


def step_of(call: TapeCall, calls: list[TapeCall]) -> int:
    """The step (model calls count) in which a call was made, from 1."""
    return max(1, sum(1 for other in calls if other.sort == "model" and other.seq <= call.seq))


def _next_step(calls: list[TapeCall]) -> int:
    return sum(1 for call in calls if call.sort == "model" and call.used) + 1

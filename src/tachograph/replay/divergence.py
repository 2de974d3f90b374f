"""The first difference between the tape and what the re-run agent asked for, told so that a person can act on it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any

from tachograph.core import events
from tachograph.redact.placeholder import neutral

from . import match
from .tape import TapeCall

#: Characters shown on either side of the first differing one.
CONTEXT = 120


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """``path``: the first differing field of the nearest recorded request; ``expected``/``actual``: its text around the first differing
    character; ``nearest``: that request; ``hint``: what such a difference usually means."""

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
    site: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def miss(kind: str, name: str, lane: str, request: dict[str, Any], calls: list[TapeCall], site: str | None) -> Divergence:
    """A request that the tape does not hold."""
    nearest = _nearest(kind, name, lane, request, calls)
    if nearest is None:
        used = any(call.kind == kind for call in calls)
        hint = (
            "every recorded call of this kind was used already: the agent makes one call more than it did"
            if used
            else f"the recording holds no {kind} call at all: the agent's code has changed, or a tap was missing when it was recorded"
        )
        return Divergence(
            step=_next_step(calls), event_id=None, kind=kind, operation=name, lane=lane, path=None, expected=None,
            actual=_short(match.canonical_request(kind, request)), nearest=None, hint=hint, site=site,
        )  # fmt: skip
    path, expected, actual = first_difference(match.canonical_request(kind, nearest.request), match.canonical_request(kind, request)) or (
        "lane",
        nearest.lane,
        lane,
    )
    return Divergence(
        step=step_of(nearest, calls), event_id=nearest.event.id, kind=kind, operation=name, lane=lane, path=path,
        expected=expected, actual=actual, hint=_clock(expected, actual) or _hint(path, nearest, lane), site=site,
        nearest={"event_id": nearest.event.id, "seq": nearest.seq, "lane": nearest.lane, "what": nearest.label},
    )  # fmt: skip


def output(kind: str, expected: Any, actual: Any, *, refused: bool = False) -> Divergence:
    """The calls matched, but what the agent printed, or how it ended, did not. ``refused``: the guard refused something on the way."""
    found = first_difference(expected, actual) or ("", expected, actual)
    what = "printed" if kind == "output" else "ended"
    why = (
        "what the guard refused it (see there), which nothing had refused it when it was recorded"
        if refused
        else "its own code, the clock or entropy decide there"
    )
    return Divergence(
        step=None, event_id=None, kind=kind, operation="", lane="main", path="stdout" if kind == "output" else "exit_code",
        expected=found[1], actual=found[2], nearest=None,
        hint=f"the agent {what} differently with the same answers: {why}",
    )  # fmt: skip


def stuck(waiting: list[TapeCall], missing: TapeCall | None, calls: list[TapeCall]) -> Divergence:
    """Everything the agent runs is blocked, and nothing can be released. ``missing``: the call whose answer came next when it was recorded,
    and which the agent does not make."""
    if missing is not None:
        lanes = ", ".join(sorted({f"{call.label} in lane {call.lane}" for call in waiting})[:4])
        return Divergence(
            step=step_of(missing, calls), event_id=missing.event.id, kind=missing.kind, operation=missing.name, lane=missing.lane, path=None,
            expected=f"{missing.label} in lane {missing.lane}, whose answer came next", actual=f"everything waits: {lanes}", nearest=None,
            hint="the agent made this call before it got the other answers, and does not make it now: its threads, tasks or processes do not "
            "do what they did, because of something that is not recorded",
        )  # fmt: skip
    call = waiting[0]
    return Divergence(
        step=step_of(call, calls), event_id=call.event.id, kind=call.kind, operation=call.name, lane=call.lane, path=None,
        expected="the agent gives this call up, as it did when it was recorded", actual="it waits", nearest=None,
        hint="a cancellation or a time-out came from somewhere that is not recorded",
    )  # fmt: skip


def step_of(call: TapeCall, calls: list[TapeCall]) -> int:
    """The step (model calls count) in which a call was made, from 1."""
    return max(1, sum(1 for other in calls if other.sort == "model" and other.seq <= call.seq))


def _next_step(calls: list[TapeCall]) -> int:
    return sum(1 for call in calls if call.sort == "model" and call.used) + 1


def _nearest(kind: str, name: str, lane: str, request: dict[str, Any], calls: list[TapeCall]) -> TapeCall | None:
    free = [call for call in calls if not call.used and not call.covered and call.kind == kind]
    if kind == "tool":
        free = [call for call in free if call.name == name] or free
    here = [call for call in free if call.lane == lane]
    candidates = (here or free)[:20]
    if not candidates:
        return None
    live = _text(match.canonical_request(kind, request))
    # The next one due in its lane wins unless another is clearly more alike.
    scored = [(_alike(live, _text(match.canonical_request(kind, call.request))) + (0.2 if place == 0 else 0), -place, call)
              for place, call in enumerate(candidates)]  # fmt: skip
    return max(scored, key=lambda item: item[:2])[2]


def _text(value: Any) -> list[str]:
    out: list[str] = []

    def walk(path: str, item: Any) -> None:
        if isinstance(item, dict):
            for name, inner in sorted(item.items()):
                walk(f"{path}.{name}", inner)
        elif isinstance(item, list):
            for number, inner in enumerate(item):
                walk(f"{path}[{number}]", inner)
        else:
            out.append(f"{path}={str(item)[:200]}")

    walk("", value)
    return out[:2000]


def _alike(one: list[str], other: list[str]) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).quick_ratio()


def first_difference(expected: Any, actual: Any, path: str = "") -> tuple[str, Any, Any] | None:
    """(path, expected, actual) of the first field that differs, texts cut around the first differing character; None if equal."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in sorted(expected.keys() | actual.keys()):
            here = f"{path}.{name}" if path else name
            if name not in actual:
                return here, _short(expected[name]), None
            if name not in expected:
                return here, None, _short(actual[name])
            found = first_difference(expected[name], actual[name], here)
            if found is not None:
                return found
        return None
    if isinstance(expected, list) and isinstance(actual, list):
        for number, (one, other) in enumerate(zip(expected, actual, strict=False)):
            found = first_difference(one, other, f"{path}[{number}]")
            if found is not None:
                return found
        if len(expected) != len(actual):
            at = min(len(expected), len(actual))
            longer, shorter = (expected, None) if len(expected) > len(actual) else (None, actual)
            return f"{path}[{at}]", _short(longer[at]) if longer else None, _short(shorter[at]) if shorter else None
        return None
    if expected == actual and type(expected) is type(actual):
        return None
    if isinstance(expected, str) and isinstance(actual, str):
        # The kind in a placeholder is the rule's that found the secret first; matching does not look at it, and so it is no difference.
        expected, actual = neutral(expected), neutral(actual)
        if expected == actual:
            return None
        at = next((n for n, (a, b) in enumerate(zip(expected, actual, strict=False)) if a != b), min(len(expected), len(actual)))
        return path, _around(expected, at), _around(actual, at)
    return path, _short(expected), _short(actual)


def _around(text: str, at: int) -> str:
    start, end = max(0, at - CONTEXT // 2), at + CONTEXT
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= 4 * CONTEXT else value[: 4 * CONTEXT] + "…"
    text = str(value)
    return value if len(text) <= 8 * CONTEXT else text[: 8 * CONTEXT] + "…"


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d(:\d\d)?|\b1[6-9]\d{8}(\.\d+)?\b")


def _clock(expected: Any, actual: Any) -> str | None:
    """The commonest cause of all, and easily seen: both have a moment, and without their moments they are equal."""
    if not isinstance(expected, str) or not isinstance(actual, str):
        return None
    if _MOMENT.search(expected) and _MOMENT.search(actual):
        digits = re.compile(r"[\d.]+")
        if digits.sub("#", expected) == digits.sub("#", actual):
            return "the clock: a date or time in the request, which is not replayed yet; hand it to the agent as an argument or in its environment"
    return None


def _hint(path: str, nearest: TapeCall, lane: str) -> str:
    if path == "lane":
        return f"the same request, but in lane {lane} instead of {nearest.lane}: the agent starts its threads or tasks in another order"
    if ".system" in path or path.startswith("body.instructions"):
        return "a changed system prompt"
    if path.startswith(("body.messages", "body.input")):
        return "a changed prompt, or something put into it that was not recorded: the clock, entropy, a file, the order of a set"
    if path.startswith(("body.tools", "body.toolConfig")):
        return "changed tool definitions"
    if path.startswith("body.") and isinstance(nearest.event, events.ModelCall):
        return "a changed model or parameter"
    if path.startswith(("host", "path", "query", "method")):
        return "another endpoint: a changed base URL, model id in the path, or a different call altogether"
    if path.startswith("headers"):
        return "a changed header, often another version of the SDK"
    if path.startswith(("argv", "shell", "cwd", "env")):
        return "another command, or the same one in another place"
    return "a changed input"

"""The recorded call that is most like a live one which the tape does not hold."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import match
from .tape import TapeCall

#: Calls that are looked at: the next ones due in the lane, and of other lanes.
_DUE, _ELSEWHERE = 20, 10
#: Leaves of a request that are compared, from both ends: a long history is the same in most of them.
_LEAVES = 1000
#: From here on two calls are told as alike.
ALIKE = 0.5
#: The next call due in its lane wins unless another one is clearly more alike.
_NEXT = 0.2


@dataclass(frozen=True)
class Near:
    """``alike``: from 0 to 1; ``place``: how many calls of its lane and kind are due before it, None in another lane."""

    call: TapeCall
    alike: float
    place: int | None

    def why(self, path: str, lane: str) -> str:
        """Why it was not taken."""
        if self.place is None:
            due = f"it is due in lane {self.call.lane}, not in {lane}"
            return due if path == "lane" else f"{due}, and {path} differs"
        due = "it is the next one due in its lane" if self.place == 0 else f"{self.place} calls of its lane are due before it"
        return f"{due}, but {path} differs"


def find(kind: str, name: str, lane: str, live: Any, calls: list[TapeCall]) -> Near | None:
    """``live``: the canonical request. None where no unused call of that kind is left."""
    free = [call for call in calls if not call.used and not call.covered and call.kind == kind]
    if kind == "tool":
        free = [call for call in free if call.name == name] or free
    here = [call for call in free if call.lane == lane][:_DUE]
    there = [call for call in free if call.lane != lane][:_ELSEWHERE]
    wanted = _leaves(live)
    found: Near | None = None
    best = -1.0
    for place, call in itertools.chain(enumerate(here), ((None, call) for call in there)):
        if place is None and found is not None and found.place is not None and best > 0.9:
            continue
        alike = _alike(wanted, _leaves(match.canonical_request(kind, call.request)))
        score = alike + (_NEXT if place == 0 else 0.0 if place is not None else -_NEXT if alike < 1 else _NEXT)
        if score > best:
            found, best = Near(call, alike, place), score
    return found


def _alike(one: collections.Counter[str], other: collections.Counter[str]) -> float:
    """The share of leaves that both have. Not their order: that is for the first difference to tell."""
    total = sum(one.values()) + sum(other.values())
    return 1.0 if not total else 2 * sum((one & other).values()) / total


def _leaves(value: Any) -> collections.Counter[str]:
    out = list(itertools.islice(_walk("", value, backwards=False), _LEAVES))
    if len(out) == _LEAVES:
        out += itertools.islice(_walk("", value, backwards=True), _LEAVES)
    return collections.Counter(out)


def _walk(path: str, value: Any, *, backwards: bool) -> Iterator[str]:
    if isinstance(value, dict):
        for name in sorted(value, reverse=backwards):
            yield from _walk(f"{path}.{name}", value[name], backwards=backwards)
    elif isinstance(value, list):
        places = range(len(value) - 1, -1, -1) if backwards else range(len(value))
        for number in places:
            yield from _walk(f"{path}[{number}]", value[number], backwards=backwards)
    elif isinstance(value, str) and len(value) > 200:
        # Words: two long prompts are alike though one of them is not in the other.
        yield from (f"{path}={word}" for word in value[:4000].split())
    else:
        yield f"{path}={value}"

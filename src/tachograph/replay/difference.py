"""The first field in which two JSON values differ, down to the characters."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tachograph.redact.placeholder import neutral

#: Characters shown on either side of the first differing one.
CONTEXT = 120
#: Characters of the first differing words that are told.
_LONGEST = 200

#: (path, recorded, live) → whether two different leaves count as the same.
Equal = Callable[[str, Any, Any], bool]

_BLANK = re.compile(r"[\s\"'`,;(){}\[\]<>|]")
MISSING = object()


@dataclass(frozen=True)
class Difference:
    """``path``: names and positions; ``recorded``/``live``: the values there, ``MISSING`` where there is none."""

    path: tuple[Any, ...]
    recorded: Any
    live: Any

    @property
    def where(self) -> str:
        """As in ``body.messages[3].content``."""
        out = ""
        for step in self.path:
            out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else str(step)
        return out

    @property
    def at(self) -> int | None:
        """The first differing character, where both are texts."""
        if not isinstance(self.recorded, str) or not isinstance(self.live, str):
            return None
        return first_character(neutral(self.recorded), neutral(self.live))

    @property
    def shown(self) -> tuple[Any, Any]:
        """Both, cut around the first differing character; None where there is nothing."""
        at = self.at
        if at is not None:
            return around(neutral(self.recorded), at), around(neutral(self.live), at)
        recorded, live = (None if each is MISSING else short(each) for each in (self.recorded, self.live))
        return recorded, live

    @property
    def words(self) -> tuple[str, str] | None:
        """The first differing words of two texts."""
        at = self.at
        return None if at is None else (_word(neutral(self.recorded), at), _word(neutral(self.live), at))

    @property
    def characters(self) -> dict[str, Any] | None:
        """``at``: the first differing character of the whole text; ``column``: the same in what is shown of it; and the words there."""
        at, words = self.at, self.words
        if at is None or words is None:
            return None
        return {"at": at, "column": at - max(0, at - CONTEXT // 2) + (at > CONTEXT // 2), "expected": words[0], "actual": words[1]}


def first_difference(expected: Any, actual: Any) -> tuple[str, Any, Any] | None:
    """(path, expected, actual) of the first field that differs, texts cut around the first differing character; None if equal."""
    found = first(expected, actual)
    return None if found is None else (found.where, *found.shown)


def first(recorded: Any, live: Any, *, equal: Equal | None = None) -> Difference | None:
    """The first difference of two JSON values, in the order of names and positions; None if there is none."""
    return _first(recorded, live, (), equal)


def _first(recorded: Any, live: Any, path: tuple[Any, ...], equal: Equal | None) -> Difference | None:
    if isinstance(recorded, dict) and isinstance(live, dict):
        for name in sorted(recorded.keys() | live.keys()):
            found = _first(recorded.get(name, MISSING), live.get(name, MISSING), (*path, name), equal)
            if found is not None:
                return found
        return None
    if isinstance(recorded, list) and isinstance(live, list):
        for number in range(max(len(recorded), len(live))):
            one, other = (each[number] if number < len(each) else MISSING for each in (recorded, live))
            found = _first(one, other, (*path, number), equal)
            if found is not None:
                return found
        return None
    if recorded is live or (recorded == live and type(recorded) is type(live)):
        return None
    if isinstance(recorded, str) and isinstance(live, str) and neutral(recorded) == neutral(live):
        # The kind in a placeholder is the rule's that found the secret first; matching does not look at it, and so it is no difference.
        return None
    found = Difference(path, recorded, live)
    return None if equal is not None and MISSING not in (recorded, live) and equal(found.where, recorded, live) else found


def first_character(one: str, other: str) -> int:
    """The place of the first difference. By halves: texts are long and differ late."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def around(text: str, at: int) -> str:
    """A text cut around a character of it."""
    start, end = max(0, at - CONTEXT // 2), at + CONTEXT
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


def _word(text: str, at: int) -> str:
    start = max(0, at - _LONGEST)
    before = [match.end() for match in _BLANK.finditer(text, start, at)]
    end = _BLANK.search(text, at)
    return text[(before[-1] if before else start) : min(end.start() if end else len(text), at + _LONGEST)]


def short(value: Any) -> Any:
    """A value, or as much of it as a report has room for."""
    if isinstance(value, str):
        return value if len(value) <= 4 * CONTEXT else value[: 4 * CONTEXT] + "…"
    text = str(value)
    return value if len(text) <= 8 * CONTEXT else text[: 8 * CONTEXT] + "…"

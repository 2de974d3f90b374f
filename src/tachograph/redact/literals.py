"""Where any of many literals stands in a text, while their number grows.

An Aho-Corasick automaton reads a text once however many literals it has, but cannot be added to. So there are several, each at least twice
as large as the next, and new literals go into a small one: adding n literals one by one builds automata of n·log n literals in all, and a
text is read log n times at the most. Without the library the literals are searched for one by one, with the same result.

Texts are matched as ASCII with a ``?`` for every other character, so that an offset is a character's; each match is then checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

try:
    import ahocorasick_rs
except ImportError:  # no wheel for this platform
    ahocorasick_rs = None  # type: ignore[assignment]


class _Level(NamedTuple):
    literals: list[str]
    automaton: Any


class Literals:
    """Literals, not empty, each once. Not safe for use by several threads at once."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._pending: list[str] = []
        self._levels: list[_Level] = []

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, literal: str) -> bool:
        return literal in self._known

    def add(self, literal: str) -> None:
        """One more literal."""
        if literal not in self._known:
            self._known.add(literal)
            self._pending.append(literal)

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """Every occurrence: where it begins, and the literal. Overlapping ones, too; in no order."""
        if self._pending:
            self._build()
        raw = text.encode("ascii", "replace") if ahocorasick_rs is not None else b""
        for literals, automaton in self._levels:
            if automaton is None:
                for literal in literals:
                    at = text.find(literal)
                    while at >= 0:
                        yield at, literal
                        at = text.find(literal, at + 1)
            else:
                for number, start, _ in automaton.find_matches_as_indexes(raw, overlapping=True):
                    literal = literals[number]
                    if text.startswith(literal, start):
                        yield start, literal

    def _build(self) -> None:
        fresh, self._pending = self._pending, []
        while self._levels and len(self._levels[-1].literals) <= 2 * len(fresh):
            fresh = self._levels.pop().literals + fresh
        automaton = None
        if ahocorasick_rs is not None:
            automaton = ahocorasick_rs.BytesAhoCorasick([literal.encode("ascii", "replace") for literal in fresh])
        self._levels.append(_Level(fresh, automaton))

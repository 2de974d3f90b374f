"""Three matchers for the same triggers. Each gives hits: the number of a trigger, and its place if it wants one, else 0; ``ANYWHERE`` says
that the finder has to look itself. A trigger may be reported several times, and for no reason; it is never left out.

``Hyperscan`` runs literals and patterns as one automaton; it has to be compiled first. ``AhoCorasick`` looks for the literals only, and is
there at once. ``Plain`` needs nothing but Python: the reference for the tests, and what is left where no wheel of the others is.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import Any, Protocol

from tachograph.redact.prefilter.trigger import ANYWHERE, Trigger

#: The number of a trigger, and a place.
Hit = tuple[int, int]


class Engine(Protocol):
    """A matcher. Not safe for use by several threads at once."""

    def scan(self, text: str) -> list[Hit]:
        """All hits, in no order."""


def module(name: str) -> Any:
    """An optional module, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Plain:
    """One search per literal."""

    def __init__(self, triggers: Sequence[Trigger]) -> None:
        self._triggers = triggers
        self._lowering = any(trigger.caseless for trigger in triggers)

    def scan(self, text: str) -> list[Hit]:
        """All hits, in no order."""
        out: list[Hit] = []
        lowered = lower(text) if self._lowering else ""
        for number, trigger in enumerate(self._triggers):
            where = lowered if trigger.caseless else text
            if not trigger.literals:
                out.append((number, ANYWHERE))
                continue
            if not trigger.tail:
                if any(literal in where for literal in trigger.literals):
                    out.append((number, 0))
                continue
            at = where.find(trigger.literals[0])
            while at >= 0:
                out.append((number, at))
                at = where.find(trigger.literals[0], at + 1)
        return out


class AhoCorasick:
    """Two automata over the literals: one as they are, one for the lowered text."""

    def __init__(self, triggers: Sequence[Trigger]) -> None:
        """Raises ImportError where the package is not there."""
        self._exact = _Automaton([(n, t) for n, t in enumerate(triggers) if not t.caseless])
        self._caseless = _Automaton([(n, t) for n, t in enumerate(triggers) if t.caseless])
        self._always: list[Hit] = [(n, ANYWHERE) for n, t in enumerate(triggers) if not t.literals]

    def scan(self, text: str) -> list[Hit]:
        """All hits, in no order."""
        data = text.encode("ascii", "replace")
        return self._always + self._exact.scan(data) + self._caseless.scan(data.lower())


class _Automaton:
    def __init__(self, triggers: Sequence[tuple[int, Trigger]]) -> None:
        behind: dict[bytes, tuple[list[int], list[int]]] = {}
        for number, trigger in triggers:
            for literal in trigger.literals:
                behind.setdefault(literal.encode(), ([], []))[trigger.tail > 0].append(number)
        self._behind = list(behind.values())
        self._automaton = importlib.import_module("ahocorasick_rs").BytesAhoCorasick(list(behind)) if behind else None

    def scan(self, data: bytes) -> list[Hit]:
        if self._automaton is None:
            return []
        out: list[Hit] = []
        seen = set()
        for which, start, _ in self._automaton.find_matches_as_indexes(data, overlapping=True):
            once, every = self._behind[which]
            if every:
                out += [(number, start) for number in every]
            if which not in seen:
                seen.add(which)
                out += [(number, 0) for number in once]
        return out


class Hyperscan:
    """A compiled database, and the scratch space of one user of it."""

    def __init__(self, triggers: Sequence[Trigger], database: Any) -> None:
        self._database = database
        self._scratch = importlib.import_module("hyperscan").Scratch(database)
        self._tails = [trigger.tail for trigger in triggers]

    def scan(self, text: str) -> list[Hit]:
        """All hits, in no order."""
        out: list[Hit] = []
        tails = self._tails

        def hit(number: int, _: int, end: int, *__: object) -> None:
            tail = tails[number]
            out.append((number, end - tail if tail else 0))

        self._database.scan(text.encode("ascii", "replace"), match_event_handler=hit, scratch=self._scratch)
        return out


def compiled(triggers: Sequence[Trigger]) -> Any:
    """A database for ``Hyperscan``; takes a second or more for hundreds of patterns. Raises ImportError."""
    hs = importlib.import_module("hyperscan")
    expressions = [expression(trigger) for trigger in triggers]
    try:
        return _database(hs, triggers, expressions)
    except hs.HyperscanError:
        # What has nothing but a pattern is tried again as it is: better an error than a trigger that never fires.
        accepted = [
            made if not trigger.literals or all(_accepted(hs, text) for text in made) else _literals(trigger)
            for made, trigger in zip(expressions, triggers, strict=True)
        ]
        return _database(hs, triggers, accepted)


def expression(trigger: Trigger) -> list[str]:
    """What to compile for a trigger: its pattern where it can be said, else its literals."""
    if trigger.pattern:
        from tachograph.redact.prefilter.superset import UnsupportedError, superset  # only who compiles needs it

        try:
            return [superset(trigger.pattern, trigger.flags, shorten=not trigger.tail)]
        except UnsupportedError:
            if not trigger.literals:
                raise
    return _literals(trigger)


def _literals(trigger: Trigger) -> list[str]:
    return [f"(?i:{re.escape(literal)})" if trigger.caseless else re.escape(literal) for literal in trigger.literals]


def _database(hs: Any, triggers: Sequence[Trigger], expressions: Sequence[Sequence[str]]) -> Any:
    database = hs.Database(mode=hs.HS_MODE_BLOCK)
    numbered = [(number, text.encode()) for number, made in enumerate(expressions) for text in made]
    database.compile(
        expressions=[text for _, text in numbered],
        ids=[number for number, _ in numbered],
        flags=[0 if triggers[number].tail else hs.HS_FLAG_SINGLEMATCH for number, _ in numbered],
    )
    return database


def _accepted(hs: Any, text: str) -> bool:
    try:
        hs.Database(mode=hs.HS_MODE_BLOCK).compile(expressions=[text.encode()], ids=[0], flags=[0])
    except hs.HyperscanError:
        return False
    return True


def lower(text: str) -> str:
    """The text with its ASCII letters lowered: of the same length, which ``str.lower`` does not promise."""
    return text.lower() if text.isascii() else text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")

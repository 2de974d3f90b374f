"""Three matchers for the same triggers. Each gives hits: the number of a trigger, and its place if it wants one, else 0; ``ANYWHERE`` says
that the finder has to look itself. A trigger may be reported several times, and for no reason; it is never left out.

``Hyperscan`` runs literals and patterns as one automaton; it has to be compiled first. ``AhoCorasick`` looks for the literals only, and is
there at once. ``Plain`` needs nothing but Python: the reference for the tests, and what is left where no wheel of the others is.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from tachograph.redact.prefilter.trigger import ANYWHERE, OUTSIDE, Trigger

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
            if not trigger.tail or trigger.pattern:
                if any(literal in where for literal in trigger.literals):
                    out.append((number, ANYWHERE if trigger.tail else 0))
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
        behind: dict[bytes, tuple[list[Hit], list[int]]] = {}
        for number, trigger in triggers:
            for literal in trigger.literals:
                once, every = behind.setdefault(literal.encode(), ([], []))
                if trigger.tail and not trigger.pattern:
                    every.append(number)
                else:
                    once.append((number, ANYWHERE if trigger.tail else 0))
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
                out += once
        return out


#: A database of the library, or None where nothing is to be looked for.
Databases = tuple[Any, ...]


class Gate(NamedTuple):
    """A run of ``least`` characters of a class. The database ``inside`` looks for it."""

    chars: str
    least: int
    inside: int


_TOKEN, _BASE64 = "[A-Za-z0-9_-]", "[A-Za-z0-9+/_=-]"
#: Characters in a row without which the second database finds nothing.
_WORD = 20
#: Tokens are long words, and most text has none. So there are several databases: one for literals, one for what has none and is in a word
#: of ``_WORD`` characters at least, and one behind each gate, which is used where the gate's run was seen: it has what is in no other text.
GATES = (Gate(_BASE64, 24, 1), Gate(_TOKEN, 26, 2), Gate(_TOKEN, 32, 2))
_FIRST_BEHIND = 2


class Hyperscan:
    """Compiled databases, and the scratch space of one user of them."""

    def __init__(self, triggers: Sequence[Trigger], databases: Databases) -> None:
        scratch = importlib.import_module("hyperscan").Scratch
        self._scans = [(database.scan, scratch(database)) if database is not None else None for database in databases]
        self._tails = [trigger.tail for trigger in triggers]
        self._outside = [(number, 0) for number, trigger in enumerate(triggers) if trigger.pattern == OUTSIDE]

    def scan(self, text: str) -> list[Hit]:
        """All hits, in no order."""
        out: list[Hit] = []
        tails = self._tails
        number_of_triggers = len(tails)
        waiting: list[int] = []

        def hit(number: int, _: int, end: int, *__: object) -> None:
            if number >= number_of_triggers:
                waiting.append(number - number_of_triggers + _FIRST_BEHIND)
                return
            tail = tails[number]
            out.append((number, end - tail if tail else 0))

        data = text.encode("ascii", "replace")
        scans = self._scans
        if (first := scans[0]) is not None:
            first[0](data, match_event_handler=hit, scratch=first[1])
        if len(data) >= _WORD and scans[1] is not None:
            waiting.append(1)
        if not text.isascii():
            out += self._outside
        for which in waiting:  # grows as gates are seen
            scan, scratch = scans[which]  # type: ignore[misc]  # a gate is looked for where something is behind it
            scan(data, match_event_handler=hit, scratch=scratch)
        return out


def compiled(triggers: Sequence[Trigger]) -> Databases:
    """The databases for ``Hyperscan``; takes a second or more for hundreds of patterns. Raises ImportError."""
    made: list[list[tuple[int, Trigger]]] = [[] for _ in range(_FIRST_BEHIND + len(GATES))]
    for number, trigger in enumerate(triggers):
        if trigger.pattern != OUTSIDE:
            made[_which(trigger)].append((number, trigger))
    for number, (chars, least, inside) in reversed(list(enumerate(GATES))):
        if made[_FIRST_BEHIND + number]:
            made[inside].append((len(triggers) + number, Trigger((), rf"{chars}{{{least}}}")))
    return tuple(_compiled(own) if own else None for own in made)


def _which(trigger: Trigger) -> int:
    """The number of a trigger's database."""
    from tachograph.redact.prefilter.superset import run  # only who compiles needs it

    word = run(trigger.pattern, trigger.flags) if trigger.pattern else 0
    for number, (chars, least, _) in reversed(list(enumerate(GATES))):
        if least <= (word if chars == _TOKEN else trigger.run):
            return _FIRST_BEHIND + number
    return int(trigger.run >= _WORD)


def _compiled(triggers: Sequence[tuple[int, Trigger]]) -> Any:
    hs = importlib.import_module("hyperscan")
    expressions = [(number, trigger, expression(trigger)) for number, trigger in triggers]
    try:
        return _database(hs, expressions)
    except hs.HyperscanError:
        # What has nothing but a pattern is tried again as it is: better an error than a trigger that never fires.
        accepted = [
            (number, trigger, made if not trigger.literals or all(_accepted(hs, text) for text in made) else _literals(trigger))
            for number, trigger, made in expressions
        ]
        return _database(hs, accepted)


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


def _database(hs: Any, triggers: Iterable[tuple[int, Trigger, Sequence[str]]]) -> Any:
    database = hs.Database(mode=hs.HS_MODE_BLOCK)
    numbered = [(number, trigger, text.encode()) for number, trigger, made in triggers for text in made]
    database.compile(
        expressions=[text for *_, text in numbered],
        ids=[number for number, *_ in numbered],
        flags=[0 if trigger.tail else hs.HS_FLAG_SINGLEMATCH for _, trigger, _ in numbered],
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

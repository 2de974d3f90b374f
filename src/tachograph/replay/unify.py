"""Which recorded call a live request is: exactly (``Strict``), or up to a one-to-one renaming of volatile values (``Lenient``). Pure.

A lenient match is a unification. The recorded request and the live one must be the same but for values of the same kind in the same
places (``volatile``), and over the whole session each recorded value stands for one live value, and each live value for one recorded one.
What was unified is remembered, and answers are given with the live values in the place of the recorded ones (``renaming``).

Of values that nobody draws twice (uuids, hexadecimal numbers, random ids, temporary names) an equal one is the same one. So such a value
that the recording holds stands for itself only, and one that an answer has given to the agent does, too: an agent that picks another one
from a list that it was given does something else than it did. Moments, ports and process numbers may come again by chance, and may not.
"""

from __future__ import annotations

import collections
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from tachograph.format import canonical

from . import match, volatile
from .renaming import Renaming
from .tape import Piece, Tape, TapeCall
from .volatile import STRONG, Found

#: Below these names a value is never volatile: another one is another model, another version, another interface.
LITERAL = frozenset({"model", "modelid", "model_id", "version"})

#: What a clash is between: what was unified before, and what stands there now.
BOUND_RECORDED = "the recorded value stands for another one already"
BOUND_LIVE = "the value stands for another recorded one already"
OF_THE_TAPE = "the value is another one of the recording"
WAS_GIVEN = "an answer had given the recorded value to the agent, and so it stands for itself"


@dataclass(frozen=True)
class Clash:
    """Two values that would unify by themselves, and do not with what was unified before. ``other``: what one of them stands for."""

    kind: str
    recorded: str
    live: str
    where: str
    why: str
    other: str

    def __str__(self) -> str:
        return f"{self.kind} {self.recorded} was recorded in {self.where} and is {self.live} now, but {self.why} ({self.other})"


class Matcher(Protocol):
    """What the player asks."""

    clash: Clash | None
    """Why nothing fitted, when last nothing did, if it was that."""

    def take(self, kind: str, lane: str, name: str, request: dict[str, Any]) -> TapeCall | None:
        """The recorded call that this is, now used; None for a miss."""

    def as_it_stands(self, kind: str, lane: str, name: str, request: dict[str, Any]) -> TapeCall | None:
        """The same for a request that was not masked, where only an equal one counts and nothing is remembered of it."""

    def equal(self, path: str, recorded: Any, live: Any) -> bool:
        """Whether two different leaves count as the same, as far as is known now."""

    def piece(self, call: TapeCall, piece: Piece) -> Piece:
        """What to give to the agent."""

    def told(self, value: Any) -> Any:
        """The same of a JSON-like value: effects on files, printed texts."""

    def output(self, recorded: str, live: str) -> bool:
        """Whether what was printed then is what is printed now."""

    def unified(self) -> list[dict[str, Any]]:
        """What was unified, for the report."""


class Strict:
    """Equal or not."""

    clash: Clash | None = None

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def take(self, kind: str, lane: str, name: str, request: dict[str, Any]) -> TapeCall | None:
        return self._tape.take(match.key(lane, kind, name, request))

    as_it_stands = take

    def equal(self, path: str, recorded: Any, live: Any) -> bool:  # noqa: ARG002
        return False

    def piece(self, call: TapeCall, piece: Piece) -> Piece:  # noqa: ARG002
        return piece

    def told(self, value: Any) -> Any:
        return value

    def output(self, recorded: str, live: str) -> bool:
        return recorded == live

    def unified(self) -> list[dict[str, Any]]:
        return []


@dataclass
class Binding:
    """``where``: the place of the first meeting; ``count``: how often they were met."""

    kind: str
    recorded: str
    live: str
    where: str
    count: int = 0


class Bindings:
    """The renaming so far, in both directions. ``of_tape``: says whether a strong value is one of the recording's."""

    def __init__(self, of_tape: Callable[[str], bool] = lambda _: False) -> None:
        self._of_tape = of_tape
        self._live: dict[tuple[str, str], Binding] = {}
        self._recorded: dict[tuple[str, str], Binding] = {}
        self._given: set[str] = set()
        self.version = 0
        """Another number whenever a value stands for another one than itself that did not before."""

    def accept(self, found: list[tuple[str, Found]]) -> Clash | None:
        """Enter these pairs, all or none. Returns what stands against it."""
        return self._unify(found, enter=True)

    def against(self, found: list[tuple[str, Found]]) -> Clash | None:
        """What would stand against it."""
        return self._unify(found, enter=False)

    def _unify(self, found: list[tuple[str, Found]], *, enter: bool) -> Clash | None:
        fresh: dict[tuple[str, str], Binding] = {}
        back: dict[tuple[str, str], Binding] = {}
        seen: list[Binding] = []
        for where, (kind, recorded, live) in found:
            group = _group(kind)
            there = self._live.get((group, recorded)) or fresh.get((group, recorded))
            here = self._recorded.get((group, live)) or back.get((group, live))
            if there is not None and there.live != live:
                return Clash(kind, recorded, live, where, BOUND_RECORDED, there.live)
            if here is not None and here.recorded != recorded:
                return Clash(kind, recorded, live, where, BOUND_LIVE, here.recorded)
            if there is None:
                if kind in STRONG and recorded != live:
                    if recorded in self._given:
                        return Clash(kind, recorded, live, where, WAS_GIVEN, recorded)
                    if live in self._given or self._of_tape(live):
                        return Clash(kind, recorded, live, where, OF_THE_TAPE, live)
                there = fresh[group, recorded] = back[group, live] = Binding(kind, recorded, live, where)
            seen.append(there)
        if not enter:
            return None
        for binding in seen:
            binding.count += 1
        self._live |= fresh
        self._recorded |= back
        self.version += any(binding.recorded != binding.live for binding in fresh.values())
        return None

    def given(self, values: Iterator[tuple[str, str]]) -> None:
        """An answer has given these recorded values to the agent as they are."""
        for kind, value in values:
            if (kind in STRONG or kind == "whole") and (STRONG_GROUP, value) not in self._live:
                self._given.add(value)

    def live(self, kind: str, recorded: str) -> str | None:
        """What a recorded value is now, if that is another one."""
        binding = self._live.get((_group(kind), recorded))
        return binding.live if binding is not None and binding.live != binding.recorded else None

    def renamed(self) -> list[Binding]:
        """What stands for another value than itself."""
        return [binding for binding in self._live.values() if binding.recorded != binding.live]


#: A random value may be seen as a hexadecimal number here and as part of an id there. It is one value.
STRONG_GROUP = "strong"


def _group(kind: str) -> str:
    return STRONG_GROUP if kind in STRONG or kind == "whole" else kind


class Lenient:
    """Equal up to the renaming of volatile values."""

    def __init__(self, tape: Tape) -> None:
        self.clash: Clash | None = None
        self._tape = tape
        self._bindings = Bindings(self._of_tape)
        self._renaming = Renaming(self._bindings.live)
        self._recorded: set[str] | None = None
        self._free: dict[bytes, collections.deque[TapeCall]] = {}
        self._indexed = -1
        self._answers: dict[int, tuple[TapeCall, dict[int, Piece]]] = {}

    def take(self, kind: str, lane: str, name: str, request: dict[str, Any]) -> TapeCall | None:
        self.clash = None
        live = match.canonical_request(kind, request)
        if self._indexed != self._tape.version:
            self._index()
        waiting = self._free.get(_key(kind, lane, name, live), collections.deque())
        for call in list(waiting):
            if call.used or call.covered:
                waiting.remove(call)
                continue
            found = _pairs(match.canonical_request(kind, call.request), live)
            clash = None if found is None else self._bindings.accept([(f"#{call.seq} {where}", each) for where, each in found])
            if found is not None and clash is None:
                waiting.remove(call)
                call.used = True
                self.clash = None
                return call
            self.clash = self.clash or clash
        return None

    def as_it_stands(self, kind: str, lane: str, name: str, request: dict[str, Any]) -> TapeCall | None:  # noqa: ARG002
        return None  # its values must be remembered, and they may be secrets

    def equal(self, path: str, recorded: Any, live: Any) -> bool:
        found = _leaf(path, recorded, live)
        return found is not None and self._bindings.against([(path, each) for each in found]) is None

    def piece(self, call: TapeCall, piece: Piece) -> Piece:
        place = next((n for n, each in enumerate(call.pieces) if each is piece), None)
        if place is None:
            return piece
        if id(call) not in self._answers:
            # Once for the whole answer: a value may lie across the cut between two chunks.
            renamed = self._renaming.answer(call.kind, call.pieces) if self._bindings.version else call.pieces
            self._answers[id(call)] = call, dict(enumerate(renamed))
            self._bindings.given(self._renaming.values(call.pieces))
        pieces = self._answers[id(call)][1]
        out = pieces.pop(place, piece)
        if not pieces:
            self._answers[id(call)] = call, {}
        return out

    def told(self, value: Any) -> Any:
        return self._renaming.document(value) if self._bindings.version else value

    def output(self, recorded: str, live: str) -> bool:
        if recorded == live:
            return True
        found = volatile.pairs(recorded, live)
        return found is not None and self._bindings.accept([("stdout", each) for each in found]) is None

    def unified(self) -> list[dict[str, Any]]:
        return [
            {"kind": each.kind, "recorded": each.recorded, "live": each.live, "where": each.where, "count": each.count}
            for each in self._bindings.renamed()
        ]

    def _index(self) -> None:
        self._indexed = self._tape.version
        self._free.clear()
        for call in self._tape.unused():
            request = match.canonical_request(call.kind, call.request)
            self._free.setdefault(_key(call.kind, call.lane, call.name, request), collections.deque()).append(call)

    def _of_tape(self, value: str) -> bool:
        if self._recorded is None:
            self._recorded = set()
            for call in self._tape.calls:
                self._recorded.update(
                    text
                    for kind, text in _values(match.canonical_request(call.kind, call.request), "")
                    if kind in STRONG or kind == "whole"
                )
        return value in self._recorded


# -- two requests ------------------------------------------------------------------------------------------------------------


def _key(kind: str, lane: str, name: str, request: Any) -> bytes:
    return hashlib.sha256(canonical.dumps([lane, kind, name if kind == "tool" else "", _shape(request, "")])).digest()


def _literal(key: str) -> bool:
    lowered = key.lower()
    return lowered in LITERAL or lowered.endswith(("version", "-version"))


def _shape(value: Any, key: str) -> Any:
    if isinstance(value, str):
        return value if _literal(key) else volatile.split(value)[0]
    if isinstance(value, dict):
        return sorted(([volatile.split(name)[0], _shape(item, name)] for name, item in value.items()), key=canonical.dumps)
    if isinstance(value, list):
        named = _name_of(value)
        return [_shape(item, named if number else key) for number, item in enumerate(value)]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        kind = volatile.numeric(key, value)
        return value if kind is None or _literal(key) else f"\0{kind[0]}\0"
    return value


def _name_of(value: list[Any]) -> str:
    """A list of two may be a name and its value: a header, a parameter."""
    return value[0] if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], str) and len(value[0]) <= 64 else ""


def _values(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        for part in volatile.split(value)[1]:
            yield from volatile.values(part.sort, value[part.start : part.end])
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _values(name, "")
            yield from _values(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item, key)


def _pairs(recorded: Any, live: Any) -> list[tuple[str, Found]] | None:
    """The values of two canonical requests, with their places; None where the requests differ in more."""
    out: list[tuple[str, Found]] = []
    return out if _walk(recorded, live, "", "", out) else None


def _walk(recorded: Any, live: Any, path: str, key: str, out: list[tuple[str, Found]]) -> bool:
    if isinstance(recorded, dict) and isinstance(live, dict):
        if len(recorded) != len(live):
            return False
        for name, other in _names(recorded, live):
            here = f"{path}.{name}" if path else name
            found = volatile.pairs(name, other)
            if found is None:
                return False
            out += [(here, each) for each in found]
            if not _walk(recorded[name], live[other], here, name, out):
                return False
        return True
    if isinstance(recorded, list) and isinstance(live, list):
        if len(recorded) != len(live):
            return False
        named = _name_of(recorded)
        return all(
            _walk(one, other, f"{path}[{number}]", named if number else key, out)
            for number, (one, other) in enumerate(zip(recorded, live, strict=True))
        )
    found = _leaf(path, recorded, live, key)
    if found is None:
        return False
    out += [(path, each) for each in found]
    return True


def _names(recorded: dict[str, Any], live: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The names of two objects, in pairs. A name may hold an id."""
    both = recorded.keys() & live.keys()
    yield from ((name, name) for name in sorted(both))
    rest = [sorted(names.keys() - both, key=lambda name: (volatile.split(name)[0], name)) for names in (recorded, live)]
    yield from zip(*rest, strict=True)


def _leaf(path: str, recorded: Any, live: Any, key: str | None = None) -> list[Found] | None:
    """The values of two leaves; None where they differ in more than such values."""
    if key is None:
        key = path.rpartition(".")[2].partition("[")[0]
    if isinstance(recorded, str) and isinstance(live, str):
        if _literal(key):
            return [] if recorded == live else None
        return volatile.pairs(recorded, live)
    if recorded == live and type(recorded) is type(live):
        kind = volatile.numeric(key, recorded) if isinstance(recorded, (int, float)) and not isinstance(recorded, bool) else None
        return [Found(kind[0], kind[1], kind[1])] if kind is not None else []
    numbers = all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (recorded, live))
    found = volatile.number(key, recorded, live) if numbers and not _literal(key) else None
    return [found] if found is not None else None

"""Finds the secrets of one text: one pass of the prefilter, the finders that it wakes, and a merge of what they find.

To add a finder:

1. Let its module say what must be in a text for it to find anything, as ``TRIGGERS`` (``prefilter.trigger``): literals, better with a
   pattern. A finder that begins at certain places can have these; any other is called once if one of its triggers is there.
2. Give it an entry in ``Scanner._finders``: from which depth on it runs, its rank among the others, its triggers, and a function of the text
   and of its own triggers' hits.

A trigger must be there whenever the finder finds something: ``test_redact_prefilter`` compares all matchers with each other on everything
at hand. The tighter the trigger, the less a quiet text costs. Cheap are patterns with a literal of four characters or more, and those that are
behind one of the gates of ``prefilter.engines``, in long words. What is beside a name needs none of its own: it is looked for at the places of
the stems of names. Dear ones begin with a class of characters, above all
with ``(?:\\A|\\n)[class]{0,n}``: one of them may cost a quiet text as much as five hundred tokens with a prefix.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tachograph.redact.finders import (
    addresses,
    assignments,
    calls,
    commands,
    decode,
    files,
    headers,
    manifests,
    nested,
    pairs,
    pem,
    pii,
    presidio,
    prose,
    services,
    tables,
)
from tachograph.redact.finders.vendors import DEFAULT, Vendors
from tachograph.redact.known import BEGUN, Known
from tachograph.redact.policy import Policy
from tachograph.redact.prefilter.engines import Engine, Hit
from tachograph.redact.prefilter.index import Index
from tachograph.redact.prefilter.trigger import OUTSIDE, Trigger, places
from tachograph.redact.repeats import again
from tachograph.redact.spans import Edit, Found, Ranked, merge, ranked
from tachograph.redact.telling import telling

#: Characters. Nothing shorter can hold a secret and its name.
_SHORTEST = 6

#: Rescans of the masked text: what stood beside a secret may only now be a token of its own.
_ROUNDS = 4


class Depth(enum.IntEnum):
    """How much is looked for."""

    KNOWN = 0  #: known values only: media, signatures, other opaque strings
    SHAPES = 1  #: also tokens and key blocks, for what is no text or was understood piece by piece before
    ALL = 2  #: also by names, in addresses and in commands


class Finder(NamedTuple):
    """One finder under one policy: from which depth on it runs, its rank (a lower one is surer), what wakes it, and itself. It gets the text
    and the hits of its own triggers, by their numbers in ``triggers``, in no order."""

    depth: Depth
    rank: int
    triggers: Sequence[Trigger]
    find: Callable[[str, list[Hit]], Iterable[Found]]


class Scanner:
    """The finders under one policy."""

    def __init__(self, policy: Policy, known: Known) -> None:
        self._policy = policy
        self._known = known
        self._vendors = DEFAULT if policy.rules is DEFAULT.rules else Vendors(policy.rules)
        self._stems = (*assignments.STEMS, *sorted(name for name in policy.secret_names if name.isascii()))
        self._finders = self._all()
        #: The number of the finder that goes by names.
        self._naming = next(which for which, finder in enumerate(self._finders) if places(self._stems[0]) in finder.triggers)
        #: Per trigger of the index: whose it is, as the finder's number and its own number there.
        owners: dict[Trigger, list[tuple[int, int]]] = {}
        for which, finder in enumerate(self._finders):
            for number, trigger in enumerate(finder.triggers):
                owners.setdefault(trigger, []).append((which, number))
        self._owners = list(owners.values())
        self.index = _index(policy, list(owners))
        self._engine: Engine | None = None
        self._layer = 0

    def _all(self) -> tuple[Finder, ...]:
        vendors, stems, named = self._vendors, self._stems, self._policy.named
        asked = {kind for kind in self._policy.pii if kind.startswith(presidio.PREFIX)}
        own = self._policy.pii - asked

        def blocks(text: str) -> Iterable[Found]:
            return (Found(start, end, "private-key", "private-key") for start, end in pem.find(text))

        def stemmed(text: str, hits: list[Hit]) -> list[tuple[int, str]]:
            own = [(at, stems[number]) for number, at in hits if number < len(stems)]
            return sorted(own if len(own) == len(hits) else own + assignments.foreign(text))

        def beside(text: str, places: list[assignments.Place]) -> Iterable[Found]:
            which = telling(text, places)
            if which.assigned:
                yield from assignments.find(text, which.assigned, named=named)
            if which.below:
                yield from tables.find(text, which.below, named=named)
            if which.nested:
                yield from nested.find(text, which.nested, named=named)
            if which.paired:
                yield from pairs.find(text, which.paired, named=named)
            if which.told:
                yield from prose.told(text, which.told)

        return (
            Finder(Depth.SHAPES, 1, pem.TRIGGERS, lambda text, _: blocks(text)),
            Finder(Depth.SHAPES, 2, vendors.triggers, vendors.find),
            Finder(Depth.ALL, 3, addresses.TRIGGERS, lambda text, _: addresses.find(text)),
            Finder(Depth.ALL, 3, manifests.TRIGGERS, lambda text, _: manifests.find(text)),
            Finder(Depth.ALL, 3, files.TRIGGERS, lambda text, _: files.find(text)),
            Finder(Depth.ALL, 3, headers.TRIGGERS, lambda text, _: headers.find(text)),
            Finder(Depth.ALL, 3, calls.TRIGGERS, lambda text, hits: calls.find(text, {number for number, _ in hits})),
            Finder(Depth.ALL, 4, (*map(places, stems), Trigger((), OUTSIDE)), lambda text, hits: beside(text, stemmed(text, hits))),
            Finder(Depth.ALL, 4, commands.TRIGGERS, lambda text, hits: commands.find(text, {number for number, _ in hits})),
            Finder(Depth.ALL, 4, tables.TRIGGERS, lambda text, _: tables.marked(text, named=named)),
            Finder(Depth.ALL, 4, prose.TRIGGERS, lambda text, _: prose.find(text)),
            Finder(Depth.ALL, 5, services.TRIGGERS, services.find),
            Finder(Depth.ALL, 5, decode.TRIGGERS, lambda text, hits: self._decoded(text, Depth.ALL, hits)),
            Finder(Depth.ALL, 5, pii.TRIGGERS if own else (), lambda text, _: pii.find(text, own)),
            Finder(Depth.ALL, 5, presidio.TRIGGERS if asked else (), lambda text, _: presidio.find(text, asked)),
        )

    def scan(self, text: str, depth: Depth = Depth.ALL) -> list[Edit]:
        """What to mask in a text that is taken as it stands, sorted, in characters."""
        edits = self._once(text, depth)
        if not edits:
            return edits
        edits = again(text, edits)
        for _ in range(_ROUNDS):
            masked, places = _masked(text, edits)
            more = self._once(masked, depth)
            if not more:
                break
            mapped = [Ranked(_back(e.start, places), _back(e.end, places), e.kind, 0, e.rule) for e in more]
            edits = again(text, merge([*(Ranked(e.start, e.end, e.kind, 0, e.rule) for e in edits), *mapped], text))
        return edits

    def stems(self, text: str) -> list[int] | None:
        """Where the stems of names stand, if there is nothing else in a text that any finder could begin with; else None."""
        if self._known and self._known.find(text):
            return None
        self._engine = self.index.engine(self._engine)
        out = []
        for number, at in self._engine.scan(text):
            for which, its in self._owners[number]:
                if which != self._naming or (its >= len(self._stems) and assignments.foreign(text)):
                    return None
                if its < len(self._stems):
                    out.append(at)
        return out

    def tail(self, text: str) -> Edit | None:
        """The end of a text that broke off, from where it may be the beginning of a known value or of a token."""
        at = self._known.beginning(text)
        run = _LAST_RUN.search(text, max(0, len(text) - 4096))
        if run is not None and any(c.isdigit() for c in run.group()):
            head = self._vendors.head(run.group())
            if 0 <= head <= len(run.group()) - BEGUN:
                at = run.start() + head if at < 0 else min(at, run.start() + head)
        return Edit(at, len(text), "cut-off", rule="cut-off") if at >= 0 else None

    def _once(self, text: str, depth: Depth) -> list[Edit]:
        if len(text) < _SHORTEST and not self._known:
            return []
        found: list[Ranked] = []
        if self._known:
            found += ranked(self._known.find(text), 0)
        if depth >= Depth.SHAPES:
            self._engine = self.index.engine(self._engine)
            hits = self._engine.scan(text)
            if hits:
                found += self._woken(text, depth, hits)
        if depth < Depth.ALL and self._known:
            found += ranked(self._decoded(text, depth), 5)
        if found and self._policy.allow:
            found = [each for each in found if not self._policy.allows(text[each.start : each.end])]
        return merge(found, text) if found else []

    def _woken(self, text: str, depth: Depth, hits: list[Hit]) -> Iterable[Ranked]:
        """What the finders that the prefilter woke find."""
        own: dict[int, list[Hit]] = {}
        for number, at in hits:
            for which, its in self._owners[number]:
                own.setdefault(which, []).append((its, at))
        for which, its_hits in own.items():
            finder = self._finders[which]
            if depth >= finder.depth:
                yield from ranked(finder.find(text, its_hits), finder.rank)

    def _decoded(self, text: str, depth: Depth, hits: Sequence[Hit] = decode.ANYTHING) -> Iterable[Found]:
        """Secrets inside encodings, and inside encodings in these."""
        if self._layer >= decode.LAYERS:
            return []
        self._layer += 1
        try:
            return decode.find(text, lambda decoded: self._once(decoded, depth), hits)
        finally:
            self._layer -= 1


def _index(policy: Policy, triggers: Sequence[Trigger]) -> Index:
    """One index for everybody who has nothing of their own."""
    global _DEFAULT
    if policy.rules is not DEFAULT.rules or policy.secret_names or policy.pii:
        return Index(triggers)
    if _DEFAULT is None:
        _DEFAULT = Index(triggers)
    return _DEFAULT


_DEFAULT: Index | None = None


_LAST_RUN = re.compile(r"[A-Za-z0-9_.~+/=-]{8,4096}\Z")

#: Stands for a masked range while its surroundings are scanned again: protected, and no part of any token.
_BLANK = "[REDACTED:00000000]"


def _masked(text: str, edits: list[Edit]) -> tuple[str, list[tuple[int, int, int]]]:
    """The text with blanks for its secrets, and per kept piece where it begins in the new text, in the old one, and its length."""
    pieces, places = [], []
    at = new = 0
    for edit in edits:
        pieces += [text[at : edit.start], _BLANK]
        places.append((new, at, edit.start - at))
        new += edit.start - at + len(_BLANK)
        at = edit.end
    pieces.append(text[at:])
    places.append((new, at, len(text) - at))
    return "".join(pieces), places


def _back(index: int, places: list[tuple[int, int, int]]) -> int:
    """An index of the masked text in the original one; inside a blank it is the end of what the blank stands for."""
    best = 0
    for new, old, length in places:
        if index < new:
            return best
        best = old + min(index - new, length)
        if index - new <= length:
            return best
    return best

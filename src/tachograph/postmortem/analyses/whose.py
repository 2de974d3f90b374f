"""Whose a value is: what results say of the thing that an identifier names, by itself and by way of another one.

An order that was listed for client ``C-118`` is that client's, and what another result says of ``C-118`` (a name, a town) is said of the order, too. So
one more step is taken from a record: to what it is within, to what its call asked for, and to the records of the identifiers that it holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tachograph.postmortem.language.computed import shape
from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.terms import terms, words_of
from tachograph.postmortem.language.tongues import english_of, fold
from tachograph.postmortem.meaning.records import Record, records

if TYPE_CHECKING:
    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage

#: Results behind which a thing is no longer looked for, and records of all of them.
_NEAR, _MOST = 24, 2000
_MOST_LINES = 200
_IDENTIFIER = re.compile(r"(?=.{3,80}\Z)(?=.*[\d@])[\w.+@:/#-]+\Z")
_DATED = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d|\d+(?:\.\d+)?\Z")
#: Fields whose words name a thing even in lower case.
_NAMING = frozenset(["name", "names", "nom", "nombre", "nome", "naam", "owner", "customer", "client", "kunde", "cliente", "title", "titre", "titel", "label", "host", "hostname", "user", "team", "patient", "guest", "holder", "article", "artikel", "product", "item", "for", "city", "town"])  # fmt: skip

#: Tools that change a thing: what another thing has may be what this one is to get.
_CHANGES = frozenset(["set", "update", "change", "assign", "reassign", "move", "edit", "replace", "correct", "link", "merge", "copy", "transfer", "reschedule", "rename", "attach", "swap", "patch", "modify", "join", "redirect", "forward"])  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Thing:
    """``marks``: the names and numbers that results tie to it, folded; ``beside``: the identifiers that stand with it; ``seen``: where it stood first."""

    name: str
    marks: frozenset[str]
    beside: frozenset[str]
    seen: Passage


def identifier(text: str) -> str | None:
    """A value that is one identifier, in lower case: with a digit or an ``@``, and no blank. No date, time or plain number with decimals."""
    bare = text.strip()
    if _IDENTIFIER.match(bare) is None or (_DATED.match(bare) and not (bare.isdigit() and len(bare) >= 4)):
        return None
    return bare.lower()


def sets(name: str) -> bool:
    """Whether a tool's name says that it gives a thing what it is to have."""
    return any((english_of(word) or word) in _CHANGES for word in words_of(name))


def things(path: str, value: str, action: Action, known: Doings) -> dict[str, Thing]:
    """The thing that an argument names and those of its kind: what results had under the same name when the action was decided. By identifier; empty where
    no result had the value as a field."""
    results = [passage for passage in known.recent(action.before, 120) if passage.kind in ("tool_result", "document", "file", "memory")][
        -_NEAR:
    ]
    if not any(value in passage.text.lower() for passage in results):
        return {}
    every = _every(results, known)
    keys = {name for record, _, _ in every for name, item in _own(record) if identifier(item) == value}
    if value.isdigit():  # a number may stand anywhere
        keys = {name for name in keys if set(words_of(name)) & set(words_of(path.rpartition(".")[2]))}
    if not keys:
        return {}
    direct: dict[str, list[tuple[Record, frozenset[str], Passage]]] = {}
    for record, asked, passage in every:
        owned = [(name, own) for name, item in _own(record) if name in keys and (own := identifier(item)) is not None]
        for own in dict.fromkeys(own for name, own in owned if (_akin(own, value) if name else shape(own) == shape(value))):
            direct.setdefault(own, []).append((record, asked, passage))
    if len(direct) < 2:
        return {}
    beside = {name: _beside(name, found) for name, found in direct.items()}
    by_identifier: dict[str, list[Record]] = {}
    wanted = frozenset().union(*beside.values())
    for record, _, _ in every:
        if not any(name in keys for name, _ in _own(record)):
            for one in {own for _, item in _own(record) if (own := identifier(item)) in wanted and own is not None}:
                by_identifier.setdefault(one, []).append(record)
    found: dict[str, Thing] = {}
    for name, where in direct.items():
        marks = {name} | {fold(one) for _, asked, _ in where for one in asked}
        for record, _, passage in where:
            marks |= _sought(passage, known) | _of_fields(record.fields, keys) | _of_fields(record.outer, keys | {""})
        for one in beside[name]:
            marks.add(one)
            for record in by_identifier.get(one, ()):
                marks |= _of_fields(record.fields, keys)
        found[name] = Thing(name=name, marks=frozenset(marks), beside=beside[name], seen=where[0][2])
    return found


def _every(results: list[Passage], known: Doings) -> list[tuple[Record, frozenset[str], Passage]]:
    """The records of results, with the identifiers that their call asked for."""
    found: list[tuple[Record, frozenset[str], Passage]] = []
    for passage in results:
        call = known.by_event.get(passage.event_id)
        asked = frozenset(one for _, text in call.leaves if (one := identifier(text)) is not None) if call is not None else frozenset()
        found += [(record, asked, passage) for record in (*records(passage.text), *_lines(passage.text))]
    return found[-_MOST:]


def _sought(passage: Passage, known: Doings) -> frozenset[str]:
    """The words that a result was looked up by: what was found by a name is of that name."""
    call = known.by_event.get(passage.event_id)
    words = (spoken(text) for _, text in call.leaves if len(text) <= 80) if call is not None else ()
    return frozenset(word for found in words for word in found if len(word) > 2)


def _own(record: Record) -> tuple[tuple[str, str], ...]:
    return record.fields + record.listed if record.listed else record.fields


@remembered
def _lines(text: str) -> tuple[Record, ...]:
    """The lines of a text that is no JSON, as records of the identifiers in them."""
    if text.lstrip()[:1] in ("{", "["):
        return ()
    found: list[Record] = []
    for line in text[:40_000].split("\n")[:_MOST_LINES]:
        names = [one for word in line[:300].split() if (one := identifier(word.strip(".,;:!?()[]{}\"'"))) is not None]
        if 0 < len(names) <= 6:
            pieces = tuple(("line", line[at : at + 80]) for at in range(0, min(len(line), 320), 80))
            found.append(Record(fields=(*(("", name) for name in names), *pieces), terms=frozenset(names)))
    return tuple(found)


def _beside(name: str, found: list[tuple[Record, frozenset[str], Passage]]) -> frozenset[str]:
    return frozenset(
        one
        for record, asked, _ in found
        for one in (*asked, *(identifier(item) for _, item in (*_own(record), *record.outer)))
        if one is not None and one != name
    )


def _akin(one: str, other: str) -> bool:
    if "@" in one or "@" in other:
        return "@" in one and "@" in other
    return shape(one) == shape(other) or (not one.isdigit() and not other.isdigit())


def _of_fields(fields: tuple[tuple[str, str], ...], keys: set[str]) -> frozenset[str]:
    return frozenset(mark for name, text in fields if name not in keys for mark in _marks(text, bool(_NAMING & set(words_of(name)))))


@lru_cache(maxsize=65536)
def _marks(text: str, names: bool) -> frozenset[str]:
    """The words of a value by which people know the thing: with a capital letter or a digit."""
    if len(text) > 80:
        return frozenset()
    return frozenset(
        piece
        for word in text.split()
        if names or word.strip("(\"'")[:1].isupper() or any(character.isdigit() for character in word)
        for piece in spoken(word)
        if len(piece) > 2
    )


@lru_cache(maxsize=4096)
def spoken(text: str) -> frozenset[str]:
    """The words of a text as marks are: folded, joined ones also taken apart."""
    found: set[str] = set()
    for word in text.split():
        bare = word.strip(".,;:!?()[]{}\"'“”’«»<>*`")
        if "'" in bare or "’" in bare:  # Ann's, l'article
            found.update(fold(piece) for piece in re.split(r"['’]", bare) if len(piece) > 2)
        if identifier(bare) is not None:
            found.add(bare.lower())
        for term in terms(bare):
            found.add(fold(term))
            if "-" in term or "_" in term:
                found.update(fold(piece) for piece in re.split(r"[-_]", term) if len(piece) > 3)
    return frozenset(found)

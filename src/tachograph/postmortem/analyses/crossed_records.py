"""One argument names a thing, another one has what the record of another thing says: the flat of one tenant, the account of the next.

Two records of one kind were read. An argument is of the first: it stands in its record under a name that identifies it (the argument's own name, or an
identifier) and in no record of the second. Another argument stands in the second's record alone, under a field in which the first has another value. That
the call *uses* this field rather than sets it is shown by another call of the same tool that has its own thing's value there, or by a further argument
that is of the first thing, of a tool whose name does not say that it changes something.

Nothing is said where a person or a prompt said the value, speaks of the second thing by a name and of the first by none, or asks for the same for both;
where a record ties the two; or where the call was made again with the right value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.language.terms import words_of
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.meaning.records import Record, records

from .whose import identifier, sets, spoken

if TYPE_CHECKING:
    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage

#: Results behind which a thing is no longer looked for, records of all of them, and calls of the same tool that are laid beside one.
_NEAR, _MOST, _BESIDE = 24, 400, 12
_LEAST, _LONG = 3, 120
_SAME = re.compile(
    r"\b(?:same|shared?|joint\w*|together|gleich\w*|selbe\w*|dasselbe|dieselbe\w*|denselben|gemeinsam\w*|zusammen|même\w*|ensemble|mism[oa]s?|juntos?|stess[oaie]|insieme"
    r"|mesm[oa]s?|zelfde|samen|samma|samme|sam[aey]\b|ten sam|to samo)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Crossed:
    """``text`` for ``path`` is of ``theirs``; the thing that ``beside`` names has ``meant`` in this ``field``, as ``mine`` shows."""

    path: str
    text: str
    field: str
    meant: str
    beside: str
    mine: Passage
    theirs: Passage
    agree: int


@dataclass(frozen=True, eq=False)
class _Seen:
    record: Record
    passage: Passage
    asked: frozenset[str]

    def of(self, path: str, text: str) -> str | None:
        """The field by which an argument identifies the record."""
        own = set(words_of(path.rpartition(".")[2]))
        for name, value in self.record.fields:
            if _same(value, text) and (identifier(text) is not None or own & set(words_of(name))):
                return name
        return None


def crossed(action: Action, requests: list[Passage], known: Doings) -> Crossed | None:
    """The first argument that is another thing's than the call names."""
    leaves = [(path, text.strip()) for path, text in action.leaves if 0 < len(text.strip()) <= _LONG]
    if action.run.kind != "tool" or len(leaves) < 2:
        return None
    people = "\n".join(known.own_words(one)[:8000] for one in requests)
    every: list[_Seen] | None = None
    for path, text in leaves:
        if len(text) < _LEAST or not (identifier(text) or " " in text) or text.lower() in people.lower():
            continue
        every = _seen(action, known) if every is None else every
        theirs = [(one, field) for one in every if (field := _field(one.record, text)) is not None and text.lower() not in one.asked]
        for where, beside in leaves:
            if theirs and where != path and not _same(beside, text):
                found = _look(action, (path, text), (where, beside), theirs, every, known)
                if found is not None and not _wanted(found, theirs[-1][0].record, every, people, known):
                    return found
    return None


def _look(
    action: Action, given: tuple[str, str], key: tuple[str, str], theirs: list[tuple[_Seen, str]], every: list[_Seen], known: Doings
) -> Crossed | None:
    (path, text), (where, beside) = given, key
    own = [one for one in every if one.of(where, beside) is not None]
    if not own or any(text.lower() in _all(one.record) for one in own):
        return None
    for other, field in reversed(theirs):
        mine = next((one for one in reversed(own) if one.record.get(field) is not None and _alike(one.record, other.record)), None)
        by = mine.of(where, beside) if mine is not None else None
        if mine is None or by is None or by == field:
            continue
        name = other.record.get(by)
        meant = mine.record.get(field) or ""
        if name is None or _same(name, beside) or _same(meant, text):
            continue
        if any(name.lower() in _all(one.record) for one in own) or any({name.lower(), beside.lower()} <= _all(one.record) for one in every):
            continue  # a record ties the two
        beside_it = [one for one in _others(action, known) if [at for at, _ in one.leaves] == [at for at, _ in action.leaves]]
        if any((path, meant) in one.leaves and (where, beside) in one.leaves for one in beside_it):
            return None  # it was put right
        agree = sum(_agrees(one, path, where, field, every) for one in beside_it)
        if not agree and (sets(action.name) or not _more(action, (path, where), mine.record, other.record)):
            continue
        return Crossed(path=path, text=text, field=field, meant=meant, beside=beside, mine=mine.passage, theirs=other.passage, agree=agree)
    return None


def _others(action: Action, known: Doings) -> list[Action]:
    near = (*known.actions_before(action.before)[-_BESIDE:], *known.actions_behind(action.before - 1, _BESIDE * 2))
    return [one for one in near if one is not action and one.name == action.name]


def _agrees(other: Action, path: str, where: str, field: str, every: list[_Seen]) -> bool:
    """Whether another call has in this argument what the record of its own thing has in the field."""
    given = dict(other.leaves)
    return any(
        one.of(where, given[where].strip()) is not None and _same(one.record.get(field) or "", given[path])
        for one in every
        if where in given and path in given
    )


def _more(action: Action, but: tuple[str, str], mine: Record, theirs: Record) -> bool:
    """Whether a further argument is of the thing that the call names, under its own name, and not of the other one."""
    return any(
        set(words_of(path.rpartition(".")[2])) & set(words_of(name)) and _same(value, text) and not _same(theirs.get(name) or "", text)
        for path, text in action.leaves
        if path not in but
        for name, value in mine.fields
    )


def _wanted(found: Crossed, theirs: Record, every: list[_Seen], people: str, known: Doings) -> bool:
    """Whether somebody meant it so."""
    prompts = "\n".join(
        passage.text[:8000] for passage in known.passages[:12] if passage.kind == "system" and not passage.position.endswith(".schema")
    )
    if _SAME.search(people) or found.text.lower() in prompts.lower():
        return True
    said = spoken(f"{people}\n{prompts}")
    mine = next(
        one.record for one in every if one.passage is found.mine and any(_same(text, found.beside) for _, text in one.record.fields)
    )
    for name, text in theirs.fields:
        own = mine.get(name) or ""
        named = [{word for word in spoken(one) if len(word) > 2} for one in (text, own)]
        if name != found.field and len(text) <= 40 and fold(text) != fold(own) and identifier(text) is None:
            only, others = named[0] - named[1], named[1] - named[0]
            if only and only <= said and not others & said:
                return True
    return False


def _seen(action: Action, known: Doings) -> list[_Seen]:
    found: list[_Seen] = []
    results = [one for one in known.recent(action.before, 120) if one.kind in ("tool_result", "document", "file", "memory")]
    for passage in results[-_NEAR:]:
        call = known.by_event.get(passage.event_id)
        if call is not None and call.name == action.name:
            continue  # what such a call answers says only what it was given
        asked = frozenset(text.strip().lower() for _, text in call.leaves) if call is not None else frozenset()
        found += [_Seen(record, passage, asked) for record in records(passage.text) if len(record.fields) > 1]
    return found[-_MOST:]


def _field(record: Record, text: str) -> str | None:
    return next((name for name, value in record.fields if _same(value, text)), None)


def _same(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()


def _all(record: Record) -> set[str]:
    return {text.lower() for _, text in (*record.fields, *record.listed, *record.outer)}


def _alike(one: Record, other: Record) -> bool:
    mine, theirs = {name for name, _ in one.fields}, {name for name, _ in other.fields}
    return mine == theirs or (len(mine & theirs) >= 3 and len(mine & theirs) * 3 >= len(mine | theirs) * 2)

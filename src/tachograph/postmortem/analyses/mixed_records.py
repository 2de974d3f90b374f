"""The arguments of one call come from two things of a kind: an item of the one, the address of the other.

Two records have the same fields and each its own identifier. What the person said has something of the one and nothing of the other, other than what both
have (a birth date, a town; a date also where its month is a word). One argument is of the first: it stands in its record, or in a result that was asked for
by it, or that names it. Another argument stands in the record of the second alone, where the first has another value. Where a record ties the two to
each other (a guardian, a payer), either may be right; so may both of a call that gives a thing what it is to have (``move``, ``assign``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.terms import terms
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.meaning.records import Record, records

from .whose import identifier, sets

if TYPE_CHECKING:
    from tachograph.postmortem.meaning.actions import Action, Doings
    from tachograph.postmortem.passages import Passage

#: Results and records that are looked at.
_NEAR, _MOST = 24, 400
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})\b|(\d{1,2})[./](\d{1,2})[./](\d{4})\b")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, kw_only=True)
class Mixed:
    """``text`` for ``path`` is of ``theirs``; ``meant`` is what ``mine`` has there, which ``beside``, another argument, is of."""

    path: str
    text: str
    meant: str
    beside: str
    by: str
    mine: Passage
    theirs: Passage


@dataclass(frozen=True, kw_only=True, eq=False)
class _Seen:
    """A record, with what its call asked for."""

    record: Record
    asked: frozenset[str]
    passage: Passage

    def names(self) -> frozenset[str]:
        """The identifiers that it stands with."""
        return self.asked | _names(self.record)


def mixed(action: Action, requests: list[Passage], known: Doings) -> Mixed | None:
    """The first argument that is of another thing than the others and the request."""
    short = [(path, text.strip()) for path, text in action.leaves if 3 <= len(text.strip()) <= 120]
    if len(short) < 2 or sets(action.name):
        return None
    every: list[_Seen] | None = None
    said = "\n".join(known.own_words(one)[:8000] for one in requests)
    for path, text in short:
        if text.lower() in said.lower() or not (identifier(text) or " " in text):
            continue
        every = _seen(action, known) if every is None else every
        theirs = [one for one in every if _field(one.record, text) is not None]
        if not theirs or len({_key(one.record) for one in theirs}) > 1:
            continue
        other = theirs[0]
        field = _field(other.record, text)
        for one in every:
            found = _of_other(action, path, text, field or "", one, other, said, every)
            if found is not None:
                return found
    return None


def _of_other(action: Action, path: str, text: str, field: str, one: _Seen, other: _Seen, said: str, every: list[_Seen]) -> Mixed | None:
    meant = one.record.get(field)
    if one is other or meant is None or meant.lower() == text.lower() or not _of_a_kind(one.record, other.record):
        return None
    mine, theirs = _own(one.record, other.record, field)
    if not mine or mine in _names(other.record) or theirs in _names(one.record):
        return None
    by = _tie(one.record, other.record, field, said)
    if by is None or _tie(other.record, one.record, field, said) is not None:
        return None
    if any({mine, theirs} <= _names(each.record) for each in every):
        return None
    rest = [value for where, leaf in action.leaves if where != path and (value := identifier(leaf)) is not None]
    if theirs in rest or text.lower() in rest:
        return None
    for value in rest:
        of = [each.names() for each in every if value in _names(each.record)]
        if any(mine in names for names in of) and not any(theirs in names for names in of):
            return Mixed(path=path, text=text, meant=meant, beside=value, by=by, mine=one.passage, theirs=other.passage)
    return None


def _seen(action: Action, known: Doings) -> list[_Seen]:
    found: list[_Seen] = []
    results = [one for one in known.recent(action.before, 120) if one.kind in ("tool_result", "document", "file", "memory")]
    for passage in results[-_NEAR:]:
        call = known.by_event.get(passage.event_id)
        asked = frozenset(one for _, text in call.leaves if (one := identifier(text)) is not None) if call is not None else frozenset()
        found += [_Seen(record=record, asked=asked, passage=passage) for record in records(passage.text) if record.fields]
    return found[-_MOST:]


def _names(record: Record) -> frozenset[str]:
    return frozenset(one for _, text in (*record.fields, *record.listed, *record.outer) if (one := identifier(text)) is not None)


def _field(record: Record, text: str) -> str | None:
    return next((name for name, item in record.fields if item.lower() == text.lower()), None)


def _key(record: Record) -> str | None:
    return next((one for _, text in record.fields if (one := identifier(text)) is not None), None)


def _of_a_kind(one: Record, other: Record) -> bool:
    mine, theirs = {name for name, _ in one.fields}, {name for name, _ in other.fields}
    return len(mine & theirs) >= 3 and len(mine & theirs) * 3 >= len(mine | theirs) * 2


def _own(one: Record, other: Record, field: str) -> tuple[str, str]:
    """The identifiers by which two records differ first."""
    for name, text in one.fields:
        mine, theirs = identifier(text), identifier(other.get(name) or "")
        if name != field and mine is not None and theirs is not None and mine != theirs and "@" not in mine:
            return mine, theirs
    return "", ""


def _tie(one: Record, other: Record, field: str, said: str) -> str | None:
    """What a record has that was said, and that the other one has not."""
    spoken = _words(said)
    for name, text in one.fields:
        theirs = other.get(name) or ""
        if name == field or text == theirs or len(text) > 80:
            continue
        date = _DATE.fullmatch(text[:10])
        if date is not None:
            year, _, day = (int(part) for part in (date.group(1, 2, 3) if date[1] else date.group(6, 5, 4)))
            if str(year) in spoken and any(
                one in spoken for one in (str(day), f"{day:02}", f"{day}th", f"{day}st", f"{day}nd", f"{day}rd")
            ):
                return text
            continue
        own = [word for word in _WORD.findall(fold(text)) if len(word) > 3 and word not in _words(theirs)]
        if (identifier(text) or "").lower() in spoken or (own and len(own) <= 4 and all(word in spoken for word in own)):
            return text
    return None


@remembered
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold(text))) | frozenset(terms(text))

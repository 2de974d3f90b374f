"""A text that another one had replaced, and that was followed all the same.

Cause: of two entries that came in (articles, bulletins, records of one result or of several), one says that it replaces the other, or that the other is
withdrawn. Consequence: an effect has a value of the replaced one that the new one does not have, and none of those that are new in it; or an answer names
the replaced one as what it went by.

First event: what brought in the replaced one. It cannot see two texts that contradict each other without saying so (``stale_result`` looks at equal words
with other numbers).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.sieve import Sieve
from tachograph.postmortem.language.terms import identifiers, terms
from tachograph.postmortem.meaning.actions import Action, Reply, doings
from tachograph.postmortem.meaning.citing import said

from .contract import LIKELY, STRONG, Analysis, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

NAME = "superseded_text"

#: “… replaces KB 12”: what stands behind is replaced.
_REPLACES = re.compile(
    r"\b(?:replac(?:es|ing)|supersed(?:es|ing)|in place of|instead of|corrects|revok(?:es|ing)|withdraws?|cancels|obsoletes|overrides|updates|takes precedence over|ersetzt|remplace|reemplaza|sostituisce)\b",
    re.IGNORECASE,
)
#: “KB 12 is withdrawn”: what stands before is replaced.
_REPLACED = re.compile(
    r"\b(?:(?:is|are|was|were|has been|have been) )?(?:now )?(?:withdrawn|superseded|obsolete|replaced|outdated|deprecated|revoked|void|retired|no longer (?:valid|applies|in force|current)|out of date)\b",
    re.IGNORECASE,
)
#: “never 9.5”, “no longer 3.1”: a new text speaks of the old one's value, and warns of it.
_WARNS = re.compile(
    r"\b(?:never|not|no longer|don't|avoid|instead of|rather than|nicht|nunca|jamais)\b([^.;,!\n]{1,60}(?:\.\d[^.;,!\n]{0,40})?)",
    re.IGNORECASE,
)
_GIST = Sieve(
    re.compile(
        r"withdrawn|supersed|obsolete|replac|deprecat|revok|outdated|no longer|in place of|instead of|corrects|cancels|overrides|updates|void|retired|precedence|ersetzt|remplace|reemplaza|sostituisce|out of date",
        re.IGNORECASE,
    ),
    "cancels|corrects|deprecat|ersetzt|in place of|instead of|no longer|obsolete|out of date|outdated|overrides|precedence|reemplaza|remplace|replac|retired|revok|sostituisce|supersed|updates|void|withdrawn",
)
_NEAR = 60
#: Entries of one session that are compared, and characters of one.
_MOST, _LONG = 400, 4000


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """``names``: by which others speak of it; ``place``: of its passage."""

    passage: Passage
    place: int
    text: str
    names: frozenset[str]
    terms: frozenset[str]


def run(case: Case) -> Iterator[Finding]:
    """At most one finding for each replaced entry."""
    known = doings(case)
    found: list[_Entry] = []
    if not any(_GIST.search(passage.text[:50_000]) for passage in known.passages if passage.kind != "model"):
        return
    for place, passage in enumerate(known.passages):
        if passage.kind != "model" and passage.text and len(found) < _MOST:
            found += [_entry(passage, place, text) for text in _texts(passage.text)]
    told: set[tuple[int, str]] = set()
    for new in found:
        gone = _gone(new.text)
        for old in found if gone else ():
            if old is new or not (old.names & gone) or old.names & new.names or (old.place, old.text) in told:
                continue
            made = _followed(case, old, new)
            if made is not None:
                told.add((old.place, old.text))
                yield made


def _texts(text: str) -> list[str]:
    """The entries of a text: the objects of a JSON list, else its paragraphs."""
    value = parsed(text[:200_000])
    if isinstance(value, dict | list):
        return [one for one in _objects(value, 0) if one][:_MOST]
    return [piece.strip()[:_LONG] for piece in re.split(r"\n\s*\n", text[:100_000]) if piece.strip()][:_MOST]


def _objects(value: object, depth: int) -> Iterator[str]:
    if depth > 6:
        return
    if isinstance(value, dict):
        plain = [str(item) for item in value.values() if isinstance(item, str | int | float) and not isinstance(item, bool)]
        if len(plain) >= 2:
            yield "\n".join(plain)[:_LONG]
        for item in value.values():
            yield from _objects(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item, depth + 1)


def _entry(passage: Passage, place: int, text: str) -> _Entry:
    head = text.split("\n", 1)[0][:_NEAR]
    cut = _REPLACES.search(head)
    head = head[: cut.start()] if cut else head
    label = re.split(r"[:(]|\.\s", head, maxsplit=1)[0]
    names = identifiers(label) or identifiers(head)
    return _Entry(passage=passage, place=place, text=text, names=names, terms=frozenset(terms(text)))


def _gone(text: str) -> frozenset[str]:
    """The names of what an entry says is replaced."""
    names: set[str] = set()
    for match in _REPLACES.finditer(text):
        names |= identifiers(text[match.end() : match.end() + _NEAR])
    for match in _REPLACED.finditer(text):
        names |= identifiers(text[max(match.start() - _NEAR, 0) : match.start()].rpartition(". ")[2])
    return frozenset(names)


def _followed(case: Case, old: _Entry, new: _Entry) -> Finding | None:
    known = doings(case)
    warned = frozenset(term for match in _WARNS.finditer(new.text) for term in terms(match[1]))
    mine = {term for term in (old.terms - new.terms) | (old.terms & warned) if _telling(term)} - old.names
    theirs = {term for term in new.terms - old.terms if _telling(term)} - new.names - warned
    since = max(old.place, new.place)
    for action in known.actions:
        if action.effect is None or action.before <= since:
            continue
        used = sorted(action.terms & mine)
        if used and not action.terms & theirs:
            return _finding(old, new, STRONG, action, f"with {said(used[0])}")
    if not any(action.effect is not None and action.before > since for action in known.actions):
        return None
    for reply in known.replies:
        named = sorted(old.names & identifiers(reply.text))
        if reply.before > since and named and not new.names & identifiers(reply.text) and not _gone(reply.text) & old.names:
            return _finding(old, new, LIKELY, reply, f"naming {said(named[0])}")
    return None


def _telling(term: str) -> bool:
    """Whether a term is a value: a number, an amount, a version, a code."""
    return any(character.isdigit() for character in term) and len(term) <= 40


def _finding(old: _Entry, new: _Entry, sure: float, what: Action | Reply, how: str) -> Finding:
    source, other = old.passage, new.passage
    return Finding(
        cause="context", analysis=NAME, confidence=sure, first_event=source.event_id, first_seq=source.seq,
        evidence=(
            Evidence(event_id=source.event_id, seq=source.seq, what=f"it says {said(old.text)}"),
            Evidence(event_id=other.event_id, seq=other.seq, what=f"it replaces that: {said(new.text)}"),
            what.cite(f"it was followed, {how}"),
        ),
        statement=f"What was followed had been replaced: {said(old.text)} was gone by, {how}, although {said(new.text)} stood beside it.",
    )  # fmt: skip


ANALYSIS = Analysis(name=NAME, looks_for="a text that another one had replaced, and that was followed all the same", run=run)

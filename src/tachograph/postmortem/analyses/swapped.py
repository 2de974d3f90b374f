"""Results that were given to the wrong call, of calls that are seen on the wire alone: nothing says what such a call returned by itself.

Two things do. The exchanges of the same answer: one call's argument stands in the address or the body of one exchange, another call's in those of
another, and the first call was told what the other's exchange returned (all of it: it is proven; or what sets the two returns apart). And the results
themselves: each names what the other call was asked about, and not what its own was.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import terms, values
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.values import plain, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.meaning.actions import Action, Doings

#: Characters of a result that are looked at; calls of one answer, and exchanges of it.
_READ, _CALLS, _EXCHANGES = 50_000, 12, 48
_PIECES = re.compile(r"[/?&=#;,]+")


@dataclass(frozen=True, kw_only=True)
class Swapped:
    """``run`` was given another call's result. ``proven``: by what an exchange returned, to the letter."""

    run: Run
    proven: bool
    evidence: tuple[Evidence, ...]
    statement: str


def swapped(known: Doings) -> Iterator[Swapped]:
    """The calls that were given another one's result, in order; of those that were given each other's the first."""
    for actions in known.by_step.values():
        together = sorted((one for one in actions if one.step is not None and _on_the_wire(one)), key=lambda one: one.run.seq)
        if not 2 <= len(together) <= _CALLS:
            continue
        found = next(_by_exchanges(together, actions), None) or next(_by_names(together), None)
        if found is not None:
            yield found


def _on_the_wire(action: Action) -> bool:
    return action.run.kind == "tool" and action.run.output.there and not action.run.given.there and action.run.outcome == "ok"


@lru_cache(maxsize=1024)
def bare(text: str) -> str:
    """A result without its form: the same for the same values."""
    value = parsed(text)
    return json.dumps(plain(value), sort_keys=True) if not isinstance(value, str) else "".join(text.split())


# -- by the exchanges ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Exchange:
    run: Run
    names: frozenset[str]
    returned: str


def _by_exchanges(together: list[Action], actions: list[Action]) -> Iterator[Swapped]:
    made = [_Exchange(run, _asked_about(run), bare(run.output.text()[:_READ])) for run in _exchanges(actions)]
    if len(made) < 2:
        return
    about = [frozenset(text.strip().lower() for _, text in one.leaves if len(text) <= 80) for one in together]
    for at, one in enumerate(together):
        told, elsewhere = (
            bare(one.run.output.text()[:_READ]),
            frozenset().union(*(about[place] for place in range(len(about)) if place != at)),
        )
        own_alone = about[at] - elsewhere
        if any(each.returned == told and each.names & own_alone and not each.names & elsewhere for each in made):
            continue  # it was told what was fetched for it alone
        for place, other in enumerate(together):
            mine, theirs = about[at] - about[place], about[place] - about[at]
            if place == at or not mine or not theirs:
                continue
            own = [each for each in made if each.names & mine and not each.names & theirs]
            others = [each for each in made if each.names & theirs and not each.names & mine]
            if not own or not others:
                continue
            whole = next((each for each in others if each.returned == told), None)
            by = whole or _told_apart(one, other, own, others)
            if by is None or len(told) < 2 or any(each.returned == told for each in own):
                continue
            yield _of(
                one, whole is not None,
                Evidence(event_id=own[0].run.event_id, seq=own[0].run.seq, what="what was fetched for it returned something else"),
                Evidence(event_id=by.run.event_id, seq=by.run.seq, what="what the model was told of it was returned by this"),
                f"The model was told as the result of {quoted(one.run.title, 90)} what {quoted(by.run.title, 90)} returned, which was made for {quoted(other.run.title, 90)}.",
            )  # fmt: skip


def _told_apart(one: Action, other: Action, own: list[_Exchange], others: list[_Exchange]) -> _Exchange | None:
    """The exchange of the other call, where all that sets the two returns apart was told the wrong way round, of both calls."""
    if len(own) != 1 or len(others) != 1:
        return None
    mine, theirs = (frozenset(terms(each[0].returned)) for each in (own, others))
    told, told_other = (frozenset(terms(each.run.output.text()[:_READ])) for each in (one, other))
    crossed = told & theirs - mine and told_other & mine - theirs
    return others[0] if crossed and not told & mine - theirs and not told_other & theirs - mine else None


def _exchanges(actions: list[Action]) -> list[Run]:
    waiting: list[Any] = [action.run for action in actions]
    found: list[Run] = []
    while waiting and len(found) < _EXCHANGES:
        run = waiting.pop(0)
        if isinstance(run, Run):
            waiting += run.children
            if run.kind == "http" and run.outcome == "ok" and run.output.there:
                found.append(run)
    return sorted(found, key=lambda run: run.seq)


def _asked_about(run: Run) -> frozenset[str]:
    """What an exchange's address and body name."""
    address = run.title.partition("://")[2] or run.title
    pieces = [unquote_plus(piece) for piece in _PIECES.split(address[:4000])[1:]]
    given = run.input.value
    body = given.get("body", given) if isinstance(given, dict) else given
    value = parsed(run.input.text()[:20_000]) if isinstance(body, bytes | str) or body is None else body
    pieces += [text for _, text in values(value)][:400]
    return frozenset(piece.strip().lower() for piece in pieces if len(piece) <= 80) | frozenset(
        term for piece in pieces if len(piece) <= 80 for term in terms(piece)
    )


# -- by what they name -----------------------------------------------------------------------------------------------------------


def _by_names(together: list[Action]) -> Iterator[Swapped]:
    texts = [action.run.output.text()[:_READ] for action in together]
    subjects = [_subject(action) for action in together]
    for at, one in enumerate(together):
        for place in range(at + 1, len(together)):
            other = together[place]
            if one.run.name != other.run.name or not (_may_name(texts[place], subjects[at]) and _may_name(texts[at], subjects[place])):
                continue
            results = {which: frozenset(terms(texts[which])) for which in (at, place)}
            if subjects[at].isdisjoint(results[place]) or subjects[place].isdisjoint(results[at]):
                continue
            mine, theirs = subjects[at] - subjects[place], subjects[place] - subjects[at]
            if mine & results[place] and theirs & results[at] and not mine & results[at] and not theirs & results[place]:
                yield _of(
                    one, False, one.cite(f"its result speaks of {min(theirs)}"), other.cite(f"and this one's of {min(mine)}"),
                    f"The results of {quoted(one.run.title, 90)} and {quoted(other.run.title, 90)} were given to the model the wrong way round.",
                )  # fmt: skip


def _of(one: Action, proven: bool, first: Evidence, second: Evidence, statement: str) -> Swapped:
    return Swapped(run=one.run, proven=proven, evidence=(first, second), statement=statement)


def _subject(action: Action) -> frozenset[str]:
    """What a call was asked about: its short arguments."""
    return frozenset(term for _, text in action.leaves if len(text) <= 80 for term in terms(text) if len(term) > 2)


def _may_name(text: str, subject: frozenset[str]) -> bool:
    """A quick look at whether any of these terms can be one of a text's: a number may be written in another way, anything else stands there as it is."""
    lowered = text.lower()
    return not text.isascii() or any(term[:1] in "+-0123456789" or term in lowered for term in subject)

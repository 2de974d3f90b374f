"""The right kind of value, of the wrong thing: an argument that was copied from another record or an earlier request; a similar tool that was not meant.

* *Another record*. An effect's identifying argument stands in a record (an order, a row, a line) that is not the one which the request is about, while the
  record that the request names has another value under the same name.
* *Another one than it speaks of*. What the model says of an act (beside it, or in the answer) names one record and no other, as the request does; the act
  used the number of another record of the same kind, and none used that of the one it speaks of.
* *An earlier request*. It is what a person named in an earlier turn; in the turn at hand they named another of the same form, and no call uses it.
* *Another tool*. The person asked for what one tool's name says (``archive``), and a tool was called that shares its object (``delete_project``), not its
  verb; the one that was named is offered and was not called.

*Consequence*: the effect. First event: the call.

*Cannot see*: which record was meant where the request names none; two records that differ in nothing that the request names.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.values import quoted

from .actions import Action, Doings, doings
from .citing import said
from .computed import is_number, shape
from .contract import LIKELY, STRONG, Analysis, Finding
from .effects import words_of
from .records import Record, records
from .terms import identifiers, names_one, terms, words
from .verbs import is_verb, stem, stems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

#: Results behind which a record is no longer looked for.
_NEAR = 24


def find(case: Case) -> Iterator[Finding]:
    """What each rule finds, one finding for each call."""
    known = doings(case)
    for action in known.actions:
        if action.effect is None or action.step is None:
            continue
        requests = known.users(action.before)
        if not requests:
            continue
        found = (
            _another_record(action, requests, known)
            or _not_the_one_spoken_of(action, requests, known)
            or _earlier_request(action, requests, known)
            or _another_tool(action, requests, known)
        )
        if found is not None:
            yield found


def _finding(action: Action, confidence: float, statement: str, *evidence: Evidence) -> Finding:
    return Finding(
        cause="tool", analysis="wrong_argument", confidence=confidence, first_event=action.run.event_id, first_seq=action.run.seq,
        evidence=(*evidence, action.cite("what was done")), statement=statement,
    )  # fmt: skip


# -- another record --------------------------------------------------------------------------------------------------------------


def _another_record(action: Action, requests: list[Passage], known: Doings) -> Finding | None:
    request = requests[-1]
    asked = _named_by(request, known)
    spoken = words(known.own_words(request))
    everything = frozenset().union(*(_named_by(one, known) for one in requests))
    results = [passage for passage in known.recent(action.before, 120) if passage.kind in ("tool_result", "document", "file", "memory")][
        -_NEAR:
    ]
    for path, text in action.leaves:
        value = _one(text)
        if value is None or value in everything:
            continue
        theirs: tuple[Passage, Record, str] | None = None
        mine: tuple[Passage, Record, str] | None = None
        clean, most = True, 0
        for passage in results:
            found = records(passage.text)
            # A single record is about what its call asked for.
            calls = (
                (known.by_event[passage.event_id].terms if passage.event_id in known.by_event else frozenset())
                if len(found) == 1
                else frozenset()
            )
            for record in found:
                key = next((name for name, item in record.fields if _one(item) == value), None)
                about = (
                    _tells_apart(record, asked)
                    + len(calls & asked)
                    + sum(len(item) > 3 and item.lower() in spoken for _, item in record.fields)
                )
                if key is not None:
                    if about:
                        clean = False
                        break
                    theirs = theirs or (passage, record, key)
                elif about and (mine is None or about > most):
                    mine, most = (passage, record, ""), about
            if not clean:
                break
        if not clean or theirs is None or mine is None:
            continue
        meant = mine[1].get(theirs[2])
        if meant is None or _one(meant) is None or _one(meant) == value or not _rival(theirs[1], mine[1]):
            continue
        return _finding(
            action, STRONG + 0.04,
            f"{quoted(action.run.title, 100)} was given {said(text)} for {path}, which belongs to another record; the one that was asked about has {said(meant)}.",
            Evidence(event_id=request.event_id, seq=request.seq, what=f"the request: {said(request.text)}"),
            Evidence(event_id=theirs[0].event_id, seq=theirs[0].seq, what=f"{text} stands in the record of another"),
            Evidence(event_id=mine[0].event_id, seq=mine[0].seq, what=f"the record that was asked about has {meant}"),
        )  # fmt: skip
    return None


def _not_the_one_spoken_of(action: Action, requests: list[Passage], known: Doings) -> Finding | None:
    assert action.step is not None
    spoken: list[str] = []
    for reply in known.replies_behind(action.before - 1, 12):
        if reply.step.number < action.step.number or reply.step.seq > action.step.seq + 400:
            continue
        if reply.step.number > action.step.number and not reply.rests:
            continue
        spoken.append(reply.text[:4000])
        if reply.rests:
            break
    if not spoken:
        return None
    words_said = frozenset(piece for text in spoken for term in terms(text) for piece in _pieces(term))
    words_asked = frozenset(piece for one in requests[-2:] for term in terms(known.own_words(one)[:8000]) for piece in _pieces(term))
    for path, text in action.leaves:
        value = _one(text)
        if value is None or is_number(value) or value in words_said or value in words_asked:
            continue
        things = _things(value, known.recent(action.before, 120))
        if value not in things:
            continue
        others = {name: marks for name, (marks, _) in things.items() if name != value}
        mine, where = things[value]
        for name, marks in others.items():
            only, theirs = marks - mine, mine - marks
            rest = frozenset().union(*(more for other, more in others.items() if other != name)) if len(others) > 1 else frozenset()
            only -= rest
            if not (only & words_said and only & words_asked) or theirs & words_said:
                continue
            acts = (*known.actions_before(action.before), *known.actions_behind(action.before - 1))
            if len(only & words_asked) <= len(theirs & words_asked) or any(name in one.terms and one.name == action.name for one in acts):
                continue
            told = sorted(only & words_said & words_asked) or sorted(only & words_said)
            seen = things[name][1]
            return _finding(
                action, STRONG + 0.02,
                f"{quoted(action.run.title, 100)} was given {said(text)} for {path}, which is another's; the request and the answer speak of {told[0]}, which is {name}.",
                Evidence(event_id=where.event_id, seq=where.seq, what=f"whose {text} is"),
                Evidence(event_id=seen.event_id, seq=seen.seq, what=f"whose {name} is"),
            )  # fmt: skip
    return None


def _pieces(term: str) -> tuple[str, ...]:
    return (term, *(piece for piece in term.replace("_", "-").split("-") if len(piece) > 3)) if "-" in term or "_" in term else (term,)


def _things(value: str, passages: tuple[Passage, ...]) -> dict[str, tuple[frozenset[str], Passage]]:
    """What results call the things that have an identifier of this one's form under the same name: by identifier, the names and numbers in all their
    records, and where one stood first."""
    found: dict[str, tuple[frozenset[str], Passage]] = {}
    results = [passage for passage in passages if passage.kind in ("tool_result", "document", "file", "memory")][-_NEAR:]
    every = [(passage, record) for passage in results for record in records(passage.text)]
    keys = {name for _, record in every for name, item in record.fields if _one(item) == value}
    for passage, record in every:
        for key in keys:
            own = _one(record.get(key) or "")
            if own is None or shape(own) != shape(value):
                continue
            marks = frozenset(
                piece
                for name, item in record.fields
                if len(item) <= 80
                for word in item.split()
                if word[:1].isupper() or any(character.isdigit() for character in word)
                for term in terms(word.strip(".,;:()"))
                for piece in _pieces(term)
                if len(piece) > 2
            )
            known = found.get(own)
            found[own] = (known[0] | marks, known[1]) if known is not None else (marks, passage)
    return found


@lru_cache(maxsize=16384)
def _one(text: str) -> str | None:
    """A text that is one identifier, in its common form."""
    found = terms(text.strip()) if len(text) <= 80 else ()
    if len(found) == 1 and (names_one(found[0]) or (is_number(found[0]) and len(found[0]) >= 2)):
        return found[0]
    return None


def _named_by(passage: Passage, known: Doings) -> frozenset[str]:
    """What a request names: identifiers, and words with a capital letter."""
    return _names(known.own_words(passage))


@lru_cache(maxsize=4096)
def _names(text: str) -> frozenset[str]:
    found = set(identifiers(text))
    sentence_start = True
    for word in text.split():
        bare = word.strip(".,;:!?()[]\"'“”’")
        bare = bare.removesuffix("'s").removesuffix("’s")
        if len(bare) > 1 and bare[0].isupper() and not sentence_start and bare.lower() not in _PLAIN:
            found.add(bare.lower())
        if bare.isdigit() and len(bare) >= 2:
            found.add(bare)
        sentence_start = word.endswith((".", "!", "?", ":"))
    return frozenset(found)


_PLAIN = frozenset(
    [
        "i",
        "please",
        "the",
        "a",
        "an",
        "and",
        "eur",
        "usd",
        "gbp",
        "ok",
        "no",
        "yes",
        "id",
        "ids",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ]
)


def _tells_apart(record: Record, asked: frozenset[str]) -> int:
    """How much of what a request names a record has."""
    own = record.terms | {piece for term in record.terms for piece in term.replace("-", " ").replace("_", " ").split()}
    return len(own & asked)


def _rival(one: Record, other: Record) -> bool:
    """Whether two records are of one kind: they have the same fields."""
    mine, theirs = {name for name, _ in one.fields}, {name for name, _ in other.fields}
    return len(mine & theirs) * 2 > min(len(mine), len(theirs))


# -- an earlier request ----------------------------------------------------------------------------------------------------------


def _earlier_request(action: Action, requests: list[Passage], known: Doings) -> Finding | None:
    if len(requests) < 2:
        return None
    latest = requests[-1]
    near = (*known.actions_before(action.before), *known.actions_behind(action.before - 1))
    now = identifiers(known.own_words(latest))
    for path, text in action.leaves:
        value = _one(text)
        if value is None or is_number(value) or value in now:
            continue
        source = next((one for one in requests[:-1] if value in identifiers(known.own_words(one))), None)
        rivals = sorted(one for one in now if shape(one) == shape(value))
        if source is None or not rivals:
            continue
        used = {term for other in near if other.step is not None and other.run.seq > latest.seq for term in other.identifiers}
        between = [
            p
            for p in known.recent(action.before)
            if p.kind != "user" and p.seq > latest.seq and value in identifiers(p.text[:20_000]) and p.kind != "model"
        ]
        if rivals[0] in used and any(rivals[0] in other.identifiers and other.run.name == action.run.name for other in near):
            continue
        if between and rivals[0] in used:
            continue
        return _finding(
            action, STRONG,
            f"{quoted(action.run.title, 100)} was given {said(text)} for {path}, from an earlier request; the one at hand names {rivals[0]}.",
            Evidence(event_id=source.event_id, seq=source.seq, what=f"the earlier request names {text}"),
            Evidence(event_id=latest.event_id, seq=latest.seq, what=f"the request at hand: {said(latest.text)}"),
        )  # fmt: skip
    return None


# -- another tool ----------------------------------------------------------------------------------------------------------------


def _another_tool(action: Action, requests: list[Passage], known: Doings) -> Finding | None:
    assert action.step is not None
    if action.run.kind != "tool":
        return None
    mine = {stem(word) for word in words_of(action.name)}
    latest = requests[-1]
    spoken = stems(known.own_words(latest))
    doing = {one for one in mine if is_verb(one)}
    if not doing or doing & spoken:
        return None
    later = [
        other
        for other in (*known.actions_before(action.before), *known.actions_behind(action.before - 1))
        if other.run.seq > latest.seq or (other.step is not None and other.step.seq > latest.seq)
    ]
    for name in action.step.seen.tools:
        theirs = {stem(word) for word in words_of(name)}
        if name == action.name or not theirs & mine - {one for one in theirs & mine if is_verb(one) and len(theirs & mine) > 1}:
            continue
        other_doing = {one for one in theirs - mine if is_verb(one)}
        if other_doing and other_doing <= spoken and mine - theirs <= doing and not any(one.run.name == name for one in later):
            return _finding(
                action, LIKELY + 0.05,
                f"{action.name} was called where the request asks for what {name} is for ({said(latest.text)}).",
                Evidence(event_id=latest.event_id, seq=latest.seq, what=f"the request: {said(latest.text)}"),
            )  # fmt: skip
    return None


ANALYSIS = Analysis(
    name="wrong_argument", looks_for="an argument of another record or an earlier request; a similar tool that was not meant", run=find
)

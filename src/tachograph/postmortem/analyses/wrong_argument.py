"""The right kind of value, of the wrong thing: an argument that was copied from another record or an earlier request; a similar tool that was not meant.

* *Another record*. An effect's identifying argument stands in a record (an order, a row, a line) that is not the one which the request is about, while the
  record that the request names has another value under the same name.
* *Of two things*. One argument is of the thing that the request is about, another one of another thing of its kind (``mixed_records.py``).
* *A field of another*. One argument names a thing that was read, another one is a field of another thing's record (``crossed_records.py``).
* *Another one than it speaks of*. What the model says of an act (beside it, or in the answer) names one record and no other, as the request does; the act
  used the number of another record of the same kind, and none used that of the one it speaks of.
* *An earlier request*. It is what a person named in an earlier turn; in the turn at hand they named another of the same form, and no call uses it.
* *Another tool*. The person asked for what one tool's name says (``archive``), and a tool was called that shares its object (``delete_project``), not its
  verb; the one that was named is offered and was not called (``asked_tool.py``).
* *Another target*. The person named one of two tools, or of two values of an argument, that differ in the target alone (``exec_staging``); the other
  one was used (``siblings.py``).

*Consequence*: the effect. First event: the call.

*Cannot see*: which record was meant where the request names none; two records that differ in nothing that the request names.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.computed import is_number, shape
from tachograph.postmortem.language.counts import of_everything
from tachograph.postmortem.language.terms import identifiers, names_one, terms, words
from tachograph.postmortem.language.verbs import stems
from tachograph.postmortem.meaning.actions import Action, Doings, doings
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.records import Record, records
from tachograph.postmortem.values import quoted

from .asked_tool import other_asked
from .contract import LIKELY, STRONG, Analysis, Finding
from .crossed_records import crossed
from .mixed_records import mixed
from .siblings import other_meant
from .whose import Thing, identifier, spoken, things

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

#: Results behind which a record is no longer looked for, and requests behind which what was meant is not.
_NEAR, _ASKED = 24, 6
#: Of how many things of a kind a name can be, and still say which are meant.
_SHARED = 3
_SENTENCE = re.compile(r"[.!?;\n]+(?=\s|\Z)")
_CLAUSE = re.compile(r"[.!?;:\n]+(?=\s|\Z)|[;\n]|,\s")
#: What stands with a thing that a request names and leaves out.
_EXCEPT = re.compile(
    r"\b(?:except\w*|exclud\w*|apart from|other than|not|don't|don’t|never|without|unless|instead of|rather than|stays?|remains?|keep|leave|skip"
    r"|außer|ausser|ausgenommen|nicht|ohne|bleib\w*|statt|behalte\w*|sauf|excepté|hormis|pas|sans|reste\w*|garde\w*|excepto|salvo|menos|sin|qued\w*|eccetto|tranne|non|senza|resta\w*|rimane"
    r"|behalve|niet|zonder|blijft|exceto|não|sem|fica)\b",
    re.IGNORECASE,
)


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
            or _of_two(action, requests, known)
            or _of_another(action, requests, known)
            or _not_the_one_spoken_of(action, requests, known)
            or _earlier_request(action, requests, known)
            or _another_tool(action, requests, known)
            or _another_target(action, requests, known)
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
    own = known.own_words(request)
    asked = _named_by(request, known)
    in_words = words(own)
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
                    + sum(len(item) > 3 and item.lower() in in_words for _, item in record.fields)
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
        names = (mine[1].terms & asked) | {item.lower() for _, item in mine[1].fields if item.lower() in in_words}
        if _one_of_several(action, path, own, frozenset(names) | _of_words(mine[1], own), request, known):
            continue
        return _finding(
            action, STRONG + 0.04,
            f"{quoted(action.run.title, 100)} was given {said(text)} for {path}, which belongs to another record; the one that was asked about has {said(meant)}.",
            Evidence(event_id=request.event_id, seq=request.seq, what=f"the request: {said(request.text)}"),
            Evidence(event_id=theirs[0].event_id, seq=theirs[0].seq, what=f"{text} stands in the record of another"),
            Evidence(event_id=mine[0].event_id, seq=mine[0].seq, what=f"the record that was asked about has {meant}"),
        )  # fmt: skip
    return None


def _of_two(action: Action, requests: list[Passage], known: Doings) -> Finding | None:
    found = mixed(action, requests[-_ASKED:], known)
    if found is None:
        return None
    return _finding(
        action, STRONG + 0.04,
        f"{quoted(action.run.title, 100)} was given {said(found.text)} for {found.path}, which stands in another record than {said(found.beside)} is of; the one "
        f"that was asked about ({said(found.by)}) has {said(found.meant)}.",
        Evidence(event_id=found.theirs.event_id, seq=found.theirs.seq, what=f"whose {found.text} is"),
        Evidence(event_id=found.mine.event_id, seq=found.mine.seq, what=f"the record that was asked about has {found.meant}"),
    )  # fmt: skip


def _of_another(action: Action, requests: list[Passage], known: Doings) -> Finding | None:
    found = crossed(action, requests[-_ASKED:], known)
    if found is None:
        return None
    calls = (
        f"; {found.agree} other call{'s' if found.agree > 1 else ''} of this tool took it from the thing that {'they name' if found.agree > 1 else 'it names'}"
        if found.agree
        else ""
    )
    return _finding(
        action, STRONG + 0.04,
        f"{quoted(action.run.title, 100)} was given {said(found.text)} for {found.path}, which is the {found.field} of another record; {said(found.beside)}, which it"
        f" names, has {said(found.meant)}{calls}.",
        Evidence(event_id=found.theirs.event_id, seq=found.theirs.seq, what=f"whose {found.field} is {found.text}"),
        Evidence(event_id=found.mine.event_id, seq=found.mine.seq, what=f"the record of {found.beside} has {found.meant}"),
    )  # fmt: skip


def _not_the_one_spoken_of(action: Action, requests: list[Passage], known: Doings) -> Finding | None:
    said_of = _said_of(action, known)
    answer = spoken(action.run.output.text()[:4000])
    if not said_of and not answer:
        return None
    for path, text in action.leaves:
        value = identifier(text)
        if value is None or any(value in spoken(known.own_words(one)[:8000]) for one in requests[-_ASKED:]):
            continue
        every = things(path, value, action, known)
        if len(every) < 2:
            continue
        rest = {other for where, other in action.leaves if where != path}
        common = Counter(mark for thing in every.values() for mark in thing.marks)
        many = frozenset(mark for mark, count in common.items() if count > _SHARED)
        for name, thing in every.items():
            if name != value and (found := _meant(thing, every[value], many, action, path, rest, requests, said_of, answer, known)):
                return _finding(
                    action, STRONG + (0.05 if found[1] else 0.02),
                    f"{quoted(action.run.title, 100)} was given {said(text)} for {path}, which is another's; the request"
                    f"{' and the answer speak' if found[2] else ' speaks'} of {found[0]}, which is {name}.",
                    Evidence(event_id=every[value].seen.event_id, seq=every[value].seen.seq, what=f"whose {text} is"),
                    Evidence(event_id=thing.seen.event_id, seq=thing.seen.seq, what=f"whose {name} is"),
                )  # fmt: skip
    return None


def _meant(
    thing: Thing, given: Thing, many: frozenset[str], action: Action, path: str, rest: set[str], requests: list[Passage],
    said_of: list[frozenset[str]], answer: frozenset[str], known: Doings,
) -> tuple[str, bool, bool] | None:  # fmt: skip
    """Whether a thing was meant where another was given: a name by which the request knows it, whether the effect's own answer names the other one, and
    whether what was said of the act names the one that was meant. ``None`` where it was not, or nobody can say."""
    mine, theirs = thing.marks - given.marks - many, given.marks - thing.marks
    by_other = theirs - {given.name}
    if any(identifier(text) in (thing.beside - given.beside) | {thing.name} for text in rest):
        return None  # another argument says that it is of this thing: what was given has another part in it
    decides = next((one for one in reversed(requests[-_ASKED:]) if spoken(known.own_words(one)[:8000]) & (mine | theirs)), None)
    if decides is None:
        return None
    text = known.own_words(decides)[:8000]
    asked = spoken(text)
    if not mine & asked or _one_of_several(action, path, text, mine, decides, known):
        return None
    in_answer = bool(answer & by_other) and not answer & mine
    both = bool(theirs & asked)
    names = any(clause & mine and not clause & by_other for clause in said_of)
    if not any(clause & by_other for clause in said_of) and (names or in_answer):
        sure = not both or len(mine & asked) > len(theirs & asked)
    else:
        # Both are spoken of: the sentence that asks for the act, and what is said of the act, have to name the one alone.
        deeds = [
            one for one in (spoken(piece) for piece in _SENTENCE.split(text) if stems(piece) & stems(action.name)) if one & (mine | theirs)
        ]
        told = [clause for clause in said_of if given.name in clause and clause & (mine | by_other)]
        sure = (
            bool(deeds and told)
            and all(one & mine and not one & theirs for one in deeds)
            and all(one & mine and not one & by_other for one in told)
        )
        names = sure
    return (min(mine & asked), in_answer, names) if sure else None


def _said_of(action: Action, known: Doings) -> list[frozenset[str]]:
    """What the model says beside an act and in the next answer, clause by clause."""
    assert action.step is not None
    found: list[str] = []
    for reply in known.replies_behind(action.before - 1, 12):
        if reply.step.number < action.step.number or reply.step.seq > action.step.seq + 400:
            continue
        if reply.step.number > action.step.number and not reply.rests:
            continue
        found.append(reply.text[:4000])
        if reply.rests:
            break
    return [words_of_clause for text in found for piece in _CLAUSE.split(text) if (words_of_clause := spoken(piece))]


def _one_of_several(action: Action, path: str, request: str, meant: frozenset[str], asked: Passage, known: Doings) -> bool:
    """Whether a request is of several things, or leaves out the very one that it names: the same was done to more than one, it speaks of all, or of an
    exception."""
    done = {
        text
        for other in known.actions_behind(known.place(asked))
        if other.name == action.name and other.effect is not None
        for where, text in other.leaves
        if where == path
    }
    if len(done) > 1:
        return True
    clauses = [(piece, bool(spoken(piece) & meant)) for piece in _CLAUSE.split(request)]
    return any(_EXCEPT.search(piece) if names else of_everything(piece) for piece, names in clauses)


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


def _of_words(record: Record, request: str) -> frozenset[str]:
    """The words of a request that a record has, folded."""
    return spoken(request) & frozenset(mark for _, text in record.fields if len(text) <= 80 for mark in spoken(text) if len(mark) > 2)


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
    latest = requests[-1]
    found = other_asked(action, latest, known)
    if found is None:
        return None
    return _finding(
        action, LIKELY + 0.05,
        f"{action.name} was called where the request asks for what {found[0]} is for ({said(latest.text)}).",
        Evidence(event_id=latest.event_id, seq=latest.seq, what=f"the request: {said(latest.text)}"),
    )  # fmt: skip


def _another_target(action: Action, requests: list[Passage], known: Doings) -> Finding | None:
    found = other_meant(action, requests, known)
    if found is None:
        return None
    return _finding(
        action, STRONG,
        f"{quoted(action.run.title, 100)} was done on {said(found.own)}, where the request names {said(found.word)}; {said(found.name)} was there for it.",
        Evidence(event_id=found.request.event_id, seq=found.request.seq, what=f"the request: {said(found.request.text)}"),
    )  # fmt: skip


ANALYSIS = Analysis(
    name="wrong_argument", looks_for="an argument of another record or an earlier request; a similar tool that was not meant", run=find
)

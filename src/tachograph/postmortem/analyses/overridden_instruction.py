"""A person asked for what the standing instructions forbid, and the agent did it.

*Cause*: a user's message (or the trigger's text) that asks for something which a system prompt, or an earlier message, forbids or limits. *Consequence*: an
action that breaks the standing instruction and does what that message says. Where a document or a tool's result is what asked for it, that is
``poisoned_context``; where nobody asked for it, the model broke the instruction by itself and no user is to blame. A rule that the prompts themselves lift is overridden by no user
(``lifted_rule.py``).

A number counts where it is the person's, in the arguments of an effect, beyond a limit that the system prompt names (``limits.py``).

Surer where the message says so itself: ``ignore``, ``just this once``, ``I am the admin``, ``no need to``.

*Cannot see*: instructions that the agent's code enforces elsewhere; a request whose wording shares nothing with what was done.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.terms import identifiers, words
from tachograph.postmortem.language.tongues import gloss
from tachograph.postmortem.language.verbs import groups, stem, stems
from tachograph.postmortem.meaning.actions import Action, Doings, Reply, allowed, approvals, doings
from tachograph.postmortem.meaning.breaches import GATED, broken, said_against
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.directives import Directive, directives
from tachograph.postmortem.values import quoted

from .contract import LIKELY, STRONG, Analysis, Finding
from .lifted_rule import lifts, may_lift, split
from .limits import Limit, beyond, limits, within
from .ranking import surest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

_PUSHES = re.compile(
    r"\b(?:ignore|disregard|forget|override|overrule|bypass|skip|waive|exception|this once|just (?:do|send|run|push|delete|go|approve|this)|don't worry|do not worry|never mind|no need|not necessary"
    r"|i(?:'m| am) (?:the|an?|your) (?:admin\w*|manager|owner|boss|ceo|cto|cfo|director|developer|lead|supervisor|maintainer)|i (?:authori[sz]e|approve|allow|permit|take responsibility)|urgent(?:ly)?|right away|asap|anyway|regardless"
    r"|doesn't apply|does not apply|don't ask|do not ask|without (?:asking|waiting|checking|approval|confirmation|a ticket|review)|rules? (?:is|are) (?:off|suspended)|trust me|even (?:if|though)|despite|force)\b",
    re.IGNORECASE,
)

#: Messages of people that are looked at for what asked for a deed, from the latest backwards.
_MOST_USERS = 400


def find(case: Case) -> Iterable[Finding]:
    """The messages that override an instruction and were followed, each once."""
    return surest(_every(case))


def _every(case: Case) -> Iterator[Finding]:
    known = doings(case)
    every = limits(known)
    yield from _beyond(every, known, case)
    lifting = [
        half
        for passage in known.passages
        if passage.kind == "system" and ".tools[" not in passage.position
        for half in split(known.own_words(passage)[:60_000])
        if may_lift(half, flatly=True)
    ]
    standing: list[tuple[int, Passage, Directive]] = []
    for place, passage in enumerate(known.passages):
        if passage.kind in ("system", "user") and not passage.position.endswith(".schema"):
            standing += [
                (place, passage, rule)
                for rule in directives(known.own_words(passage))
                if (rule.polarity != "require" or rule.condition)
                and not any(lifts(rule, half) for half in lifting if half not in rule.text)
            ]
    if not standing:
        return
    told: set[int] = set()
    done: list[Action | Reply] = [*known.actions, *known.replies]
    for what in done:
        if isinstance(what, Action) and what.effect is None and not what.groups:
            continue
        for place, source, rule in standing:
            if place >= what.before or id(source) in told:
                continue
            sure = _breaks(rule, what, known, case, source.seq)
            if sure < 0.5 or (isinstance(what, Action) and within(rule.text, what, every)):
                continue
            user = _who_asked(rule, what, known, place)
            if user is not None and source.kind == "user" and (rule.condition or not _PUSHES.search(user.text)):
                continue  # who asked to wait gives the word; only a rule that is pushed aside is overridden
            if user is None or id(user) in told or (isinstance(what, Action) and allowed(case, what.run)):
                continue
            told.add(id(user))
            yield _finding(sure, source, rule, user, what)
            break


def _beyond(every: tuple[Limit, ...], known: Doings, case: Case) -> Iterator[Finding]:
    """A person's number beyond a limit, as an argument of an effect."""
    if not every or approvals(case):
        return
    told: set[str] = set()
    for action in known.acting:
        found = beyond(action, every, known)
        if found is None or found.asked.event_id in told or allowed(case, action.run):
            continue
        told.add(found.asked.event_id)
        yield Finding(
            cause="input", analysis="overridden_instruction", confidence=STRONG + 0.05, first_event=found.asked.event_id, first_seq=found.asked.seq,
            evidence=(
                Evidence(event_id=found.limit.source.event_id, seq=found.limit.source.seq, what=f"the system prompt says {said(found.limit.text)}"),
                Evidence(event_id=found.asked.event_id, seq=found.asked.seq, what=f"the person asks {said(found.asked.text)}"),
                action.cite(f"{found.path} = {said(found.text)}"),
            ),
            statement=f"A person asked for {said(found.text)}, beyond a limit of the system prompt ({said(found.limit.text)}), and the agent did it: {quoted(action.run.title, 100)}.",
        )  # fmt: skip


def _breaks(rule: Directive, what: Action | Reply, known: Doings, case: Case, since: int) -> float:
    if isinstance(what, Reply):
        return said_against(rule, what)
    # What the person says is what overrides it: their words alone meet no condition, an approval does.
    return broken(rule, what, known, case, since, spoken=False)


def _who_asked(rule: Directive, what: Action | Reply, known: Doings, standing: int) -> Passage | None:
    """The latest message of a person, other than the rule's own, that asks for what was done."""
    if isinstance(what, Action):
        doing, about, values = what.groups, what.stems, what.identifiers
    else:
        doing, about, values = groups(rule.verbs), stems(what.text), frozenset()
    for passage in reversed(known.users(what.before, most=_MOST_USERS)):
        if passage is known.passages[standing]:
            continue
        text = gloss(known.own_words(passage))
        mine = stems(text)
        asks = doing & groups(mine) or (isinstance(what, Action) and stems(what.name) & mine)
        content = {stem(word) for term in words(text) for word in re.split(r"\W+", term) if word}
        if (asks and (len(content & about) >= 2 or values & frozenset(words(text)))) or (
            _PUSHES.search(text) and (asks or values & identifiers(text) or len(content & about) >= 2)
        ):
            # What had to come first was left out by the agent, unless the person spoke of that.
            return passage if not GATED.search(rule.plain) or _PUSHES.search(text) else None
    return None


def _finding(sure: float, source: Passage, rule: Directive, user: Passage, what: Action | Reply) -> Finding:
    pushes = _PUSHES.search(gloss(user.text)) is not None
    done = quoted(what.run.title, 100) if isinstance(what, Action) else f"the answer {said(what.text)}"
    confidence = (STRONG + 0.05 if pushes else LIKELY + 0.05) + (0.05 if sure >= 0.7 else 0)
    whose = "the system prompt" if source.kind == "system" else "an earlier message"
    return Finding(
        cause="input", analysis="overridden_instruction", confidence=round(confidence, 2), first_event=user.event_id, first_seq=user.seq,
        evidence=(
            Evidence(event_id=source.event_id, seq=source.seq, what=f"{whose} says {said(rule.text)}"),
            Evidence(event_id=user.event_id, seq=user.seq, what=f"the person asks {said(user.text)}"),
            what.cite("the agent did it"),
        ),
        statement=f"A person asked for what {whose} forbids ({said(rule.text)}), and the agent did it: {done}.",
    )  # fmt: skip


ANALYSIS = Analysis(
    name="overridden_instruction", looks_for="a person's message that overrides a standing instruction, and was followed", run=find
)

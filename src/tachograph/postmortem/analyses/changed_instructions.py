"""Instructions that changed within a session, and an effect that the first ones did not allow.

*Cause*: a system or developer message that a later call of the same conversation has, and the first had not: added beside the first ones, or in their
place. *Consequence*, one of:

- the first ones want somebody's leave; the model had asked a person for it, naming the thing; behind the change it went on without an answer to that (nobody said a thing, or no more than to go on);
- an effect breaks a rule of the first ones that the added one speaks of too, though it is still in the request;
- an effect follows a sentence that lifts a rule of the first, or says the contrary (``lifted_rule.py``);
- a sentence of each cannot both be followed (``contradictions.py``), and an effect follows the one against the other.

No last good session is needed. What a change says of the date, the user or the place, and what lifts a rule that waits to be lifted (``until``, ``unless``), is
none; where a system prompt is replaced by that of another agent, only the first counts.

*Cannot see*: a question that names nothing of what is then done.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.terms import names_one, terms
from tachograph.postmortem.language.tongues import gloss
from tachograph.postmortem.language.verbs import stems
from tachograph.postmortem.meaning.actions import Action, Doings, Reply, allowed, doings
from tachograph.postmortem.meaning.breaches import broken
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.directives import Directive, directives
from tachograph.postmortem.meaning.instructions import read, sentences
from tachograph.postmortem.values import quoted

from . import contradictions
from .contract import LIKELY, STRONG, Analysis, Finding
from .lifted_rule import followed, is_over, split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

NAME = "changed_instructions"

#: Somebody's leave is wanted; in English, what is of another language was put into it.
_LEAVE = re.compile(
    r"\b(?:ask\w*|confirm\w*|approv\w*|permission|consent\w*|sign[- ]?off|authori[sz]\w*|go-ahead|say-so|yes|okay|agree\w*|questions?|wait\w*|check with|review\w*)\b",
    re.IGNORECASE,
)
#: Nobody is to be asked.
_ALONE = re.compile(
    r"\b(?:unattended|autonom\w*|non-?interactive|headless|batch|unsupervised|judg(?:e)?ment|yourself|on (?:your|its) own|without|automatic\w*|at once|immediately|directly|selbst\w*|eigenst[aä]ndig\w*|unbeaufsichtigt\w*|autonome?s?|solo|sola)\b",
    re.IGNORECASE,
)
_UNATTENDED = re.compile(r"\b(?:unattended|autonomous(?:ly)?|non-?interactive|headless|unsupervised|best judge?ment|unbeaufsichtigt\w*|eigenst[aä]ndig\w*)\b", re.IGNORECASE)  # fmt: skip
#: Questions of those who are served, rather than of the agent.
_ANSWERS = re.compile(
    r"\b(?:answer\w*|reply|questions?)\b(?: (?:the|their|all|any|his|her))?(?: (?:questions?|user'?s?|customers?))?", re.IGNORECASE
)
_ASK_FOR = re.compile(
    r"\bask(?:ed|ing)? (?:\w+ )?(?:for|about) (?!(?:\w+ )?(?:confirm|approv|permi|consent|leave|any))[^.;\n]{1,80}", re.IGNORECASE
)
_NONE = re.compile(r"\b(?:not|no|none|never|n't|skip\w*|down|off|unavailable|nobody|waived?|suspended)\b", re.IGNORECASE)
#: To go on, without a yes to anything.
_GO_ON = re.compile(
    r"[\W_]*(?:please |bitte |now |ok(?:ay)? )?(?:continue|go on|carry on|keep going|next|resume|finish(?: the task)?|weiter|fortfahren|mach(?:en sie)? (?:bitte )?weiter|fahr(?:en sie)? (?:bitte )?fort|continuez?|poursui[st]|poursuivez"
    r"|la suite|sigue|siga|contin[uú]a|contin[uú]e|adelante con la tarea|avanti|prosegui|prosegua|continua|ga (?:maar )?(?:door|verder)|verder|dalej|kontynuuj)(?: please| bitte| now| the task| s'il vous pla[iî]t| por favor| per favore)?[\W_]*",
    re.IGNORECASE,
)
_WAITS = re.compile(r"\b(?:until|unless|except|for now|at present|today)\b", re.IGNORECASE)
#: Changes of one conversation that are looked at, and effects behind one.
_MOST, _ACTIONS = 20, 200


@dataclass(frozen=True)
class _Change:
    """``first``: the instructions that stood first; ``later``: what came in at a step, ``new`` its sentences that are new; ``step``: its number; ``kept``:
    the first still stand beside it."""

    first: tuple[Passage, ...]
    later: Passage
    new: tuple[str, ...]
    step: int
    kept: bool


def run(case: Case) -> Iterator[Finding]:
    """At most one finding for each change: the surest."""
    known = doings(case)
    for change in _changes(case, known):
        found = (
            _unanswered(case, known, change)
            or (change.kept and (_against(case, known, change) or _lifted(case, known, change) or _contradicting(case, known, change)))
            or None
        )
        if found is not None:
            yield found


def _changes(case: Case, known: Doings) -> Iterator[_Change]:
    talks = {step.number: step.seen.conversation for step in case.story.steps}
    steps = {step.number: step for step in case.story.steps}
    first: dict[int, list[Passage]] = {}
    began: dict[int, int] = {}
    count = 0
    for passage in known.passages:
        if passage.kind != "system" or passage.step is None or ".tools[" in passage.position or passage.step not in talks:
            continue
        talk = talks[passage.step]
        if talk not in began or passage.step == began[talk]:
            began.setdefault(talk, passage.step)
            first.setdefault(talk, []).append(passage)
        elif count < _MOST and (new := _new(passage, first[talk])):
            count += 1
            kept = not steps[passage.step].seen.system_changed or all(
                one in passage.text for each in first[talk] for one in sentences(each.text)
            )
            yield _Change(tuple(first[talk]), passage, new, passage.step, kept)


def _new(later: Passage, first: list[Passage]) -> tuple[str, ...]:
    """Its sentences that differ from all earlier ones by more than their numbers."""
    known = {_shape(one) for passage in first for one in sentences(passage.text)}
    return tuple(one for one in sentences(later.text) if _shape(one) not in known)


def _shape(text: str) -> str:
    return re.sub(r"\d+", "0", text)


def _behind(case: Case, known: Doings, change: _Change) -> Iterator[Action]:
    talk = next(step.seen.conversation for step in case.story.steps if step.number == change.step)
    for action in known.by_talk.get(talk, ()):
        if action.effect is not None and action.step is not None and action.step.number >= change.step and not allowed(case, action.run):
            yield action


# -- a question that was left without an answer ------------------------------------------------------------------------------------


def _unanswered(case: Case, known: Doings, change: _Change) -> Finding | None:
    rule = next((one for passage in change.first for one in sentences(passage.text) if _LEAVE.search(_ANSWERS.sub(" ", gloss(one)))), None)
    plain = gloss(" ".join(change.new)[:4000])
    gone = not change.kept and rule is not None and rule not in change.later.text
    if rule is None or not (gone or _nobody(plain)):
        return None
    talk = next(step.seen.conversation for step in case.story.steps if step.number == change.step)
    asked = [
        one
        for one in known.replies
        if one.rests and "?" in one.text and one.step.seen.conversation == talk and one.step.number < change.step
    ]
    if not asked:
        return None
    question = asked[-1]
    for action in _behind(case, known, change):
        named = _named(action, question)
        if named and not _answered(known, question, action) and not _approved(case, question, action):
            return _finding(
                change, STRONG + 0.05, rule, action,
                f"the model had asked ({said(question.text)}), and nobody had said yes to it",
                [question.cite("the model asked for leave")],
            )  # fmt: skip
    return None


def _nobody(plain: str) -> bool:
    """Whether a text says that nobody is to be asked."""
    plain = _ASK_FOR.sub(" ", plain)
    return bool(_UNATTENDED.search(plain) or any(_ALONE.search(one) or _NONE.search(one) for one in sentences(plain) if _LEAVE.search(one)))


def _named(action: Action, question: Reply) -> bool:
    """Whether a question names what an action is given."""
    spoken = frozenset(terms(question.text))
    return any(term in spoken for term in action.terms if names_one(term)) or any(
        len(text) >= 4 and text.lower() in question.text.lower() for _, text in action.leaves if len(text) <= 60
    )


def _answered(known: Doings, question: Reply, action: Action) -> bool:
    """Whether a person may have answered: any message in between that says more than to go on."""
    return any(passage.seq > question.step.seq and not _GO_ON.fullmatch(passage.text) for passage in known.users(action.before))


def _approved(case: Case, question: Reply, action: Action) -> bool:
    return any(question.step.seq < mark.seq < action.run.seq and not mark.bad for _, mark in case.story.marks("approval"))


# -- a rule of the first ones that is broken ---------------------------------------------------------------------------------------


def _against(case: Case, known: Doings, change: _Change) -> Finding | None:
    plain = gloss(" ".join(change.new)[:8000])
    about = stems(plain)
    leave = _nobody(plain)
    for passage in change.first:
        for rule in directives(passage.text):
            if rule.polarity == "require" and not rule.condition:
                continue
            if _WAITS.search(rule.plain) or not (rule.verbs & about or (leave and _LEAVE.search(rule.plain))):
                continue
            for action in _behind(case, known, change):
                if _LEAVE.search(rule.plain) and any(
                    one.rests and _named(action, one) and _answered(known, one, action) for one in known.replies[-200:]
                ):
                    continue  # it was asked about, and a person said something to it
                if broken(rule, action, known, case, passage.seq) >= 0.5 and not _as_before(case, known, change, rule, action, passage):
                    return _finding(change, STRONG, rule.text, action, "the first instructions do not allow it", [])
    return None


def _as_before(case: Case, known: Doings, change: _Change, rule: Directive, action: Action, passage: Passage) -> bool:
    """Whether the rule was broken before the change as well: then the change is not why."""
    return any(
        other.effect is not None and other.before < action.before and other.step is not None and other.step.number < change.step
        and broken(rule, other, known, case, passage.seq) >= 0.5
        for other in known.acting
    )  # fmt: skip


def _lifted(case: Case, known: Doings, change: _Change) -> Finding | None:
    """A rule that the change lifts, or says the contrary of, and an effect that follows it."""
    later = [half for one in change.new[:60] for half in split(one)]
    first = [half for passage in change.first for half in split(passage.text)]
    actions = list(_behind(case, known, change))[:_ACTIONS]
    for place, sentence in enumerate(later):
        for rule, action in followed(known, first, sentence, " ".join(later[place : place + 2]), actions, flatly=False):
            if not any(
                other.name == action.name and other.step is not None and other.step.number < change.step and other.before < action.before
                for other in known.acting
            ):
                return _finding(change, STRONG, rule, action, "the first instructions do not allow it", [], sentence)
    return None


def _contradicting(case: Case, known: Doings, change: _Change) -> Finding | None:
    later = [read(one, event_id=change.later.event_id, seq=change.later.seq, step=change.step, position=change.later.position) for one in change.new[:60] if not is_over(one)]  # fmt: skip
    best: Finding | None = None
    for passage in change.first:
        for text in sentences(passage.text):
            one = read(text, event_id=passage.event_id, seq=passage.seq, step=passage.step, position=passage.position)
            for other in later:
                for found in contradictions.of_pair(case, one, other):
                    if best is None or found.confidence > best.confidence:
                        best = found
    if best is None:
        return None
    done = next((action for action in known.acting if action.run.seq == best.evidence[-1].seq), None)
    if done is None or any(
        other.name == done.name and other.step is not None and other.step.number < change.step for other in known.acting
    ):
        return None  # as before the change
    return replace(
        best, analysis=NAME, first_event=change.later.event_id, first_seq=change.later.seq, confidence=max(best.confidence - 0.05, LIKELY),
        statement="Instructions were added during the session that contradict the first: " + best.statement[:1].lower() + best.statement[1:],
    )  # fmt: skip


def _finding(change: _Change, sure: float, rule: str, action: Action, why: str, more: list[Evidence], told: str = "") -> Finding:
    first, later = change.first[0], change.later
    told = told or later.text
    how = "were added" if change.kept else "took the place of the first"
    return Finding(
        cause="prompt", analysis=NAME, confidence=round(sure, 2), first_event=later.event_id, first_seq=later.seq,
        evidence=(
            Evidence(event_id=first.event_id, seq=first.seq, what=f"the first instructions say {said(rule)}"), *more,
            Evidence(event_id=later.event_id, seq=later.seq, what=f"instructions {how}: {said(told)}"),
            action.cite("it was done all the same"),
        ),
        statement=f"Instructions {how} during the session ({said(told)}); the first say {said(rule)}. Then {quoted(action.run.title, 100)} was done: {why}.",
    )  # fmt: skip


ANALYSIS = Analysis(
    name=NAME,
    looks_for="instructions that were added or replaced within the session, and an effect that the first ones did not allow",
    run=run,
)

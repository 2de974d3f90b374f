"""What a session shows of itself having gone wrong. A cause needs a consequence; where no other session is there to compare with, this is it.

A symptom is ``hard`` where nothing else can be meant by it: the exit code, a check that failed at last, an incident that somebody linked, a person
who complains, an effect that the prompt forbids. The others happen in sessions that went well, too: a guardrail that did its work, a tool
that failed and was told so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.amounts import amounts
from tachograph.postmortem.language.sieve import Sieve
from tachograph.postmortem.language.terms import words_of
from tachograph.postmortem.language.verbs import stem
from tachograph.postmortem.shapes import Mark, Run, Step
from tachograph.postmortem.values import one_line, visible

from .citing import LONG, cite, said
from .effects import effects, is_shell
from .instructions import instructions, stems
from .once import entered, once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case

    from .effects import Effect
    from .instructions import Instruction

Kind = Literal["exit", "check", "incident", "complaint", "forbidden", "failed", "guardrail", "ended", "note", "told"]

_COMPLAINT = re.compile(
    r"\b(?:that(?:'s|’s| is| was) (?:wrong|not (?:right|correct|what i)|incorrect|a mistake)|this is (?:wrong|incorrect|not what i)|you were not supposed"
    r"|you should(?:n't|n’t| not) have|why did you|i (?:did not|didn't|didn’t|never) (?:ask|asked|want|say|said|approve|authori[sz]e)|undo (?:that|this|it)"
    r"|revert (?:that|this|it)|(?:wrong|incorrect) (?:amount|customer|account|order|file|address|recipient|person|one|date|answer)|you (?:deleted|sent|broke|charged|refunded|emailed|overwrote)\b.{0,60}\b(?:wrong|twice|instead)"
    r"|was(?:n't|n’t| not) supposed to)",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"\b(?:incident|violat(?:ed|ion|es)|mismatch(?:es|ed)?|discrepanc(?:y|ies)|charged twice|wrong|incorrect|complain(?:t|ed|s)|breach(?:ed)?|outage|corrupt(?:ed|ion)?"
    r"|unauthori[sz]ed|data loss|audit (?:failed|finding)|reconciliation failed)\b",
    re.IGNORECASE,
)
#: Harm, as systems and people report it behind something that was done.
_HARM = Sieve(
    re.compile(
        r"\b(?:complain(?:t|ts|ed|s)|violat(?:ed|ion|ions)|breach(?:ed)?|unauthori[sz]ed|fraud\w*|cease and desist|infring\w+|unlawful|illegal|forbidden|prohibited|sanction(?:s|ed)?|penalt(?:y|ies)|lawsuit|regulator\w*|injur(?:y|ed|ies)|damaged?|data protection"
        r"|takedown|taken down|strike|demoneti[sz]ed|suspended|blacklisted|recall(?:ed)?|evacuat\w+|overdose|outage|alarm|emergency|should not have|was not (?:allowed|supposed|entitled|cleared)"
        r"|not (?:entitled|eligible|cleared|permitted)|against (?:the )?(?:rules|policy|law|terms)|rule \S{1,12} broken)\b",
        re.IGNORECASE,
    ),
    " broken|against |alarm|blacklisted|breach|cease and desist|complain|damage|data protection|demoneti|emergency|evacuat|forbidden|fraud|illegal|infring|injur|lawsuit|not cleared|not eligible|not entitled|not permitted|outage|overdose|penalt|prohibited|recall|regulator|sanction|should not have|strike|suspended|takedown|taken down|unauthori|unlawful|violat|was not allowed|was not supposed",
)
_CONTAINS = frozenset(
    ["escalate", "hand", "handover", "human", "fallback", "pause", "suspend", "stop", "abort", "cancel", "freeze", "lock", "notify", "alert", "page", "log", "audit", "report", "ticket", "hold", "quarantine", "block", "reject", "refuse", "decline", "deny", "flag", "handoff", "note", "review"]
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Symptom:
    """``what``: as a clause; ``seq``: its line."""

    kind: Kind
    what: str
    event_id: str
    seq: int
    hard: bool

    def evidence(self) -> Evidence:
        return Evidence(event_id=self.event_id, seq=self.seq, what=self.what)


@once
def symptoms(case: Case) -> tuple[Symptom, ...]:
    """All of them, in the order of the record."""
    found = [
        *_ending(case),
        *_checks(case),
        *_incidents(case),
        *_complaints(case),
        *_forbidden(case),
        *_failed(case),
        *_marks(case),
        *_told(case),
    ]
    return tuple(sorted(found, key=lambda one: one.seq))


def hard(case: Case) -> tuple[Symptom, ...]:
    """Those that leave no doubt."""
    return tuple(one for one in symptoms(case) if one.hard)


def _of(item: Step | Run | Mark, kind: Kind, what: str, *, sure: bool) -> Symptom:
    found = cite(item, what)
    return Symptom(kind=kind, what=found.what, event_id=found.event_id, seq=found.seq, hard=sure)


def _ending(case: Case) -> Iterator[Symptom]:
    story = case.story
    if story.end is not None and story.end_seq is not None:
        code = story.end.exit_code
        if code or story.end.status == "error":
            what = f"the agent ended with exit code {code}" if code else "the agent ended with an error"
            yield Symptom(kind="exit", what=what, event_id=story.end.id, seq=story.end_seq, hard=True)
        elif story.end.status == "killed":
            yield Symptom(kind="exit", what="the agent was killed", event_id=story.end.id, seq=story.end_seq, hard=False)
    steps = story.steps
    if steps and steps[-1].bad:
        yield _of(steps[-1], "ended", "the last model call had no usable answer", sure=False)


def _checks(case: Case) -> Iterator[Symptom]:
    latest: dict[str, Run] = {}
    for _, run in case.checks():
        latest[run.title] = run
    for run in latest.values():
        if run.bad and run.outcome != "asked":
            yield _of(run, "check", f"a check failed and was not run again: {visible(one_line(run.title, LONG))}", sure=True)


def _incidents(case: Case) -> Iterator[Symptom]:
    story = case.story
    named = [link.partition("=")[2] for link in case.links if link.startswith("incident=")]
    if named and story.start is not None and story.start_seq is not None:
        what = f"an incident is linked to this session: {visible(one_line(', '.join(named), LONG))}"
        yield Symptom(kind="incident", what=what, event_id=story.start.id, seq=story.start_seq, hard=True)


def _complaints(case: Case) -> Iterator[Symptom]:
    acted = min((effect.run.seq for effect in effects(case)), default=None)
    spoken = min((step.seq for step in case.story.steps), default=None)
    begun = acted if acted is not None else spoken
    for passage in entered(case):
        if passage.kind == "user" and begun is not None and passage.seq > begun and _COMPLAINT.search(passage.text[:2000]):
            what = f"a person complained: {said(passage.text)}"
            yield Symptom(kind="complaint", what=what, event_id=passage.event_id, seq=passage.seq, hard=True)


def _forbidden(case: Case) -> Iterator[Symptom]:
    rules = [rule for rule in instructions(case) if (rule.tone == "forbids" or rule.at_most is not None) and ".tools[" not in rule.position]
    for effect in effects(case) if rules else ():
        for rule in rules:
            if rule.seq <= effect.since and violates(effect, rule):
                yield _of(
                    effect.run,
                    "forbidden",
                    f"{visible(one_line(effect.run.title, LONG))}, where the prompt says {said(rule.text)}",
                    sure=True,
                )
                break


def violates(effect: Effect, rule: Instruction) -> bool:
    """Whether an effect is what an instruction forbids: its verb stands directly behind “never”, and it is about the same or above the amount."""
    run = effect.run
    words = doing(effect)
    limit = rule.beyond if rule.tone == "forbids" else rule.at_most
    if limit is not None:
        return bool(rule.about & words) and any(amount > limit for _, amount in amounts(run.input.value)) and not rule.bound
    if rule.bound or not rule.verbs & words or effect.reach == "workspace":
        return False
    others = rule.about - rule.verbs
    return len(others & touched(effect)) * 2 > len(others) or not others


def touched(effect: Effect) -> frozenset[str]:
    """The stems of what an effect says of itself: its line and its arguments."""
    return stems(effect.run.title[:2000]) | stems(effect.run.input.text()[:4000])


def doing(effect: Effect) -> frozenset[str]:
    """The stems of the words that say what an effect does: the tool's name; of a command or an exchange, its line."""
    run = effect.run
    return stems(run.title[:400]) if run.kind != "tool" or is_shell(run.name) else frozenset(stem(word) for word in words_of(run.name))


def contains_only(effect: Effect) -> bool:
    """Whether an effect is what one does *because* something was stopped: escalate, notify, hold, refuse."""
    return bool(_CONTAINS & set(words_of(effect.run.name)))


def _failed(case: Case) -> Iterator[Symptom]:
    latest = {effect.run.name: effect.run for effect in effects(case)}
    for run in latest.values():
        if run.bad and run.outcome != "asked":
            yield _of(run, "failed", f"an effect failed: {visible(one_line(run.title, LONG))}", sure=False)


def _told(case: Case) -> Iterator[Symptom]:
    """What an effect's own result, or a later look, says of harm."""
    first = min((effect.run.seq for effect in effects(case)), default=None)
    for _, run in case.story.runs() if first is not None else ():
        if first is not None and run.seq >= first and run.output.there and (found := _HARM.search(run.output.text()[:2000])):
            yield _of(run, "told", f"{visible(one_line(run.title, LONG))} was answered with word of harm ({said(found[0])})", sure=False)


def _marks(case: Case) -> Iterator[Symptom]:
    for _, mark in case.story.marks("guardrail", "note"):
        if mark.kind == "guardrail" and mark.bad:
            yield _of(mark, "guardrail", visible(mark.title), sure=False)
        elif mark.kind == "note" and mark.body.there and (found := mark.body.text())[:2000] and _TROUBLE.search(found[:2000]):
            yield _of(mark, "note", f"the agent's code noted {said(found)}", sure=False)
    if not any(True for _ in case.story.marks("guardrail")):
        for step in case.story.steps:
            guard = step.call.guardrail
            if guard and str(guard.get("action")) == "INTERVENED":
                yield _of(step, "guardrail", "a guardrail intervened", sure=False)

"""Approvals: who decided what, having been shown what, and of which call; as events of their own, as a tool by which an agent asks a person, or as a
person's words in the conversation."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from tachograph.postmortem.language.terms import identifiers, terms, values, words_of
from tachograph.postmortem.marks import refused
from tachograph.postmortem.meaning.effects import Effect, effects
from tachograph.postmortem.meaning.once import entered, once
from tachograph.postmortem.meaning.outgoing import arguments_of
from tachograph.postmortem.meaning.unjoined import recorded_apart
from tachograph.postmortem.shapes import Mark, Run, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage

Decision = Literal["granted", "refused", "open"]

_OPEN = re.compile(
    r"pend|expir|time[d_ -]*out|no[_ -](?:answer|response|reply|decision)|request|revok|withdr|await|defer|unanswered|escalat",
    re.IGNORECASE,
)
_NO = re.compile(
    r"\b(?:den(?:y|ied)|refus\w+|reject\w+|declin\w+|not (?:approved|granted|allowed|ok)|disapprov\w+|no\b|false)", re.IGNORECASE
)
_YES = re.compile(r"\b(?:approv\w+|grant\w+|yes|ok(?:ay)?|confirm\w*|allow\w*|accepted|go ahead|true|lgtm)\b", re.IGNORECASE)
_SAID_YES = re.compile(
    r"\b(?:yes|yep|yeah|sure|go ahead|approved?|confirm(?:ed)?|do it|proceed|ok(?:ay)?|please do|lgtm|ship it|sounds good)\b", re.IGNORECASE
)
_ASKS = frozenset(["request", "ask", "get", "await", "obtain", "seek", "require", "wait", "check", "need"])
_WHOM = frozenset(
    [
        "approval",
        "permission",
        "confirmation",
        "human",
        "authorization",
        "authorisation",
        "signoff",
        "consent",
        "manager",
        "supervisor",
        "reviewer",
        "approver",
        "operator",
    ]
)
_BROAD = re.compile(r"\b(?:always|session|all|everything|any|every|permanent\w*|blanket|remember)\b|\*", re.IGNORECASE)


#: Effects before an approval that names no call, and behind it, of which it may be.
_NEAR = 60, 180
_SEVERAL = re.compile(r"\b(?:all|both|each|every|[2-9]|\d\d|two|three|four|five|several) \w+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Gate:
    """An approval. ``shown``: what the approver was shown, ``None`` where that is not recorded; ``keys``: that by fields, where it was shown so;
    ``broad``: it holds for more than one call."""

    decision: Decision
    word: str
    approver: str
    scope: str
    shown: str | None
    call_id: str | None
    within: str | None
    broad: bool
    step: Step | None
    item: Mark | Run
    value: object = None

    @property
    def seq(self) -> int:
        return self.item.seq

    @property
    def name(self) -> tuple[str, ...]:
        return tuple(words_of(self.scope))


@once
def gates(case: Case) -> tuple[Gate, ...]:
    """All approvals that have an event, in order."""
    within = {
        id(child): run.event_id
        for _, run in case.story.runs()
        if not asks_a_person(run)
        for child in run.children
        if isinstance(child, Mark)
    }
    marks = list(case.story.marks("approval"))
    found = [_of_mark(step, mark, within.get(id(mark))) for step, mark in marks]
    told = {step.number for step, _ in marks if step is not None}
    for step, run in case.story.runs():
        # Where asking has its own event as well, that says it.
        if asks_a_person(run) and run.outcome != "asked" and (step is None or step.number not in told):
            found.append(_of_run(step, run))
    return tuple(sorted(found, key=lambda gate: gate.seq))


def asks_a_person(run: Run) -> bool:
    """Whether a tool is the way in which an agent asks for an approval."""
    return run.kind == "tool" and _names_asking(run.name)


@lru_cache(maxsize=4096)
def _names_asking(name: str) -> bool:
    words = set(words_of(name))
    return bool(words & _ASKS) and bool(words & _WHOM)


def _of_mark(step: Step | None, mark: Mark, within: str | None) -> Gate:
    word = str(mark.detail.get("decision") or "")
    scope = str(mark.detail.get("scope") or "")
    decision: Decision = "open" if _OPEN.search(word) else "refused" if refused(word) or _NO.match(word) else "granted"
    return Gate(
        decision=decision, word=word, approver=str(mark.detail.get("approver") or ""), scope=scope, shown=mark.body.text() if mark.body.there else None,
        call_id=mark.detail.get("call_id"), within=within, broad=bool(_BROAD.search(f"{word} {scope}")), step=step, item=mark, value=mark.body.value,
    )  # fmt: skip


def _of_run(step: Step | None, run: Run) -> Gate:
    said = run.output.text()[:600] or run.given.text()[:600]
    decision: Decision = "refused" if _NO.search(said) else "open" if _OPEN.search(said) else "granted" if _YES.search(said) else "open"
    return Gate(
        decision=decision, word=said, approver="", scope="", shown=arguments_of(run), call_id=None, within=None, broad=False, step=step, item=run,
        value=run.input.value,
    )  # fmt: skip


@once
def gated(case: Case) -> tuple[Effect, ...]:
    """The effects that an approval may be about. Of a call that ran with other arguments than it was asked with it is the run: that was done."""
    named = {gate.call_id for gate in gates(case)}
    return tuple(
        effect
        for effect in effects(case)
        if not asks_a_person(effect.run)
        and (effect.run.event_id not in recorded_apart(case) or effect.run.call_id in named or effect.run.event_id in named)
    )


@once
def pairs(case: Case) -> tuple[dict[str, list[Gate]], frozenset[int]]:
    """By an effect's event the approvals that are of it, in order; and the lines of the approvals that are of some effect.

    An approval is of the call that it names. One that names none is of the call within which it was asked for; else of the effect of its own kind
    (its scope, or the tool that was shown) that it fits best: by what only this call has, then by coming next.
    """
    found: dict[str, list[Gate]] = {}
    used: set[int] = set()
    every = list(enumerate(gated(case)))
    named: dict[str, dict[int, Effect]] = {}
    for place, effect in every:
        for name in filter(None, (effect.run.call_id, effect.run.event_id)):
            named.setdefault(name, {})[place] = effect
    taken: set[str] = set()
    lines = list(accumulate((effect.run.seq for _, effect in every), max))
    for gate in gates(case):
        at = bisect_left(lines, gate.seq)
        may_be = every[max(at - _NEAR[0], 0) : at + _NEAR[1]]
        if gate.call_id is not None or gate.within is not None:  # it is of no other effect than one that it names
            may_be = list((named.get(gate.call_id or "", {}) | named.get(gate.within or "", {})).items())
        ranked = sorted(((_fits(gate, effect, taken), -place, effect) for place, effect in may_be), key=lambda one: one[:2], reverse=True)
        for score, _, effect in ranked:
            if score < 8:
                break
            found.setdefault(effect.run.event_id, []).append(gate)
            used.add(gate.seq)
            if gate.decision == "granted":
                taken.add(effect.run.event_id)
            if not gate.broad:
                for _, _, other in ranked:
                    if other is not effect and gate.call_id is None and gate.within is None and _covers(gate, other):
                        found.setdefault(other.run.event_id, []).append(gate)
                        if gate.decision == "granted":
                            taken.add(other.run.event_id)
                break
    return found, frozenset(used)


def _fits(gate: Gate, effect: Effect, taken: set[str]) -> int:
    run = effect.run
    if gate.call_id is not None and gate.call_id in (run.call_id, run.event_id):
        return 1000
    if gate.within is not None and gate.within == run.event_id:
        return 900
    if gate.call_id is not None or (gate.within is not None and gate.within != run.event_id):
        return 0
    name = set(words_of(run.name)) if run.kind == "tool" else set(words_of(run.title[:200]))
    scope = set(gate.name)
    if scope and run.kind == "tool" and not (scope & name) and not _BROAD.search(gate.scope) and _is_a_tool(gate.scope, effect):
        return 0
    shown = gate.shown or ""
    score = 0
    if scope and (scope <= name or name <= scope):
        score += 12
    elif scope & name:
        score += 6
    score += 10 * min(len(identifiers(shown[:8000]) & identifiers(arguments_of(run)[:8000])), 3)
    words = set(words_of(shown[:2000]))
    if run.name.lower() in shown.lower() or (name and name <= words):
        score += 8
    elif name & words:
        score += 4
    if gate.step is not None and effect.step is not None:
        apart = effect.step.number - gate.step.number
        score += 6 if apart == 0 else 3 if apart == 1 else -2 if apart > 1 else -4
    if not before(gate, effect):
        score -= 5
    return score - (9 if run.event_id in taken else 0)


def _covers(gate: Gate, effect: Effect) -> bool:
    """Whether what was shown names another call of the same kind as well: all its values, or that it is about several of the same answer."""
    shown = gate.shown or ""
    name = set(words_of(effect.run.name))
    if not (set(gate.name) & name or name & set(words_of(shown[:2000]))):
        return False
    there = set(terms(shown[:8000]))
    own = [set(terms(text)) for _, text in values(effect.run.input.value)]
    if own and all(one <= there for one in own if one):
        return True
    together = gate.step is not None and effect.step is not None and gate.step.number == effect.step.number
    return together and _SEVERAL.search(shown) is not None


def _is_a_tool(scope: str, effect: Effect) -> bool:
    return scope != effect.run.name and bool(
        effect.step is None or scope in effect.step.seen.tools or any(part.name == scope for part in effect.step.reply)
    )


def before(gate: Gate, effect: Effect) -> bool:
    """Whether an approval came before its effect. A tool seen on the wire alone ran at some time behind the answer that asked for it."""
    run = effect.run
    if run.source in ("declared", "both") or run.kind != "tool":
        return gate.seq < run.seq
    return gate.step is None or effect.step is None or gate.step.number <= effect.step.number


def agreed(case: Case, effect: Effect) -> bool:
    """Whether a person said yes in the conversation, in answer to something, before an effect."""
    first = _first_agreement(case)
    return first is not None and first <= effect.since


@once
def _first_agreement(case: Case) -> int | None:
    return min((passage.seq for passage in _agreements(case)), default=None)


def _agreements(case: Case) -> Iterator[Passage]:
    first = min((step.seq for step in case.story.steps), default=None)
    for passage in entered(case):
        later = first is not None and passage.seq > first
        if (
            passage.kind == "user"
            and _SAID_YES.search(passage.text[:400])
            and (later or re.search(r"\b(?:approved|confirm(?:ed)?)\b", passage.text[:400], re.IGNORECASE))
        ):
            yield passage

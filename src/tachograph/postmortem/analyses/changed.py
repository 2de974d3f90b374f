"""Changed since the last good session: the prompt, the model, a parameter, a tool, a guardrail, the agent's code.

Cause: what is in force here and was not there (``changes_found.py``). Consequence: this session did something else than the good one
(``outcomes.py``), or shows by itself that it went wrong (``symptoms.py``); of a tool, also that the same call gave its amounts in another unit. Without
any of these, a change is no cause. Of a guardrail, also that its word stood in place of the good session's answer, and the model's own stands here.

Of several changes the one stands first that could explain what was done otherwise: a sentence of a prompt whose words occur in the action, a tool that was
called. A change of code explains nothing where the model was asked the same and answered otherwise. Another input than the good session's may be the
reason itself; then only a change that explains it counts, or a session that shows that it went wrong.

It cannot see what neither request nor facts show: a model that was retrained under the same name, a service behind a tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.language.amounts import number
from tachograph.postmortem.language.terms import terms
from tachograph.postmortem.meaning.citing import called, cite, joined, said
from tachograph.postmortem.meaning.instructions import stems
from tachograph.postmortem.meaning.once import departed
from tachograph.postmortem.meaning.outcomes import comparable, given, last_answer, outcome
from tachograph.postmortem.meaning.symptoms import hard, symptoms

from .changes_calls import guardrails, models, parameters
from .changes_code import code
from .changes_texts import bearing, prompts, tools
from .contract import LEAST, LIKELY, STRONG, WEAK, Analysis, Finding
from .guardrails import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.meaning.outcomes import Outcome

    from .changes_found import Found

NAME = "changed_since_good"
#: Between cents and euros, milli- and whole, seconds and minutes and hours.
_UNITS = (60, 100, 1000, 3600, 1_000_000)


def run(case: Case) -> Iterator[Finding]:
    """Findings for the changes that may have done it."""
    good = case.good
    if good is None or not comparable(good, case):
        return
    result, wrong = outcome(case), hard(case)
    told = tuple(one for one in symptoms(case) if one.kind == "told")
    if result is None and not wrong and not told:
        yield from _let_through(good, case)
        yield from _other_unit(good, case)
        return
    changes = [*prompts(good, case), *models(good, case), *parameters(good, case), *tools(good, case), *guardrails(good, case)]
    surroundings = list(code(good, case))
    if not _asked_the_same(case):
        # What a commit brought is told by itself, where it is known.
        known = any(change.weight >= 0.5 for change in changes)
        changes += [one for one in surroundings if not (known and one.container)]
    if told and not wrong and (result is None or not result.same_input):
        # Word of harm alone blames what was there to prevent it, and nothing else.
        kept = [change for change in changes if change.cause == "policy"]
        changes, wrong = (kept, told) if kept or result is None else (changes, wrong)
    if not changes:
        return
    words = result.words if result is not None else frozenset()
    ordered = sorted(changes, key=lambda one: (-_explains(one, words, result), -one.weight, one.seq))
    shown = [result.evidence] if result is not None else []
    shown += [one.evidence() for one in wrong[:3]]
    clause = result.what if result is not None else wrong[0].what
    for place, change in enumerate(ordered):
        sure = _confidence(change, place, ordered, result, wrong=bool(wrong), same=given(good) == given(case))
        if sure >= LEAST:
            yield _finding(bearing(change, words), sure, clause, shown, len(changes))


def _let_through(good: Case, case: Case) -> Iterator[Finding]:
    """In the good session a guardrail stopped what came last, and its word stood in place of the answer; here it is gone, older or set otherwise,
    stopped nothing, and the answer is another one."""
    if given(good) != given(case):
        return
    stopped = [one for one in verdicts(good) if one.said == "stopped"] if (changes := list(guardrails(good, case))) else []
    if not stopped or any(one.said == "stopped" for one in verdicts(case)):
        return
    before, after = last_answer(good), last_answer(case)
    if before is None or after is None or stopped[-1].step is None or stopped[-1].step.number != before[0].number:
        return
    apart, together = stems(before[1]) ^ stems(after[1]), stems(before[1]) | stems(after[1])
    if len(apart) * 2 <= len(together):
        return
    others = [*prompts(good, case), *models(good, case), *parameters(good, case), *tools(good, case)]
    clause = f"this session answers {said(after[1])} where the good one, stopped by it, answers {said(before[1])}"
    for change in (one for one in changes if said(stopped[-1].name) in one.what):
        yield _finding(change, STRONG if not others else LIKELY, clause, [cite(after[0], "the answer")], len(others) + 1)


def _other_unit(good: Case, case: Case) -> Iterator[Finding]:
    """The same was asked of a tool that is defined otherwise, and what came back is a hundred or a thousand times as much, or as little."""
    if given(good) != given(case):
        return
    for change in tools(good, case):
        before, after = ([run for _, run in one.story.runs() if run.kind == "tool" and run.name in change.tools] for one in (good, case))
        for one, other in zip(before, after, strict=False):
            if one.title == other.title and (pair := _units_apart(one.output.text(), other.output.text())) is not None:
                clause = f"{called(other).what} gave {pair[1]:g} where it had given {pair[0]:g}"
                yield _finding(change, LIKELY + 0.1, clause, [called(other)], 1)
                break


def _units_apart(before: str, after: str) -> tuple[float, float] | None:
    """The first two numbers of two results, one for one, between which there is a change of unit."""
    old, new = ([found for term in terms(text[:4000]) if (found := number(term)) is not None] for text in (before, after))
    if len(old) != len(new):
        return None
    for one, other in zip(old, new, strict=True):
        if one and other and any(abs(max(one, other) / min(one, other) - factor) < 1e-6 for factor in _UNITS):
            return one, other
    return None


def _explains(change: Found, words: frozenset[str], result: Outcome | None) -> float:
    """How well a change accounts for what was done otherwise, from 0 to 1."""
    if result is None:
        return change.weight / 2
    if change.tools:
        return 1.0 if change.tools & result.tools else min(len(change.about & words), 2) / 8
    shared = len(change.about & words)
    if change.cause == "prompt" and change.about:
        return min(0.35 + shared / 4, 0.95) if shared else change.weight / 2
    return max(change.weight, 0.3 + 0.2 * min(shared, 2)) if shared else change.weight * 0.8


def _confidence(change: Found, place: int, ordered: list[Found], result: Outcome | None, *, wrong: bool, same: bool) -> float:
    words = result.words if result is not None else frozenset()
    explained = _explains(change, words, result)
    alone = len([one for one in ordered if one.weight >= 0.5 or one is change]) == 1
    if result is None:
        sure = LIKELY if alone and same else WEAK + 0.05
        return sure - (0.15 if change.weight < 0.5 else 0.0)
    if not same:
        if explained < 0.6 and not wrong:
            return 0.0
        sure = LIKELY if alone else 0.55
        return sure if place == 0 else WEAK - 0.1
    sure = STRONG if alone else 0.72
    sure += 0.1 if explained >= 0.6 else 0.0
    if change.weight < 0.5:
        sure -= 0.25 if change.cause == "harness" else 0.15
    if place:
        best = _explains(ordered[0], words, result)
        sure = min(sure, LIKELY) if explained >= best - 0.1 else WEAK if change.weight >= 0.5 else WEAK - 0.1
    return sure


def _asked_the_same(case: Case) -> bool:
    """Whether the two part at a step where both models had been asked the very same."""
    found = departed(case)
    return found is not None and found.steps[0] is not None and found.steps[1] is not None and found.saw is None and not found.same


def _finding(change: Found, sure: float, clause: str, shown: list[Evidence], number: int) -> Finding:
    more = "" if number == 1 else f" It is one of {number} changes."
    first = Evidence(event_id=change.event_id, seq=change.seq, what=change.what)
    return Finding(
        cause=change.cause, analysis=NAME, confidence=sure, first_event=change.event_id, first_seq=change.seq,
        evidence=joined([first, *change.evidence, *shown]),
        statement=f"Since the last good session, {change.what}; {clause}.{more}",
    )  # fmt: skip


ANALYSIS = Analysis(
    name=NAME, looks_for="a prompt, model, parameter, tool, guardrail or code that changed since the last good session", run=run
)

"""A tool's definition that changed while the session ran: its description or its schema is not the one by which the model had called it.

Cause: two requests of one conversation define a tool differently. Consequence: a later call follows the new words (they occur in its arguments and
nowhere else before), has other arguments than the calls before, or fails where those did not; or the session shows by itself that it went wrong.

Against the last good session likewise: a tool is described otherwise, an effect is called with the very same arguments, and what comes back is of another
kind: other fields and another state, or words that only the new description has. That the calls are equal is the trouble then, and no sign of health.

And a tool that behaves otherwise behind the same definition: the very same call as in the last good session has a result of another form, unit or scale
(``result_drift.py``), and what was done then is not what was done there.

Tools that come or go are no drift.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.terms import identifiers, values, words
from tachograph.postmortem.meaning.actions import Action, doings
from tachograph.postmortem.meaning.citing import LONG, begun, called, cite, joined, said
from tachograph.postmortem.meaning.effects import effects, looks
from tachograph.postmortem.meaning.once import entered
from tachograph.postmortem.meaning.outgoing import arguments_of
from tachograph.postmortem.meaning.results import failure
from tachograph.postmortem.meaning.symptoms import hard
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.values import one_line, plain, visible

from .changes_texts import altered, definitions
from .contract import LIKELY, STRONG, Analysis, Finding
from .result_drift import drift

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case, Evidence
    from tachograph.postmortem.shapes import Step

NAME = "tool_drift"
#: How often the results of one call are compared.
_LOOKS = 8
_BY_CODE = ", though what was fetched for it is the same: the agent's code made something else of it"


def run(case: Case) -> Iterator[Finding]:
    """A finding for each definition that changed with a consequence."""
    for name, found in definitions(case).items():
        for (_, before, _), (step, after, _) in itertools.pairwise(found):
            made = _look(case, name, before, after, step)
            if made is not None:
                yield made
                break
    if case.good is not None:
        redefined = list(_since_good(case.good, case))
        yield from redefined
        if not redefined:
            yield from _other_results(case.good, case)


def _since_good(good: Case, case: Case) -> Iterator[Finding]:
    old, new = definitions(good), definitions(case)
    if not any(old[name][-1][1].get("description") != new[name][0][1].get("description") for name in old.keys() & new.keys()):
        return
    before = {action.call: action for action in doings(good).actions if action.run.kind == "tool" and action.ok}
    told: set[str] = set()
    for action in doings(case).acting:
        name, same = action.run.name, before.get(action.call)
        if same is None or name in told or name not in old or name not in new or not action.ok:
            continue
        (_, was, _), (step, now, _) = old[name][-1], new[name][0]
        said_before, said_now = str(was.get("description") or ""), str(now.get("description") or "")
        telling = words(said_now) - words(said_before)
        if said_before == said_now or not telling:
            continue
        how = _otherwise(same.run, action.run, telling)
        if how is None:
            continue
        told.add(name)
        event_id, seq = begun(step)
        what, _ = altered(was, now)
        yield Finding(
            cause="tool", analysis=NAME, confidence=STRONG, first_event=event_id, first_seq=seq,
            evidence=joined([cite(step, "the tool's new definition"), called(action.run)]),
            statement=f"Since the last good session the tool {said(name)} is defined otherwise: {what}; {visible(one_line(action.run.title, LONG))} is the same call as then, and {how}.",
        )  # fmt: skip


def _other_results(good: Case, case: Case) -> Iterator[Finding]:
    """The first call that is one of the last good session to the letter, and whose result is of another form or scale; what was done then is not what was
    done there."""
    before: dict[str, Run] = {}
    for _, run in good.story.runs():
        if run.kind == "tool" and run.outcome == "ok" and not run.bad:
            before.setdefault(run.title, run)
    told: set[str] = set()
    looked: Counter[str] = Counter()
    for action in doings(case).actions if before else ():
        run = action.run
        same = before.get(run.title) if run.kind == "tool" and action.ok and run.name not in told else None
        if same is None or same.output == run.output or looked[run.title] >= _LOOKS or plain(same.input.value) != plain(run.input.value):
            continue
        looked[run.title] += 1
        found = drift(same, run) if failure(same) is None and action.failure is None else None
        after = _other_deed(action, good, case) if found is not None else None
        if found is None or after is None:
            continue
        told.add(action.name)
        code = _same_fetched(same, run)
        yield Finding(
            cause="harness" if code else "tool", analysis=NAME, confidence=STRONG + 0.02, first_event=action.run.event_id, first_seq=action.run.seq,
            evidence=joined([called(action.run), after[0]]),
            statement=(
                f"{visible(one_line(action.run.title, LONG))} is the same call as in the last good session, and its result is otherwise: {said(found.field)} {found.how},"
                f" {said(found.after)} instead of {said(found.before)}"
                f"{_BY_CODE if code else ''}; {after[1]}."
            ),
        )  # fmt: skip


def _same_fetched(one: Run, other: Run) -> bool:
    """Whether the exchanges and commands of two calls returned the same: then what differs is of the agent's code."""
    then, now = ([child.output.text() for child in run.children if isinstance(child, Run)] for run in (one, other))
    return bool(then) and then == now and any(then)


def _other_deed(action: Action, good: Case, case: Case) -> tuple[Evidence, str] | None:
    """What was done behind a result and not in the last good session, or the other way round."""
    there, here = _deeds(good), _deeds(case)
    known, done = {one.call for one in there}, {one.call for one in here}
    new = [one for one in here if one.run.seq > action.run.seq and one.call != action.call and one.call not in known]
    if new:
        one = next((one for one in new if one.effect is not None), new[0])
        return called(one.run), f"then {visible(one_line(one.run.title, LONG))} was done, which was not done there"
    left = next((one for one in there if one.call not in done), None)
    return (
        (called(action.run), f"what was done there, {visible(one_line(left.run.title, LONG))}, was not done") if left is not None else None
    )


def _deeds(case: Case) -> list[Action]:
    """The calls of tools that act, as far as nothing says that they only look."""
    return [
        one
        for one in doings(case).actions
        if one.run.kind == "tool" and (one.effect is not None or (one.run.effect is None and not looks(one.name)))
    ]


def _otherwise(one: Run, other: Run, telling: frozenset[str]) -> str | None:
    """How the results of two equal calls are of another kind."""
    then, now = _fields(one), _fields(other)
    if not then or not now:
        return None
    spoken = words(" ".join([*now, *now.values()])) - words(" ".join([*then, *then.values()]))
    if shared := sorted(telling & spoken):
        return f"its result has {said(shared[0])}, as the new words do"
    apart = sorted(set(then) ^ set(now))
    state = next((key for key in then if key in now and then[key] != now[key] and not any(map(str.isdigit, then[key] + now[key]))), None)
    return (
        f"its result has {said(state)} {said(now[state])} instead of {said(then[state])}, and other fields"
        if apart and state is not None
        else None
    )


def _fields(run: Run) -> dict[str, str]:
    value = parsed(run.output.text()[:20_000])
    return {key: str(item) for key, item in value.items() if isinstance(item, str | int | float)} if isinstance(value, dict) else {}


def _look(case: Case, name: str, before: dict[str, object], after: dict[str, object], step: Step) -> Finding | None:
    what, _ = altered(before, after)
    event_id, seq = begun(step)
    runs = [
        (by, one) for by, one in case.story.runs() if by is not None and one.kind == "tool" and one.name == name and one.outcome != "asked"
    ]
    earlier, later = [one for by, one in runs if by.number < step.number], [one for by, one in runs if by.number >= step.number]
    follows = _follows(case, before, after, seq)
    if follows is not None:
        sure, result = STRONG + 0.05, f"{visible(one_line(follows.title, LONG))} follows the new words"
        shown = [called(follows)]
    else:
        odd = next((one for one in later if _keys(one) - {key for each in earlier for key in _keys(each)}), None) if earlier else None
        failed = next((one for one in later if one.bad), None) if all(not one.bad for one in earlier) else None
        wrong = hard(case)
        if odd is not None:
            sure, result, shown = STRONG, f"{visible(one_line(odd.title, LONG))} has other arguments than the calls before", [called(odd)]
        elif failed is not None:
            sure, result, shown = LIKELY, f"{visible(one_line(failed.title, LONG))} failed, the calls before had not", [called(failed)]
        elif wrong and later:
            sure, result, shown = LIKELY, wrong[0].what, [called(later[0]), wrong[0].evidence()]
        else:
            return None
    return Finding(
        cause="tool", analysis=NAME, confidence=sure, first_event=event_id, first_seq=seq,
        evidence=joined([cite(step, "the tool's new definition") if not step.attempts else shown[0], *shown]),
        statement=f"From step {step.number} on the tool {said(name)} is defined otherwise: {what}; {result}.",
    )  # fmt: skip


def _follows(case: Case, before: dict[str, object], after: dict[str, object], seq: int) -> Run | None:
    """The first effect whose arguments have what only the new description says."""
    old, new = str(before.get("description") or ""), str(after.get("description") or "")
    names = identifiers(new) - identifiers(old)
    telling = words(new) - words(old)
    known: set[str] = set()
    for passage in entered(case):
        if passage.seq < seq and passage.kind != "model":
            known |= words(passage.text[:20_000])
    for effect in effects(case):
        if effect.since < seq:
            continue
        given = words(arguments_of(effect.run)[:20_000]) | words(effect.run.title[:2000])
        if (names - known) & given or len((telling - known) & given) >= 2:
            return effect.run
    return None


def _keys(run: Run) -> set[str]:
    return {path for path, _ in values(run.input.value)}


ANALYSIS = Analysis(
    name=NAME,
    looks_for="a tool whose definition changed during the session, or since the last good one while the calls stayed the same; results of another form or scale",
    run=run,
)

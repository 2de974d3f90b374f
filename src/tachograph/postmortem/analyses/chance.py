"""Chance: the same question, and another decision.

Cause: a model call whose answer is not decided by what it was asked. Shown by asking again (``tacho reask``, ``tacho fork``, ``tacho vary`` with nothing
changed but the sampling): the answers decide otherwise in a share that is surely not small; by the last good session, which was asked the very same and
answered otherwise; by a replay that departs by a clock, a drawn value or an order; or by an agent that read a clock or drew a value, was told the same, and did
something else by itself. Consequence: that decision is, or leads to, what the session did beyond reading, or the session shows that it went wrong.

Nothing is concluded from a temperature: models answer otherwise at 0, too, and the same at 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tachograph.core import events
from tachograph.postmortem.case import Evidence
from tachograph.postmortem.meaning.citing import cite, joined
from tachograph.postmortem.meaning.effects import acts, effects
from tachograph.postmortem.meaning.once import departed, entered, once
from tachograph.postmortem.meaning.outcomes import outcome
from tachograph.postmortem.meaning.symptoms import hard
from tachograph.postmortem.story import tell
from tachograph.postmortem.values import plain, read, visible
from tachograph.replay import agreement
from tachograph.replay.agreement import Answer

from .contract import LIKELY, STRONG, Analysis, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.shapes import Step

NAME = "chance"

#: What may be changed in a fork that still asks the same.
_SAMPLING = ("temperature", "top_p", "top_k", "seed")
#: At least so many answers that decide otherwise.
_FEW = 2
#: The lower end of the interval of their share is at least this.
_LEAST_SHARE = 0.08
_CAUSES = {"clock": "a time that it read", "entropy": "a value that it drew", "order": "the order in which things came"}


def run(case: Case) -> Iterator[Finding]:
    """By forks, by the last good session, by the replay, by what the agent drew itself."""
    asked = list(_of_forks(case))
    yield from asked
    if not asked:
        yield from _of_good(case)
    yield from _of_replay(case)


# -- asked again -----------------------------------------------------------------------------------------------------------------


def _of_forks(case: Case) -> Iterator[Finding]:
    answers: dict[int, list[Answer]] = {}
    for fork in case.forks:
        start = next((entry.event for entry in fork.entries if isinstance(entry.event, events.SessionStart)), None)
        origin = start.forked_from if start is not None else {}
        if origin.get("session_id") not in (None, case.story.session_id) or not _asks_the_same(origin.get("changed")):
            continue
        steps, number = tell(fork).steps, origin.get("step")
        if not isinstance(number, int) or not steps:
            continue
        step = steps[0] if origin.get("by") == "reask" or len(steps) == 1 else next((one for one in steps if one.number == number), None)
        if step is not None:
            answers.setdefault(number, []).append(decision(step))
    for step in case.story.steps:
        if step.number in answers:
            found = _of_answers(case, step, answers[step.number])
            if found is not None:
                yield found


def _asks_the_same(changed: object) -> bool:
    """Whether only the sampling was changed, or nothing."""
    names = changed if isinstance(changed, list) else []
    return all(any(word in str(name).lower() for word in _SAMPLING) for name in names)


def decision(step: Step) -> Answer:
    """What an answer decides."""
    if step.bad:
        return Answer(failed=step.call.outcome)
    used = tuple((part.name or "?", plain(part.value)) for part in step.reply if part.type == "tool_use")
    return Answer(actions=used, text="\n".join(part.text for part in step.reply if part.type == "text"))


def _of_answers(case: Case, step: Step, asked: list[Answer]) -> Finding | None:
    own = decision(step)
    found = agreement.compare(own, asked)
    others = found["answered"] - found["actions"]["same"]
    low, _ = agreement.wilson(others, found["answered"])
    if own.failed is not None or others < _FEW or low < _LEAST_SHARE:
        return None
    shown = _led_to(case, step)
    if not shown:
        return None
    sure = {"chance": STRONG + 0.12, "open": STRONG + 0.05, "cause": LIKELY}.get(str(found["verdict"]), LIKELY)
    other = next((one["told"] for one in found["decisions"] if not one["recorded"]), "something else")
    return Finding(
        cause="nondeterminism", analysis=NAME, confidence=sure, first_event=step.event_id, first_seq=step.seq,
        evidence=joined([cite(step, f"asked {found['answered']} times more, {others} answers decide otherwise"), *shown]),
        statement=(
            f"Asked the same again {found['answered']} times, the model decides otherwise in {others} of them (at least {round(low * 100)} of 100 by the 95% interval): "
            f"at step {step.number} it did {visible(own.told())}, else {visible(str(other))}."
        ),
    )  # fmt: skip


def _led_to(case: Case, step: Step) -> list[Evidence]:
    """What a step's decision is or led to: an effect that it asked for, or the first after it; else what shows that the session went wrong."""
    mine = [effect for effect in effects(case) if effect.step is not None and effect.step.number == step.number]
    later = [effect for effect in effects(case) if effect.step is not None and effect.step.number > step.number]
    if mine or later:
        effect = (mine or later)[0]
        return [cite(effect.run, f"{effect.run.name} followed")]
    return [one.evidence() for one in hard(case)[:1]]


# -- the last good session -------------------------------------------------------------------------------------------------------


def _of_good(case: Case) -> Iterator[Finding]:
    """The first step at which both were asked the very same and decided otherwise."""
    good = case.good
    result = outcome(case) if good is not None else None
    wrong = hard(case)
    if good is None or (result is None and not wrong):
        return
    for one, other in zip(good.story.steps, case.story.steps, strict=False):
        if one.bad or other.bad or not _same_request(case, one, other):
            break
        if one.call.served_model_id != other.call.served_model_id:
            return  # another model answered: that is the cause
        before, after = decision(one), decision(other)
        if before.key == after.key:
            continue
        shown = [result.evidence] if result is not None else []
        shown += [symptom.evidence() for symptom in wrong[:2]]
        told = [visible(answer.told()) for answer in (after, before)]
        yield Finding(
            cause="nondeterminism", analysis=NAME, confidence=STRONG + 0.1 if result is not None else LIKELY, first_event=other.event_id,
            first_seq=other.seq, evidence=joined([cite(other, "the same request as in the last good session"), *shown]),
            statement=f"At step {other.number} the model was asked the very same as in the last good session and decided otherwise: {told[0]}, where it did {told[1]}.",
        )  # fmt: skip
        return
    yield from _by_itself(case)


def _same_request(case: Case, one: Step, other: Step) -> bool:
    if one.call.model_id != other.call.model_id or one.call.params != other.call.params or one.call.prompt != other.call.prompt:
        return False
    if one.call.prompt_hash and one.call.prompt_hash == other.call.prompt_hash:
        return True
    assert case.good is not None
    first, second = read(case.good.recording, one.call.prompt_redacted_uri), read(case.recording, other.call.prompt_redacted_uri)
    return first.there and second.there and first.value == second.value


def _by_itself(case: Case) -> Iterator[Finding]:
    """An agent that did something else without a model having decided it, having drawn a value or read a clock before, and having been told the same."""
    found = departed(case)
    action = found.first[1] if found is not None else None
    if found is None or action is None or found.changes or case.good is None or not acts(action.name):
        return
    asked = {part.name for step in case.story.steps for part in step.reply if part.type == "tool_use"}
    read_before = _drawn(case)
    if action.name in asked or read_before is None or read_before.seq > action.seq:
        return
    if [passage.text for passage in entered(case) if passage.seq < action.seq] != [
        passage.text for passage in entered(case.good) if passage.seq < action.seq
    ]:
        return
    entry = next(one for one in case.recording.entries if one.seq == action.seq)
    evidence = [read_before.evidence, cite_entry(entry.event.id, entry.seq, visible(action.title[:160]))]
    yield Finding(
        cause="nondeterminism", analysis=NAME, confidence=LIKELY, first_event=read_before.evidence.event_id, first_seq=read_before.seq,
        evidence=joined(evidence),
        statement=f"The agent was given the same as the last good session, read {read_before.what}, and did {visible(action.title[:160])} by itself.",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Drawn:
    what: str
    seq: int
    evidence: Evidence


@once
def _drawn(case: Case) -> _Drawn | None:
    """The first line that says that the agent drew a value, or else that it read a clock."""
    found: _Drawn | None = None
    for entry in case.recording.entries:
        event = entry.event
        if not isinstance(event, events.Ambient) or event.kind in ("stdout", "stderr", "files"):
            continue
        content = read(case.recording, event.content_uri).value if event.kind == "reads" else None
        listed = content.get("reads") if isinstance(content, dict) else None
        kinds = {str(one[1]) for one in listed if isinstance(one, list) and len(one) > 1} if isinstance(listed, list) else {event.kind}
        if any(kind.startswith(("entropy", "random", "uuid")) for kind in kinds):
            return _Drawn(what="a drawn value", seq=entry.seq, evidence=cite_entry(event.id, entry.seq, "a drawn value"))
        if found is None and any(kind.startswith("clock") for kind in kinds):
            found = _Drawn(what="a clock", seq=entry.seq, evidence=cite_entry(event.id, entry.seq, "a clock"))
    return found


def cite_entry(event_id: str, seq: int, what: str) -> Evidence:
    """Evidence of a line that is no part of the story."""
    return Evidence(event_id=event_id, seq=seq, what=what)


# -- the replay ------------------------------------------------------------------------------------------------------------------


def _of_replay(case: Case) -> Iterator[Finding]:
    report = case.replay
    divergence = report.get("divergence") if report is not None and report.get("verdict") == "diverged" else None
    if not isinstance(divergence, dict) or divergence.get("cause") not in _CAUSES:
        return
    entry = case.recording.by_id(str(divergence.get("event_id") or ""))
    shown = [cite(effect.run, f"{effect.run.name} ran") for effect in effects(case)[:1]] or [one.evidence() for one in hard(case)[:1]]
    if entry is None or not shown:
        return
    cause = str(divergence["cause"])
    place = visible(str(divergence.get("path") or "the request")[:120])
    yield Finding(
        cause="nondeterminism", analysis=NAME, confidence=LIKELY, first_event=entry.event.id, first_seq=entry.seq,
        evidence=joined([cite_entry(entry.event.id, entry.seq, f"the replay departs here: {place}"), *shown]),
        statement=f"Replayed, the agent does not ask the same: it departs in {place}, by {_CAUSES[cause]}.",
    )  # fmt: skip


ANALYSIS = Analysis(name=NAME, looks_for="the same question with another decision", run=run)

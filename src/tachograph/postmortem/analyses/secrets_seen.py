"""A secret that stood in what a model was shown, and that the model passed on.

Cause: a placeholder of the redaction (``[REDACTED:<kind>:<fingerprint>]``: the model had the original) in a prompt, in what a user said, in a tool's result.
Consequence: the model says it again, in an answer, in the arguments of what acts, in a file.

Only seen is not enough: agents read configuration, and what they do not use did no harm that the record shows. It is told, as the weakest of all findings,
where the session shows by itself that it went wrong. What stands in headers, in the environment, or in the arguments of the agent's own code, no model saw. A
model that makes up a secret, or has it from elsewhere, is no such case: nothing that it was shown has it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.meaning.citing import cite, joined
from tachograph.postmortem.meaning.effects import effects
from tachograph.postmortem.meaning.once import entered
from tachograph.postmortem.meaning.outgoing import last_answers
from tachograph.postmortem.meaning.symptoms import hard
from tachograph.redact.placeholder import PLACEHOLDER

from .contract import LIKELY, PROVEN, STRONG, WEAK, Analysis, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case
    from tachograph.postmortem.passages import Passage
    from tachograph.postmortem.shapes import Step

NAME = "secret_seen"

_WHERE = {
    "system": "the system prompt", "user": "what the user said", "tool_result": "a tool's result", "file": "a file", "document": "a document that was retrieved",
    "memory": "the history", "subagent": "another agent's answer",
}  # fmt: skip


def run(case: Case) -> Iterator[Finding]:
    """A finding for each secret that was passed on, by where it came in."""
    if not any(passage.kind != "model" for passage in entered(case)) or not case.story.redactions:
        return
    first: dict[str, Passage] = {}
    kinds: dict[str, set[str]] = {}
    for passage in entered(case):
        if passage.kind != "model" and "[REDACTED:" in passage.text:
            for found in PLACEHOLDER.finditer(passage.text):
                first.setdefault(found[0], passage)
                kinds.setdefault(_kind(found[0]), set()).add(found[0])
    told: set[str] = set()
    for mark, passage in first.items():
        made = _passed_on(case, mark, passage)
        if made is None and len(kinds[_kind(mark)]) == 1:
            made = _written_otherwise(case, mark, passage)
        if made is not None and passage.event_id not in told:
            told.add(passage.event_id)
            yield made
    wrong = hard(case)
    if first and not told and wrong:
        mark, passage = next(iter(first.items()))
        yield _finding(case, mark, passage, WEAK, f"no answer has it; {wrong[0].what}", [wrong[0].evidence()])


def _written_otherwise(case: Case, mark: str, passage: Passage) -> Finding | None:
    """A secret of several lines that was indented, or joined, has another fingerprint. Where one of its kind came in and one goes out that nobody had
    brought, they are taken for the same."""
    for step in case.story.steps:
        if passage.step is not None and step.number < passage.step:
            continue
        for part in step.reply:
            for found in PLACEHOLDER.finditer(part.text or repr(part.value)):
                if _kind(found[0]) == _kind(mark):
                    made = _passed_on(case, found[0], passage)
                    return None if made is None else dataclasses.replace(made, confidence=min(made.confidence, STRONG))
    return None


def _kind(mark: str) -> str:
    return mark[1:-1].split(":")[1]


def _passed_on(case: Case, mark: str, passage: Passage) -> Finding | None:
    """The strongest way in which the model passed it on."""
    best: tuple[float, str, list[Evidence]] | None = None
    ends = last_answers(case)
    for step in case.story.steps:
        if passage.step is not None and step.number < passage.step + (passage.kind not in ("system", "user")):
            continue  # a result came in behind the answer that asked for it
        for found in _said(case, step, mark, final=step.number in ends):
            if best is None or found[0] > best[0]:
                best = found
    return None if best is None else _finding(case, mark, passage, *best)


def _said(case: Case, step: Step, mark: str, *, final: bool) -> Iterator[tuple[float, str, list[Evidence]]]:
    for part in step.reply:
        if part.type == "text" and mark in part.text:
            sure = PROVEN if final else LIKELY
            yield sure, f"the answer of step {step.number} has it", [cite(step, "the answer")]
        elif part.type == "tool_use" and mark in repr(part.value):
            effect = next(
                (one for one in effects(case) if one.step is not None and one.step.number == step.number and one.run.name == part.name),
                None,
            )
            shown = [cite(step, "the tool call")]
            if effect is not None:
                shown.append(cite(effect.run, f"{effect.run.name} ran"))
            yield (PROVEN if effect is not None else STRONG - 0.1), f"step {step.number} gives it to {part.name or 'a tool'}", shown


def _finding(case: Case, mark: str, passage: Passage, sure: float, clause: str, shown: list[Evidence]) -> Finding:
    kind = _kind(mark)
    outer = case.recording.by_id(passage.within) if passage.within is not None else None
    event_id, seq = (outer.event.id, outer.seq) if outer is not None else (passage.event_id, passage.seq)
    named = f" ({passage.name})" if passage.name and passage.kind not in ("system", "user") else ""
    first = Evidence(event_id=event_id, seq=seq, what=f"{passage.position} has {mark}")
    return Finding(
        cause="secret", analysis=NAME, confidence=sure, first_event=event_id, first_seq=seq, evidence=joined([first, *shown]),
        statement=f"A secret of the kind {kind} stood in {_WHERE.get(passage.kind, 'a text')}{named} that the model was shown; {clause}.",
    )  # fmt: skip


ANALYSIS = Analysis(name=NAME, looks_for="a secret that a model was shown and passed on", run=run)

"""What left a session: answers, arguments of what acted, files that it changed, what it printed. One list, made once, in which a text can be looked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tachograph.postmortem.language.terms import values
from tachograph.postmortem.values import textual

from .citing import called, cite
from .effects import effects
from .once import once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case, Evidence
    from tachograph.postmortem.shapes import Run, Step

    from .effects import Effect

How = Literal["answer", "argument", "file", "printed"]
#: Characters of one text that are looked at.
_MOST = 200_000


@dataclass(frozen=True, kw_only=True)
class Left:
    """``how`` it left and as which text; ``step``: by which answer, as far as that is known; ``effect``: by which call."""

    how: How
    text: str
    step: Step | None
    effect: Effect | None
    evidence: Evidence

    @property
    def seq(self) -> int:
        return self.evidence.seq


@once
def outgoing(case: Case) -> tuple[Left, ...]:
    """In the order of the record."""
    found = [*_answers(case), *_effects(case), *_printed(case)]
    return tuple(sorted(found, key=lambda left: left.seq))


def _answers(case: Case) -> Iterator[Left]:
    for step in case.story.steps:
        text = "\n".join(part.text for part in step.reply if part.type == "text" and part.text)
        if text:
            yield Left(how="answer", text=text[:_MOST], step=step, effect=None, evidence=cite(step, "the answer"))


def _effects(case: Case) -> Iterator[Left]:
    for effect in effects(case):
        text = arguments_of(effect.run)
        yield Left(how="argument", text=text[:_MOST], step=effect.step, effect=effect, evidence=called(effect.run))
        for change in effect.run.changes:
            if change.after:
                evidence = called(effect.run)
                yield Left(how="file", text=change.after[:_MOST], step=effect.step, effect=effect, evidence=evidence)


def _printed(case: Case) -> Iterator[Left]:
    for step, mark in case.story.marks("printed"):
        yield Left(how="printed", text=mark.body.text()[:_MOST], step=step, effect=None, evidence=cite(mark, "what the agent printed"))


def arguments_of(run: Run) -> str:
    """What a run was given, as one text; of a command its line, of an exchange its body."""
    if run.kind == "process":
        return run.title
    if isinstance(run.input.value, dict | list):
        return "\n".join(text for _, text in values(run.input.value))
    return textual(run.input.value)


def last_answers(case: Case) -> frozenset[int]:
    """The numbers of the steps whose answers ended something: nothing follows in their conversation, or a person says something next."""
    last: dict[int, int] = {}
    ended: set[int] = set()
    for step in case.story.steps:
        before = last.get(step.seen.conversation)
        if before is not None and any(
            new.message.role == "user" and any(part.type == "text" for part in new.message.parts) for new in step.seen.messages
        ):
            ended.add(before)
        last[step.seen.conversation] = step.number
    return frozenset(ended | set(last.values()))

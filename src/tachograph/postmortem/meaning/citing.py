"""Evidence of the parts of a story, in one way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tachograph.postmortem.case import Evidence
from tachograph.postmortem.shapes import Mark, Run, Step
from tachograph.postmortem.values import one_line, quoted, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

#: How much of a recorded text stands in a statement or beside a citation.
SHORT, LONG = 80, 160


def cite(item: Step | Run | Mark, what: str) -> Evidence:
    """The event of a step, run or mark, and what it shows."""
    return Evidence(event_id=item.event_id, seq=item.seq, what=what)


def begun(step: Step) -> tuple[str, int]:
    """The event and line of a step's first attempt: what its request had came in by that."""
    return (step.attempts[0].event_id, step.attempts[0].seq) if step.attempts else (step.event_id, step.seq)


def called(run: Run) -> Evidence:
    """A run by its title."""
    return cite(run, visible(one_line(run.title, LONG)))


def said(text: str) -> str:
    """A text of the record within a statement."""
    return quoted(text, SHORT)


def joined(found: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Without repetitions, in the order given."""
    return tuple(dict.fromkeys(found))

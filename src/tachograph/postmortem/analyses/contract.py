"""What an analysis is, and what it may say.

An analysis looks at one kind of cause. It reads a ``Case`` and yields findings; it never asks a model, a clock or a network, and says nothing that
no line of the record shows. A finding names a *cause that had a consequence*: an instruction in a document that the agent did not follow, or
a guardrail that was off while nothing came of it, is no finding.

A third party adds one by an entry point of the group ``tachograph.analyses`` that names an ``Analysis``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tachograph.postmortem.case import Case, Evidence

#: What can be at fault (docs/explanation/findings.md says what belongs to which).
CLASSES = (
    "input", "context", "prompt", "model", "parameters", "tool", "policy", "approval", "harness", "nondeterminism", "claim", "secret",
)  # fmt: skip

#: How sure a finding is. ``PROVEN``: the record shows cause and consequence by themselves. ``STRONG``: it shows both, and what joins them is a
#: match of texts or of order. ``LIKELY``: it shows the cause, and a consequence of the kind that it has. ``WEAK``: one of several explanations.
PROVEN, STRONG, LIKELY, WEAK = 0.95, 0.8, 0.65, 0.45

#: A finding that is less sure than this is not told: it would send somebody the wrong way at three in the morning.
LEAST = 0.4


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A cause. ``first_event``: the id of the event by which it came in or happened (of a tool's result the declared call where there is one),
    and ``first_seq`` its line. ``evidence``: what else shows it, in the order of the record, the consequence last. ``statement``: one or two sentences for
    somebody who does not know the session; texts of the record in it are quoted, short and made visible. ``runbook``: where the team's file
    has one for it."""

    cause: str
    analysis: str
    confidence: float
    first_event: str
    first_seq: int
    evidence: tuple[Evidence, ...]
    statement: str
    runbook: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.cause not in CLASSES:
            raise ValueError(f"an analysis names a class that does not exist, {self.cause}; one of {', '.join(CLASSES)}")
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"a confidence is between 0 and 1, {self.confidence}")

    def to_json(self) -> dict[str, Any]:
        """DESIGN §9: ``{"class", "analysis", "confidence", "first_event", "first_seq", "evidence", "statement", "runbook"}``."""
        return {
            "class": self.cause,
            "analysis": self.analysis,
            "confidence": round(self.confidence, 2),
            "first_event": self.first_event,
            "first_seq": self.first_seq,
            "evidence": [one.to_json() for one in self.evidence],
            "statement": self.statement,
            "runbook": self.runbook,
        }


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """``name``: as in ``poisoned_context``. ``looks_for``: one line, for the reference. ``run``: may yield any number of findings; what it raises
    is told in the report as an analysis that failed."""

    name: str
    looks_for: str
    run: Callable[[Case], Iterable[Finding]]

"""Which finding stands first: the surest, and of a chain its beginning.

One fault often shows in several ways: a poisoned document leads to a transfer that nobody approved, which the last answer then denies. Each analysis
tells what it sees; here the ones that follow from another are put behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .contract import LEAST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .contract import Finding

#: What a class says of how things went, rather than of why. Such a finding stands behind one of another class that is about as sure and begins earlier.
_CONSEQUENCES = ("claim", "approval")
#: Findings whose confidence differs by no more than this are about as sure.
_ABOUT = 0.2


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sorted, without repetitions (the same class at the same event is told once, by the surest analysis) and without what is too unsure."""
    best: dict[tuple[str, str], Finding] = {}
    for each in findings:
        if each.confidence < LEAST:
            continue
        known = best.get((each.cause, each.first_event))
        if known is None or each.confidence > known.confidence:
            best[each.cause, each.first_event] = each
    every = sorted(best.values(), key=lambda each: (-each.confidence, each.first_seq, each.analysis))
    return tuple(sorted(every, key=lambda each: (_behind(each, every), -each.confidence, each.first_seq, each.analysis)))


def _behind(one: Finding, every: list[Finding]) -> bool:
    """Whether it follows from another."""
    return one.cause in _CONSEQUENCES and any(
        other.cause not in _CONSEQUENCES and other.first_seq < one.first_seq and other.confidence >= one.confidence - _ABOUT
        for other in every
    )

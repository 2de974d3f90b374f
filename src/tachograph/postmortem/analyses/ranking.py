"""Which finding stands first: the surest, and of a chain its beginning.

One fault often shows in several ways: a poisoned document leads to a transfer that nobody approved, which the last answer then denies. Each analysis
tells what it sees; here the ones that follow from another are put behind it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from .contract import LEAST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .contract import Finding

#: What a class says of how things went, rather than of why. Such a finding stands behind one of another class that is about as sure and begins earlier.
_CONSEQUENCES = ("claim", "approval")
#: Findings whose confidence differs by no more than this are about as sure.
_ABOUT = 0.2
#: What says, in a finding of what changed, that it is the limit of an answer's length.
_LIMIT = re.compile(r"\bthe parameter (?:max\w{0,12}token\w{0,8}|max_?(?:output|length)\w{0,12}|num_predict)\b", re.IGNORECASE)


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sorted, without repetitions (the same class at the same event is told once, by the surest analysis) and without what is too unsure."""
    best: dict[tuple[str, str], Finding] = {}
    for each in findings:
        if each.confidence < LEAST:
            continue
        known = best.get((each.cause, each.first_event))
        if known is None or each.confidence > known.confidence:
            best[each.cause, each.first_event] = each
    _with_its_limit(best)
    every = sorted(best.values(), key=lambda each: (-each.confidence, each.first_seq, each.analysis))
    return tuple(sorted(every, key=lambda each: (_behind(each, every), -each.confidence, each.first_seq, each.analysis)))


def _with_its_limit(best: dict[tuple[str, str], Finding]) -> None:
    """An answer that was cut by a limit that is lower than in the last good session is told with that limit, at the first call that has it."""
    limit = next((key for key, one in best.items() if one.analysis == "changed_since_good" and _LIMIT.search(one.statement)), None)
    cut = [
        key
        for key, one in best.items()
        if one.analysis == "truncated_output" and limit is not None and one.first_seq >= best[limit].first_seq
    ]
    if limit is None or not cut:
        return
    told = [best.pop(key) for key in cut if key != limit]
    one = best[limit]
    shown = tuple(dict.fromkeys((*one.evidence, *(shown for other in told for shown in other.evidence))))
    best[limit] = replace(one, confidence=max(one.confidence, *(other.confidence for other in told), 0.0), evidence=shown)


def _behind(one: Finding, every: list[Finding]) -> bool:
    """Whether it follows from another."""
    return one.cause in _CONSEQUENCES and any(
        other.cause not in _CONSEQUENCES and other.first_seq < one.first_seq and other.confidence >= one.confidence - _ABOUT
        for other in every
    )

"""Which finding stands first: the surest, and of a chain its beginning.

One fault often shows in several ways: a poisoned document leads to a transfer that nobody approved, which the last answer then denies. Each analysis
tells what it sees; here the ones that follow from another are put behind it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from .contract import LEAST, LIKELY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .contract import Finding

#: What a class says of how things went, rather than of why. Such a finding stands behind one of another class that is about as sure and begins earlier.
_CONSEQUENCES = ("claim", "approval")
#: Findings whose confidence differs by no more than this are about as sure.
_ABOUT = 0.2
_CHANGED = "changed_since_good"
#: A call as it is quoted in a statement.
_CALL = re.compile(r"“(\w{1,80}\([^“”]{1,400}\))”")
#: What says, in a finding of what changed, that it is the limit of an answer's length.
_LIMIT = re.compile(r"\bthe parameter (?:max\w{0,12}token\w{0,8}|max_?(?:output|length)\w{0,12}|num_predict)\b", re.IGNORECASE)


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sorted, without repetitions (the same class at the same event is told once, by the surest analysis) and without what is too unsure."""
    best = {(each.cause, each.first_event): each for each in surest(findings) if each.confidence >= LEAST}
    _with_its_limit(best)
    every = sorted(best.values(), key=lambda each: (-each.confidence, each.first_seq, each.analysis))
    return tuple(sorted(every, key=lambda each: (_behind(each, every), -each.confidence, each.first_seq, each.analysis)))


def surest(findings: Iterable[Finding]) -> Iterable[Finding]:
    """Of those of one class with the same first event the surest."""
    best: dict[tuple[str, str], Finding] = {}
    for each in findings:
        known = best.get((each.cause, each.first_event))
        if known is None or each.confidence > known.confidence:
            best[each.cause, each.first_event] = each
    return best.values()


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


#: What a model decides by: a change of these explains what it made up.
_DECIDES = ("prompt", "model", "parameters")


def _explained(one: Finding, every: list[Finding]) -> bool:
    """Whether it is what a model did, and the same deed is what a change since the last good session explains."""
    shown = {each.event_id for each in one.evidence} | {one.first_event}
    return (
        one.cause == "model"
        and one.analysis != _CHANGED
        and any(
            other.analysis == _CHANGED
            and other.cause in _DECIDES
            and other.first_seq < one.first_seq
            and other.confidence >= max(one.confidence - _ABOUT, LIKELY)
            and (not shown.isdisjoint(each.event_id for each in other.evidence) or _same_deed(one, other))
            for other in every
        )
    )


def _same_deed(one: Finding, other: Finding) -> bool:
    """Whether two findings quote the same call."""
    return any(len(call) > 12 and call in other.statement for call in _CALL.findall(one.statement))


def _behind(one: Finding, every: list[Finding]) -> bool:
    """Whether it follows from another."""
    return _explained(one, every) or (
        one.cause in _CONSEQUENCES
        and any(
            other.cause not in _CONSEQUENCES and other.first_seq < one.first_seq and other.confidence >= one.confidence - _ABOUT
            for other in every
        )
    )

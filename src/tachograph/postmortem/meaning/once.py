"""What several analyses ask of a case is found out once, kept with the case, and gone with it."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar

from tachograph.postmortem.departure import Departure, compare
from tachograph.postmortem.outline import outline_of
from tachograph.postmortem.passages import Passage, asked, passages

if TYPE_CHECKING:
    from collections.abc import Callable

    from tachograph.postmortem.case import Case

Found = TypeVar("Found")


def once(function: Callable[[Case], Found]) -> Callable[[Case], Found]:
    """The function, called at most once for each case."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def of(case: Case) -> Found:
        kept = vars(case)
        if name not in kept:
            kept[name] = function(case)
        found: Found = kept[name]
        return found

    return of


@once
def entered(case: Case) -> tuple[Passage, ...]:
    """Every text that entered the session."""
    return passages(case.story, case.recording)


@once
def spoken(case: Case) -> tuple[Passage, ...]:
    """Of the texts that entered what prompts and people said. That is all that is asked of the last good session, as a rule; of this one all of them
    are looked at anyway."""
    if case.good is not None:
        return tuple(one for one in entered(case) if one.kind in ("system", "user"))
    return asked(case.story, case.recording)


@once
def departed(case: Case) -> Departure | None:
    """This session against the last good one, where there is one."""
    good = case.good
    if good is None:
        return None
    return compare(
        good.recording, case.recording, outlines=(outline_of(good.story), outline_of(case.story)), bundles=(good.bundle, case.bundle)
    )

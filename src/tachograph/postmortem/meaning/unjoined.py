"""Calls that ran with other arguments than they were asked with: the request for such a one and its run stand in the record as two.

The recorder joins a run to the request for it by what both have; where their values differ, the runs of a tool in a step are laid beside the requests
for it, in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .actions import Action, Doings, doings
from .once import once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Case


def unjoined(known: Doings) -> Iterator[tuple[Action, Action]]:
    """The requests that no run is joined to, each with the run that no request is joined to; where there are as many of these as of those."""
    found: dict[tuple[int, str], tuple[list[Action], list[Action]]] = {}
    for action in known.actions:
        if action.step is None or action.run.kind != "tool":
            continue
        if action.run.source == "wire":
            found.setdefault((action.step.number, action.run.name), ([], []))[0].append(action)
        elif action.run.source == "declared" and action.asked is None:
            found.setdefault((action.step.number, action.run.name), ([], []))[1].append(action)
    for asked, ran in found.values():
        if len(asked) == len(ran):
            yield from zip(asked, ran, strict=True)


@once
def recorded_apart(case: Case) -> frozenset[str]:
    """The events of the requests whose run is another event: what was done is told by that one."""
    return frozenset(asked.run.event_id for asked, _ in unjoined(doings(case)))

"""A session's costs by a price table, for verbs that tell its story."""

from __future__ import annotations

import contextlib
import datetime
from typing import TYPE_CHECKING

from tachograph.postmortem.costs import Costs

if TYPE_CHECKING:
    from tachograph.postmortem.shapes import Story


def costs(story: Story, path: str | None) -> Costs:
    """What each step cost by the table in that file, else by that of the package. Raises ``UsageError`` for a file that is no such table."""
    from tachograph.fleet import prices

    table = prices.load(path)
    steps: dict[int, float] = {}
    unknown: dict[str, None] = {}
    for step in story.steps:
        call = step.call
        tokens = prices.counted(call.usage)
        if tokens is None:
            continue
        day = None
        with contextlib.suppress(ValueError):
            day = datetime.date.fromisoformat(step.ts[:10])
        money = table.cost(call.provider, (call.served_model_id, call.model_id), day, tokens)
        if money is None:
            unknown[call.served_model_id or call.model_id or "?"] = None
        else:
            steps[step.number] = money
    return Costs(currency=table.currency, where=table.where, date=table.date, steps=steps, unknown=tuple(unknown))

"""``tacho fork --vary``: forks that change exactly one thing each, run as a set, and which of them decides otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tachograph.replay.edits import Edit

from . import forking


def vary(plan: forking.Plan, changes: Sequence[Edit], progress: Callable[[int, int], None] = lambda _done, _of: None) -> dict[str, Any]:
    """One fork with nothing changed (what another draw alone does), then one a change. Returns the table and the forks' reports."""
    group = f"set_{plan.entropy(8).hex()}"
    budget, rows = plan.budget, []
    for number, change in enumerate([None, *changes]):
        progress(number, len(changes) + 1)
        found = forking.fork(replace(plan, edits=() if change is None else (change,), by="vary", group=group, budget=budget))
        calls, tokens = found["calls"]["live"], found["calls"]["tokens"]
        budget = forking.Budget(
            calls=max(0, budget.calls - calls), tokens=None if budget.tokens is None else max(0, budget.tokens - tokens)
        )
        rows.append({"change": None if change is None else change.what, "value": None if change is None else change.value, **found})
    progress(len(changes) + 1, len(changes) + 1)
    decided = [row for row in rows if row["decision"] is not None]
    return {
        "set": group, "forked_from": {key: rows[0]["forked_from"][key] for key in ("session_id", "step", "event_id")},
        "recorded": decided[0]["decision"]["recorded"] if decided else None,
        "flips": [told(row) for row in rows if row["change"] is not None and row["decision"] is not None and row["decision"]["flipped"]],
        "control_flips": rows[0]["decision"]["flipped"] if rows[0]["decision"] is not None else None,
        "rows": rows,
    }  # fmt: skip


def told(row: dict[str, Any]) -> str:
    """What was changed in a row: ``model=claude-b``."""
    if row["change"] is None:
        return "nothing (asked again)"
    value = row["value"] if isinstance(row["value"], str) else json.dumps(row["value"], ensure_ascii=False)
    value = " ".join(value.split())
    return f"{row['change']}={value if len(value) <= 40 else value[:39] + '…'}"

"""Whether a call that is on the record really happened. An agent that is refused something tells its model so, as the tool's result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tachograph.postmortem.shapes import Run

_STOPPED = re.compile(
    r"\b(?:blocked|denied|refused|rejected|not (?:allowed|permitted|approved|authori[sz]ed|executed|run|sent|done)|was not|were not|disallowed|forbidden|prohibited|declined|cancelled|canceled"
    r"|skipped|held back|on hold|pending (?:approval|review)|awaiting|needs? approval|requires? approval|approval (?:is )?required|guardrail|by policy|policy violation|intervened|aborted)\b",
    re.IGNORECASE,
)


def happened(run: Run) -> bool:
    """Whether it ran, and what came back does not say that it was held back."""
    if run.outcome == "asked":
        return False
    return not _STOPPED.search(f"{run.output.text()[:400]} {run.error.text()[:400]} {run.given.text()[:400]}")

"""All analyses. A built-in one is added here and nowhere else; those of others come by the entry points of ``tachograph.analyses``."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

from . import (
    agent_code,
    approvals,
    chance,
    changed,
    changed_instructions,
    contradictions,
    damaged_input,
    false_claim,
    guardrails,
    invented_value,
    left_out,
    lost_history,
    misread_error,
    odd_result,
    overridden_instruction,
    placeholders,
    poisoned_context,
    repeated_effect,
    secrets_seen,
    served_model,
    stale_result,
    superseded,
    tool_drift,
    truncated,
    unknown_name,
    wrong_argument,
)
from .contract import Analysis, Finding
from .ranking import ranked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tachograph.postmortem.case import Case

GROUP = "tachograph.analyses"

BUILT_IN: tuple[Analysis, ...] = (
    agent_code.ANALYSIS,
    approvals.ANALYSIS,
    chance.ANALYSIS,
    changed.ANALYSIS,
    changed_instructions.ANALYSIS,
    contradictions.ANALYSIS,
    false_claim.ANALYSIS,
    guardrails.ANALYSIS,
    misread_error.ANALYSIS,
    odd_result.ANALYSIS,
    placeholders.ANALYSIS,
    poisoned_context.ANALYSIS,
    repeated_effect.ANALYSIS,
    secrets_seen.ANALYSIS,
    served_model.ANALYSIS,
    tool_drift.ANALYSIS,
    truncated.ANALYSIS,
    unknown_name.ANALYSIS,
    left_out.ANALYSIS,
    lost_history.ANALYSIS,
    overridden_instruction.ANALYSIS,
    invented_value.ANALYSIS,
    wrong_argument.ANALYSIS,
    damaged_input.ANALYSIS,
    stale_result.ANALYSIS,
    superseded.ANALYSIS,
)


def analyses() -> tuple[tuple[Analysis, ...], tuple[dict[str, Any], ...]]:
    """All there are, and those of others that could not be loaded, as ``{"analysis", "error"}``."""
    found, failed = list(BUILT_IN), []
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name):
        try:
            loaded = point.load()
        except Exception as error:  # noqa: BLE001 - whatever somebody else's package raises when it is imported
            failed.append({"analysis": point.name, "error": type(error).__name__})
            continue
        if isinstance(loaded, Analysis):
            found.append(loaded)
        else:
            failed.append({"analysis": point.name, "error": "is no Analysis"})
    return tuple(found), tuple(failed)


def look(case: Case, chosen: Sequence[Analysis] | None = None) -> tuple[tuple[Finding, ...], tuple[dict[str, Any], ...]]:
    """The findings of a case, the likeliest root cause first, and the analyses that failed: one that raises takes none of the others with it. Of an
    error only its kind is told, since its words may hold anything."""
    every, failed = (tuple(chosen), ()) if chosen is not None else analyses()
    found: list[Finding] = []
    broken = list(failed)
    for analysis in every:
        try:
            found += list(analysis.run(case))
        except Exception as error:  # noqa: BLE001 - told in the report
            broken.append({"analysis": analysis.name, "error": type(error).__name__})
    return ranked(found), tuple(broken)

"""What the steps of a session cost, as whoever has a price table works it out; this package has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Costs:
    """``steps``: money by a step's number, of those whose model has a price and whose tokens were counted; ``unknown``: the other models with
    counted tokens. ``where`` and ``date`` name the price table."""

    currency: str
    where: str
    date: str
    steps: Mapping[int, float] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def total(self) -> float | None:
        """Of all steps; None where nothing is known."""
        return sum(self.steps.values()) if self.steps else None

    def to_json(self) -> dict[str, Any]:
        """``{"total", "currency", "unknown", "prices"}``."""
        total = self.total
        return {
            "total": None if total is None else round(total, 9), "currency": self.currency, "unknown": list(self.unknown),
            "prices": {"where": self.where, "date": self.date},
        }  # fmt: skip

"""The rules: facts about the shapes of secrets, as data. One module per group of vendors."""

from __future__ import annotations

from tachograph.redact.rules import clouds, forges, llm, material, messaging, payments, services, webhooks
from tachograph.redact.rules.rule import Rule

ALL: tuple[Rule, ...] = (
    *material.RULES,
    *llm.RULES,
    *forges.RULES,
    *clouds.RULES,
    *messaging.RULES,
    *payments.RULES,
    *services.RULES,
    *webhooks.RULES,
)

__all__ = ["ALL", "Rule"]

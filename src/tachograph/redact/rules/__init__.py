"""The rules: facts about the shapes of secrets, as data. One module per group of vendors."""

from __future__ import annotations

from tachograph.redact.rules import (
    ai_tools,
    clouds,
    commerce,
    content,
    databases,
    devtools,
    finance,
    forges,
    identity,
    llm,
    material,
    messaging,
    monitoring,
    networking,
    payments,
    services,
    talk,
    webhooks,
)
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
    *ai_tools.RULES,
    *commerce.RULES,
    *content.RULES,
    *databases.RULES,
    *devtools.RULES,
    *finance.RULES,
    *identity.RULES,
    *monitoring.RULES,
    *networking.RULES,
    *talk.RULES,
)

__all__ = ["ALL", "Rule"]

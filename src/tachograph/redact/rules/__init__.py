"""The rules: facts about the shapes of secrets, as data. One module per group of vendors."""

from __future__ import annotations

from tachograph.redact.rules import (
    accounts,
    ai_tools,
    clouds,
    commerce,
    content,
    databases,
    devtools,
    finance,
    forges,
    identity,
    layouts,
    llm,
    material,
    messaging,
    monitoring,
    networking,
    payments,
    services,
    sessions,
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
    *sessions.RULES,
    *webhooks.RULES,
    *layouts.RULES,
    *accounts.RULES,
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

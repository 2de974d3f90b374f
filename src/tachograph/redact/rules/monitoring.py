"""Tokens of monitoring, logging, incident and feature flag services."""

from __future__ import annotations

from tachograph.redact.rules.examples import hexa, mixed, uuid
from tachograph.redact.rules.prefixed import prefixed
from tachograph.redact.rules.rule import LEFT_WORD, RIGHT, Expression, Rule, token

RULES: tuple[Rule, ...] = (
    prefixed("datadog-token", "ddapp_", "mixed", 34),
    prefixed("honeycomb-key", "hcaik_ hcbik_ hccik_ hcxik_ hcaic_ hcbic_ hcalk_ hcamk_ hcxlk_ hcxmk_", "lower", 40, 70),
    prefixed("axiom-token", "xaat- xapt- xait-", "uuid"),
    prefixed("sentry-integration-token", "sntryi_ sntrya_", "hex", 64, kind="sentry-token"),
    prefixed("honeybadger-token", "hbp_", "mixed", 30, 44),
    prefixed("checkly-key", "cu_", "hex", 32, 32, word=True),
    prefixed("healthchecks-key", "hcr_ hcw_", "mixed", 28, 32),
    prefixed("firehydrant-token", "fhb-", "hex", 32, 32),
    prefixed("coralogix-key", "cxtp_ cxup_", "mixed", 30, 64),
    prefixed("logdna-service-key", "sts_", "hex", 32, 32, word=True),
    prefixed("statsig-key", "secret- console-", "mixed", 36, 64, word=True),
    token(
        "flagsmith-key",
        r"ser\.[A-Za-z0-9]{20,28}" + RIGHT,
        "ser.",
        positive=("se" + "r." + mixed(22),),
        negative=("user." + mixed(22), "ser.name"),
        left=LEFT_WORD,
        entropy=4.0,
    ),
    Rule(
        id="unleash-token",
        kind="unleash-token",
        keywords=(":development.", ":production.", ":test.", ":staging.", ":default.", ":*."),
        pattern=Expression(LEFT_WORD + r"(?:\*|\[\]|[\w-]{1,40}):(?:\*|[a-z]{1,20})\.[0-9a-f]{32,64}" + RIGHT),
        positive=("default:develop" + "ment." + hexa(64), "*" + ":*." + hexa(56)),
        negative=("default:development.name",),
        reach=41,
        inside=False,
    ),
    prefixed(
        "growthbook-key",
        "secret_admin_ secret_user_ secret_readonly_ key_prod_ key_dev_ key_stag_",
        "mixed",
        16,
        64,
        word=True,
        entropy=3.5,
    ),
    prefixed("teamcity-token", "eyJ0eXAiOiAiVENWMiJ9.", "dotted", 60),
    prefixed("netbox-token", "nbt_", "dotted", 40, 64),
    token(
        "splunk-oncall-hook",
        r"alert\.victorops\.com/integrations/generic/\d{6,10}/alert/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
        "alert.victorops.com",
        kind="webhook",
        positive=("alert.victor" + "ops.com/integrations/generic/20131114/alert/" + uuid(),),
        negative=("alert.victorops.com/x",),
    ),
)

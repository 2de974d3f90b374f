"""Tokens of databases as a service, warehouses, pipelines and analytics."""

from __future__ import annotations

import re

from tachograph.redact.rules.examples import hexa, letters, mixed
from tachograph.redact.rules.prefixed import prefixed
from tachograph.redact.rules.rule import LEFT, LEFT_WORD, Expression, Rule

RULES: tuple[Rule, ...] = (
    prefixed("dbt-token", "dbtc_ dbtu_ dbts_", "url", 36, 80),
    prefixed("hex-token", "hxtp_ hxtw_", "hex", 60),
    prefixed("metabase-key", "mb_", "base64", 40, 64, word=True, entropy=3.8),
    prefixed("lightdash-token", "ldpat_", "hex", 32),
    prefixed("materialize-password", "mzp_", "hex", 64),
    prefixed("tinybird-token", "p.eyJ", "dotted", 40),
    prefixed("xata-key", "xau_", "mixed", 36, 80),
    Rule(
        id="convex-key",
        kind="convex-key",
        keywords=("|eyJ2MiI6",),
        pattern=Expression(r"\|(eyJ2MiI6[A-Za-z0-9+/_-]{20,400}={0,2})", re.ASCII),
        group=1,
        positive=("prod:happy-otter-123" + "|eyJ2" + "MiI6" + mixed(60),),
        negative=("|eyJ2MiI6",),
        inside=False,
        gate="|",
    ),
    prefixed("fauna-secret", "fnAC fnAD fnAE fnAF fnAG", "url", 32, 44, word=True, entropy=3.8),
    Rule(
        id="apollo-graph-key",
        kind="apollo-key",
        keywords=("service:", "user:gh.", "user:fb.", "user:go."),
        pattern=Expression(
            LEFT_WORD + r"(?:service:[\w-]{2,64}|user:(?:gh|fb|go)\.[\w-]{2,64}):(?=[\w-]{0,20}\d)[\w-]{22}(?![\w-])", re.ASCII
        ),
        positive=("service" + ":my-graph:" + mixed(22), "user" + ":gh.someone:" + mixed(22)),
        negative=("service:my-graph:name", "service:name:the-long-name-of-a-port"),
        inside=False,
        entropy=3.5,
    ),
    Rule(
        id="astra-token",
        kind="astra-token",
        keywords=("AstraCS:",),
        pattern=Expression(LEFT + r"AstraCS:[A-Za-z0-9_-]{20,30}:[0-9a-f]{64}", re.ASCII),
        positive=("Astra" + "CS:" + letters(24) + ":" + hexa(64),),
        negative=("AstraCS:x",),
        inside=False,
        gate="AstraCS:",
    ),
    prefixed("tigris-secret", "tsec_", "base64", 40),
    prefixed("spicedb-token", "sdbst_h256_", "mixed", 40),
    prefixed("secret-client-token", "secret_live_ secret_test_", "mixed", 20, 64, word=True, kind="secret-key"),
)

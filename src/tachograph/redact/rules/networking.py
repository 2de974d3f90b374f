"""Tokens of hosting, networks, orchestration and machines."""

from __future__ import annotations

import re

from tachograph.redact.rules.examples import hexa, mixed, uuid
from tachograph.redact.rules.prefixed import prefixed
from tachograph.redact.rules.rule import LEFT, LEFT_WORD, RIGHT, Expression, Rule, token

RULES: tuple[Rule, ...] = (
    prefixed("netbird-token", "nbp_", "mixed", 34, 44),
    prefixed("cloudflare-tunnel-token", "eyJhIjoi", "base64", 120, 400),
    prefixed("turnstile-secret", "0x4AAAAAA", "url", 26, 40),
    prefixed("upcloud-token", "ucat_", "upper", 24, 40),
    prefixed("aws-appsync-key", "da2-", "lower", 26, 26, word=True),
    prefixed("google-hmac-key", "GOOG1E", "upper", 55, 55),
    prefixed("google-hmac-id", "GOOG", "upper", 20, 20, kind="google-hmac-key"),
    Rule(
        id="google-oauth-code",
        kind="google-oauth-code",
        keywords=("4/0A",),
        pattern=Expression(LEFT + r"4/0A[\w-]{50,200}", re.ASCII),
        positive=("4/" + "0A" + mixed(70),),
        negative=("4/0A",),
        inside=False,
        gate="/0A",
        entropy=3.5,
    ),
    Rule(
        id="twilio-pair",  # an account and its token, as in a URL or after curl's -u
        kind="twilio-token",
        keywords=("AC",),
        pattern=Expression(LEFT_WORD + r"AC[0-9a-f]{32}:([0-9a-f]{32})" + RIGHT),
        group=1,
        positive=("A" + "C" + hexa(32) + ":" + hexa(32),),
        negative=("AC" + hexa(32),),
    ),
    Rule(
        id="canvas-lms-token",
        kind="canvas-token",
        keywords=tuple(f"{c}~" for c in "0123456789"),
        pattern=Expression(LEFT + r"\d{1,6}~[A-Za-z0-9]{64}" + RIGHT, re.ASCII),
        positive=("12345" + "~" + mixed(64),),
        negative=("5~" + mixed(12),),
        reach=6,
        entropy=4.0,
    ),
    Rule(
        id="sanctum-token",  # Laravel's, so of what is built on it: Forge, Vapor, Ploi, Coolify; and Facebook's of an app
        kind="api-token",
        keywords=tuple(f"{c}|" for c in "0123456789"),
        pattern=Expression(
            LEFT
            + r"(?:\d{1,10}\|(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{40,60}"
            + RIGHT
            + r"|\d{14,17}\|(?=[A-Za-z_-]{0,27}\d)[\w-]{26,28}(?![\w-]))",
            re.ASCII,
        ),
        positive=("42" + "|" + mixed(40), "1234567890123456" + "|" + mixed(27)),
        negative=("1|2|3", "10|" + mixed(12)),
        reach=17,
        inside=False,
        gate="|",
        entropy=3.8,
    ),
    prefixed("panos-key", "LUFRPT", "base64", 30, 400),
    Rule(
        id="proxmox-token",
        kind="proxmox-token",
        keywords=("PVEAPIToken=",),
        pattern=Expression(r"PVEAPIToken=[\w.-]{1,40}@[\w-]{1,32}![\w.-]{1,64}=([0-9a-f-]{36})", re.ASCII),
        group=1,
        positive=("PVEAPI" + "Token=root@pam!monitoring=" + uuid(),),
        negative=("PVEAPIToken=",),
        inside=False,
        gate="PVEAPIToken=",
    ),
    token(
        "stripe-client-secret",
        r"(?:pi|seti|src|cs|ek)_[A-Za-z0-9]{14,70}_secret_[A-Za-z0-9]{16,80}",
        "pi_",
        "seti_",
        "src_",
        "cs_",
        "ek_",
        kind="stripe-key",
        positive=("p" + "i_" + mixed(24) + "_sec" + "ret_" + mixed(25),),
        negative=("pi_value_secret_name",),
        left=LEFT_WORD,
        entropy=3.5,
    ),
)

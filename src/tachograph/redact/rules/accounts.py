"""Tokens of people's accounts at large providers, and of smaller platforms that followed the same habits."""

from __future__ import annotations

import re

from tachograph.redact.rules.examples import hexa, mixed, uuid
from tachograph.redact.rules.prefixed import prefixed
from tachograph.redact.rules.rule import LEFT, LEFT_WORD, RIGHT, RIGHT_WORD, Expression, Rule, token

RULES: tuple[Rule, ...] = (
    prefixed("openai-session", "sess-", "mixed", 40, 40, word=True, entropy=3.8, kind="openai-key"),
    Rule(
        id="amazon-login-token",
        kind="amazon-token",
        keywords=("Atza|", "Atzr|"),
        pattern=Expression(LEFT + r"Atz[ar]\|[A-Za-z0-9+/_-]{80,4000}={0,2}", re.ASCII),
        positive=("At" + "zr|" + mixed(200),),
        negative=("Atza|name",),
        inside=False,
    ),
    prefixed("amazon-login-secret", "amzn1.oa2-cs.v1.", "hex", 64, 64),
    token(
        "aws-sso-token",
        r"ao[ar]AAAAA[A-Za-z0-9+/_-]{60,4000}(?::[A-Za-z0-9+/_-]{20,400})?={0,2}",
        "aoaAAAAA",
        "aorAAAAA",
        kind="aws-session-token",
        positive=("ao" + "aAAAAA" + mixed(200) + ":" + mixed(80),),
        negative=("aoaAAAAA" + mixed(10),),
        entropy=4.0,
    ),
    token(
        "entra-refresh-token",
        r"[01]\.A[\w-]{10,120}\.AgAB[\w-]{80,4000}",
        "0.A",
        "1.A",
        kind="azure-token",
        positive=("0" + ".AX" + mixed(40) + ".AgAB" + mixed(200),),
        negative=("0.A", "1.A" + mixed(30) + ".x"),
        left=LEFT_WORD,
        entropy=4.0,
    ),
    Rule(
        id="microsoft-account-token",
        kind="azure-token",
        keywords=("M.C", "M.R"),
        pattern=Expression(LEFT_WORD + r"M\.[CR]\d{1,4}_[A-Z0-9]{3,4}\.[\w!*.$-]{60,4000}", re.ASCII),
        positive=("M.C" + "105_BAY.0.U.-" + mixed(200),),
        negative=("M.C105_BAY.x",),
        entropy=4.0,
        inside=False,
    ),
    token(
        "auth0-refresh-token",
        r"v1\.M(?=[\w-]{0,30}\d)[\w-]{40,100}" + RIGHT_WORD,
        "v1.M",
        positive=("v" + "1.M" + mixed(60),),
        negative=("v1.Method",),
        left=LEFT_WORD,
        entropy=4.0,
    ),
    Rule(
        id="webex-token",
        kind="webex-token",
        keywords=("_PF84_", "_P0A1_", "_PE93_"),
        pattern=Expression(
            LEFT + r"[A-Za-z0-9]{50,64}(?:_[A-Za-z0-9]{1,4})?_P[A-Z0-9]{3}_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
        ),
        positive=(mixed(64) + "_PF" + "84_" + uuid(),),
        negative=("_PF84_" + uuid(),),
        reach=70,
        entropy=3.5,
    ),
    Rule(
        id="ebay-token",
        kind="ebay-token",
        keywords=("v^1.1#",),
        pattern=Expression(LEFT_WORD + r"v\^1\.1#[A-Za-z0-9^#.+/=_-]{60,4000}", re.ASCII),
        positive=("v^1" + ".1#i^1#p^3#I^3#r^1#f^0#t^" + mixed(120) + "==",),
        negative=("v^1.1#i^1",),
        inside=False,
    ),
    prefixed("tesla-token", "EU_ NA_ CN_", "hex", 64, 64, word=True),
    Rule(
        id="pagerduty-token",
        kind="pagerduty-token",
        keywords=("pdus+_", "pdeu+_"),
        pattern=Expression(LEFT_WORD + r"pd(?:us|eu)\+_[\w-]{24,120}", re.ASCII),
        positive=("pdu" + "s+_0XBPWQQ_" + uuid(),),
        negative=("pdus+_x",),
        inside=False,
        entropy=3.0,
    ),
    prefixed("wix-key", "IST.eyJ", "dotted", 80, 4000),
    prefixed("depot-token", "depot_project_ depot_org_ depot_user_", "hex", 60),
    prefixed("appwrite-key", "standard_", "hex", 160),
    prefixed("edgedb-key", "nbwt_ nbwt1_ edbt_ edbt1_", "dotted", 60, 4000),
    prefixed("corbado-secret", "corbado1_", "mixed", 24, 64),
    prefixed("arcjet-key", "ajkey_", "lower", 24, 40),
    prefixed("formbricks-key", "fbk_", "url", 40, 64),
    prefixed("plane-token", "plane_api_", "hex", 32),
    prefixed("outline-key", "ol_api_", "mixed", 32, 64),
    prefixed("teable-token", "teable_acc", "base64", 40),
    prefixed("mystic-key", "pipeline_sk_", "url", 28, 64),
    prefixed("prime-intellect-key", "pit_", "hex", 64, 64, word=True),
    prefixed("warpstream-key", "aks_", "hex", 64, 64, word=True),
    Rule(
        id="ebay-secret",
        kind="ebay-secret",
        keywords=("PRD-", "SBX-"),
        pattern=Expression(LEFT_WORD + r"(?:PRD|SBX)-[0-9a-f]{12}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}" + RIGHT),
        positive=("PR" + "D-" + "-".join((hexa(12), hexa(4), hexa(4), hexa(4), hexa(4))),),
        negative=("PRD-1234",),
    ),
)

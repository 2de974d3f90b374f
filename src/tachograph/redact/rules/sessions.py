"""What frameworks and programs make themselves: signed sessions, application keys, key stores."""

from __future__ import annotations

import re

from tachograph.redact.rules.examples import hexa, mixed
from tachograph.redact.rules.prefixed import prefixed
from tachograph.redact.rules.rule import LEFT, LEFT_BASE64, LEFT_WORD, RIGHT, RIGHT_WORD, Expression, Rule, token

RULES: tuple[Rule, ...] = (
    token(
        "signed-session",  # itsdangerous, so Flask: JSON (compressed behind a dot), a time, a signature
        r"(?:eyJ|\.eJ)[\w-]{8,4000}\.[\w-]{6}\.[\w-]{27,43}" + RIGHT_WORD,
        "eyJ",
        ".eJ",
        kind="cookie",
        positive=("ey" + "J1c2VyX2lkIjoxfQ." + mixed(6) + "." + mixed(27), ".e" + "J" + mixed(60) + "." + mixed(6) + "." + mixed(27)),
        negative=("eyJ1c2VyX2lkIjoxfQ", "x.eJ.y"),
        left=LEFT_WORD,
        entropy=3.5,
    ),
    prefixed("aspnet-protected", "CfDJ8", "url", 80, 4000, word=True, entropy=4.0, kind="cookie"),
    Rule(
        id="rails-signed",  # the base64 of Ruby's own serialisation, or of JSON, and a signature; Basecamp's tokens, too
        kind="cookie",
        keywords=("BAh", "eyJfcmFpbHMi"),
        pattern=Expression(LEFT_WORD + r"(?:BAh|eyJfcmFpbHMi)[A-Za-z0-9+/_%-]{16,1000}={0,2}--[0-9a-f]{40,64}" + RIGHT),
        positive=("BA" + "hbB0kiAbB7" + mixed(60) + "==--" + hexa(40), "ey" + "JfcmFpbHMi" + mixed(60) + "--" + hexa(64)),
        negative=("BAh" + mixed(30),),
        entropy=3.5,
    ),
    Rule(
        id="laravel-app-key",
        kind="key",
        keywords=("base64:",),
        pattern=Expression(LEFT_WORD + r"base64:[A-Za-z0-9+/]{43}=(?![A-Za-z0-9+/=])"),
        positive=("base" + "64:" + mixed(43) + "=",),
        negative=("base64:" + mixed(20) + "=", "sha256-base64:" + mixed(43) + "="),
        inside=False,
        entropy=4.0,
    ),
    Rule(
        id="openvpn-static-key",
        kind="private-key",
        keywords=("-----BEGIN OpenVPN Static key",),
        pattern=Expression(r"-----BEGIN OpenVPN Static key V\d-----(?:(?:\s|\\[nr]){1,4}[0-9a-fA-F]{8,64}){4,40}"),
        positive=("-----BEGIN " + "OpenVPN Static key V1-----\n" + "\n".join([hexa(32)] * 16) + "\n-----END",),
        negative=("-----BEGIN OpenVPN Static key V1-----",),
        inside=False,
    ),
    prefixed("kerberos-keytab", "BQIAAA", "base64", 60, 8000, word=True, entropy=3.0),
    Rule(
        id="java-key-store",
        kind="private-key",
        keywords=("/u3+7QAAAA",),
        pattern=Expression(LEFT_BASE64 + r"/u3\+7QAAAA[A-Za-z0-9+/\s]{100,60000}={0,2}"),
        positive=("/u3+" + "7QAAAAIAAAABAAAA" + mixed(200),),
        negative=("/u3+7QAAAA",),
        inside=False,
    ),
    prefixed("discord-mfa-token", "mfa.", "url", 80, 90, word=True, entropy=4.0, kind="discord-token"),
    token(
        "vault-batch-token",  # the first form; a service token's was s. and 24 letters
        r"b\.AAAA[\w-]{80,400}",
        "b.AAAA",
        kind="vault-token",
        positive=("b." + "AAAAAQ" + mixed(150),),
        negative=("b.AAAA",),
        left=LEFT_WORD,
        entropy=4.0,
    ),
    Rule(
        id="dropbox-long-lived-token",
        kind="dropbox-token",
        keywords=("AAAAAAAAAA",),
        pattern=Expression(LEFT_WORD + r"[\w-]{11}AAAAAAAAAA[\w=-]{43}(?![\w=-])", re.ASCII),
        positive=(mixed(11) + "A" * 10 + mixed(43),),
        negative=("A" * 64, mixed(11) + "A" * 10),
        reach=11,
        entropy=4.0,
    ),
    prefixed("webflow-token", "ws-", "hex", 64, 64, word=True),
    prefixed("linear-webhook-secret", "lin_wh_", "mixed", 20, 64, kind="linear-token"),
    token(
        "sanity-token",
        r"sk[A-Za-z0-9]{78,200}" + RIGHT,
        "sk",
        positive=("s" + "k" + mixed(178),),
        negative=("sk" + mixed(40), "skip"),
        left=LEFT_BASE64,
        entropy=4.5,
    ),
    prefixed("porkbun-key", "pk1_ sk1_", "hex", 64, 64, word=True),
    prefixed("dnsimple-token", "dnsimple_a_ dnsimple_u_ dnsimple_", "mixed", 24, 64, word=True, entropy=3.5),
    token(
        "recharge-token",
        r"sk_(?:test_)?\d{1,2}x\d_[0-9a-fA-F]{64}" + RIGHT,
        "sk_",
        positive=("s" + "k_1x1_" + hexa(64), "s" + "k_test_2x3_" + hexa(64)),
        negative=("sk_1x1_" + hexa(12),),
        left=LEFT_WORD,
    ),
    token(
        "uptimerobot-key",  # of an account, of one monitor, read-only
        r"(?:ur?|m)\d{5,10}-[0-9a-f]{24}" + RIGHT_WORD,
        *(f"{head}{n}" for head in ("u", "ur", "m") for n in range(1, 10)),
        positive=("u" + "r123456-" + hexa(24), "m" + "712345678-" + hexa(24)),
        negative=("u123456-name",),
        left=LEFT_WORD,
        entropy=2.5,
    ),
    prefixed("postgrid-key", "live_sk_ test_sk_", "mixed", 18, 40),
    prefixed("baremetrics-key", "lk_", "mixed", 22, 22, word=True, entropy=3.8),
    prefixed("api-key", "api_", "mixed", 30, 64, word=True, entropy=4.0),
    token(
        "alibaba-session",
        r"(?:STS\.[A-Za-z0-9]{18,40}|CAIS[A-Za-z0-9+/]{160,4000}+={0,2})" + RIGHT,
        "STS.",
        "CAIS",
        kind="alibaba-key",
        positive=("ST" + "S." + mixed(25), "CA" + "IS" + mixed(300)),
        negative=("STS.name", "CAIS" + mixed(20)),
        left=LEFT_WORD,
        entropy=3.8,
    ),
    prefixed("jdcloud-key", "JDC_", "upper", 28, 28),
    Rule(
        id="telegram-session",  # what Telethon calls a string session: a version, then 351 characters or so
        kind="telegram-token",
        keywords=tuple(f"1{c}" for c in ("A", "B")),
        pattern=Expression(LEFT_BASE64 + r"1[AB][\w-]{345,355}={1,2}" + RIGHT, re.ASCII),
        positive=("1" + "B" + mixed(350) + "=",),
        negative=("1B" + mixed(100),),
        entropy=4.5,
    ),
    token(
        "k3s-token",
        r"K10[0-9a-f]{64}::[\w:.-]{8,120}",
        "K10",
        kind="cluster-token",
        positive=("K1" + "0" + hexa(64) + "::server:" + hexa(32),),
        negative=("K10" + hexa(12),),
        left=LEFT,
    ),
)

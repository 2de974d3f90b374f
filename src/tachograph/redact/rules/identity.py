"""Tokens of identity, verification, access and security services."""

from __future__ import annotations

import re

from tachograph.redact.rules.examples import mixed
from tachograph.redact.rules.prefixed import prefixed
from tachograph.redact.rules.rule import LEFT_WORD, RIGHT, Expression, Rule, token

RULES: tuple[Rule, ...] = (
    prefixed("stytch-secret", "secret-live- secret-test-", "url", 30, 64, word=True),
    prefixed("permit-key", "permit_key_", "mixed", 40),
    prefixed("ory-token", "ory_pat_ ory_st_ ory_at_ ory_rt_ ory_ac_ ory_apikey_ ory_lo_", "dotted", 28, 160),
    prefixed("jumpcloud-key", "jca_", "mixed", 32, 48),
    Rule(
        id="sumsub-token",
        kind="sumsub-token",
        keywords=("sbx:", "prd:"),
        pattern=Expression(LEFT_WORD + r"(?:sbx|prd):[A-Za-z0-9]{24}\.[A-Za-z0-9]{32}" + RIGHT),
        positive=("pr" + "d:" + mixed(24) + "." + mixed(32),),
        negative=("prd:host.name",),
        inside=False,
        entropy=3.5,
    ),
    prefixed("middesk-key", "mk_live_ mk_test_ mk_prod_ mk_sandbox_", "mixed", 20, 64, word=True),
    prefixed(
        "paseto", "v1.local. v2.local. v3.local. v4.local. v1.public. v2.public. v3.public. v4.public.", "dotted", 40, 4000, word=True
    ),
    prefixed("boundary-token", "at_s1 at_s2", "mixed", 60, 400, word=True, entropy=3.8),
    token(
        "boundary-token-with-id",
        r"at_[A-Za-z0-9]{10}_s1[A-Za-z0-9]{60,400}",
        "at_",
        kind="boundary-token",
        positive=("a" + "t_" + mixed(10) + "_s1" + mixed(80),),
        negative=("at_" + mixed(10) + "_x",),
        left=LEFT_WORD,
        entropy=3.8,
    ),
    prefixed("hcaptcha-secret", "ES_", "hex", 32, 32, word=True),
    prefixed("capsolver-key", "CAP-", "hex", 32, 32, word=True),
    prefixed("pangea-token", "pts_ pcs_ pci_", "lower", 32, 32, word=True, entropy=3.2),
    prefixed("vanta-secret", "vcs_ vat_", "url", 36, 80, word=True, entropy=3.5),
    token(
        "censys-token",
        r"censys_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,48}",
        "censys_",
        positive=("cen" + "sys_" + mixed(8) + "_" + mixed(32),),
        negative=("censys_api_key",),
        entropy=3.5,
    ),
    Rule(
        id="evervault-key",
        kind="evervault-key",
        keywords=("ev:key:",),
        pattern=Expression(LEFT_WORD + r"ev:key:1:[A-Za-z0-9+/=:_-]{40,400}", re.ASCII),
        positive=("ev:" + "key:1:" + mixed(90) + ":" + mixed(6) + ":" + mixed(6),),
        negative=("ev:key:1:x",),
        inside=False,
        gate="ev:key:",
    ),
    prefixed("intra42-secret", "s-s4t2ud- s-s4t2af-", "hex", 64),
    Rule(
        id="secret-token-uri",  # RFC 8959: a scheme whose only purpose is to be found by scanners
        kind="token",
        keywords=("secret-token:",),
        pattern=Expression(LEFT_WORD + r"secret-token:[A-Za-z0-9._~%!$&'()*+,;=:@/-]{8,400}", re.ASCII),
        positive=("secret" + "-token:" + mixed(24), "secret" + "-token:" + "E92FB7EB-D882-47A4-A265-A0B6135DC842%20foo"),
        negative=("secret-token: required",),
        inside=False,
        gate="secret-token:",
        entropy=3.2,
    ),
    prefixed("lob-key", "live_ test_ live_pub_ test_pub_", "hex", 35, 35, word=True),
    token(
        "gocardless-token",
        r"(?:live|sandbox)_(?=[A-Za-z_=-]{0,30}\d[A-Za-z_=-]{0,30}\d[A-Za-z_=-]{0,30}\d)[\w=-]{38,60}(?![\w=-])",
        "live_",
        "sandbox_",
        positive=("li" + "ve_" + mixed(19) + "-" + mixed(20), "sand" + "box_" + mixed(40)),
        negative=("live_reload_of_templates_2_with_options_enabled", "sandbox_" + mixed(12)),
        left=LEFT_WORD,
        entropy=4.0,
    ),
    prefixed("teller-token", "token_ test_token_", "lower", 26, 26, word=True, entropy=3.5),
    prefixed(
        "plaid-public-token",
        "public-sandbox- public-production- public-development- link-sandbox- link-production-",
        "uuid",
        kind="plaid-token",
    ),
    Rule(
        id="maxmind-key",
        kind="maxmind-key",
        keywords=("_mmk",),
        pattern=Expression(LEFT_WORD + r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9_])"),
        positive=(mixed(6) + "_" + mixed(29) + "_m" + "mk",),
        negative=("name_mmk",),
        reach=36,
    ),
)

"""Secrets and look-alikes for the tests, made of pieces so that no scanner takes this source for a leak."""

from __future__ import annotations

from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy
from tachograph.redact.rules.examples import hexa, mixed, upper

KEY = b"a key of a store"

GITHUB = "gh" + "p_" + mixed(36)
ANTHROPIC = "sk-" + "ant-api03-" + mixed(93) + "AA"
AWS = "AK" + "IA" + upper(16)
AWS_SECRET = mixed(20) + "/" + mixed(19)
JWT = "ey" + "JhbGciOiJIUzI1NiJ9" + ".ey" + "JzdWIiOiIxMjM0In0." + mixed(43)
SLACK = "xo" + "xb-123456789012-123456789012-" + mixed(24)
PASSWORD = "wE_x" + "e%Eg30B0di"
HEX_KEY = hexa(32)
PEM = (
    "-----BEGIN RSA "
    "PRIVATE KEY-----\n" + "\n".join(mixed(200)[i : i + 64] for i in range(0, 200, 64)) + "\n-----END RSA " + "PRIVATE KEY-----"
)

#: Found by their own shape, without a name beside them.
SHAPED = (GITHUB, ANTHROPIC, AWS, JWT, SLACK, PEM)


def redactor(**known: str) -> Redactor:
    """A redactor under the default policy; ``known`` maps kinds to values."""
    return Redactor(Policy.default(), key=KEY, known={value: kind for kind, value in known.items()})


def trace(secret: str, output: str, least: int = 8) -> str | None:
    """A piece of the secret of at least ``least`` characters that the output still holds."""
    for start in range(len(secret) - least + 1):
        if secret[start : start + least] in output:
            return secret[start : start + least]
    return None

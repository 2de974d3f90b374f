"""Tokens without a literal in them: nothing but the lengths and alphabets of their parts tells them.

They have no keyword, so their pattern is what is looked for; a matcher that knows patterns does that at no cost, without one it is a pass
over the text. Hence few of them, in one rule, and none whose layout an identifier or a digest has.
"""

from __future__ import annotations

import re

from tachograph.redact.rules.examples import hexa, mixed, uuid
from tachograph.redact.rules.rule import LEFT_BASE64, Expression, Rule

#: The left edge, seen from behind the token's first character.
_LEFT = LEFT_BASE64.replace(")|", ".)|").removesuffix("))") + ".))"

RULES: tuple[Rule, ...] = (
    Rule(
        id="layout",
        kind="token",
        keywords=(),
        pattern=Expression(
            # The first character, what is behind it, what is before it: nearly every place is passed over by the first.
            r"[0-9a-f](?=[0-9a-f]{7}|\d{0,3}-|0)" + _LEFT + r"(?:[0-9a-f]{31}\.(?=[A-Za-z]{0,15}\d)[A-Za-z0-9]{16}"  # Zhipu
            r"|[0-9a-f]{31}\.(?=[A-Za-z_-]{0,23}\d)(?=[a-z0-9_-]{0,23}[A-Z])[\w-]{24}"  # Ollama
            r"|[0-9a-f]{7}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:[0-9a-f]{32}"  # fal: an id and its secret
            r"|[0-9a-f]{15}-[0-9a-f]{16}-[0-9a-f]{16}"  # Viber
            r"|[0-9a-f]{7}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-[0-9a-f]{4}-[0-9a-f]{4}"  # Bunny: a UUID's parts in another order
            r"|[0-9a-f]{31}-[0-9a-f]{8}-[0-9a-f]{8}"  # Mailgun
            r"|(?<=\d)\d{0,3}-[A-Za-z0-9]{64}"  # TrueNAS
            r"|(?<=0)0(?=[a-z0-9_-]{0,39}[A-Z])(?=[A-Z0-9_-]{0,39}[a-z])[\w-]{40})"  # Okta
            r"(?![\w.+/=-])",
            re.ASCII,
        ),
        sign=r"[0-9a-f]{32}[.-]|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-(?:[0-9a-f]{4}-)?[0-9a-f]{12}[:-]|[0-9a-f]{16}-[0-9a-f]{16}-"
        r"|(?:^|[^A-Za-z0-9+/_-]|\\(?:[nrtbf]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}|\[[0-9;]{0,6}m)(?:\d{1,4}-[A-Za-z0-9]{64}|00[\w-]{40})",
        positive=(
            hexa(32) + "." + mixed(16),
            hexa(32) + "." + mixed(24),
            uuid() + ":" + hexa(32),
            "-".join((hexa(16), hexa(16), hexa(16))),
            "-".join((hexa(8), hexa(4), hexa(4), hexa(12), hexa(4), hexa(4))),
            "key " + hexa(32) + "-" + hexa(8) + "-" + hexa(8),
            '["12-' + mixed(64) + '"]',
            "0" + "0" + mixed(40),
        ),
        negative=(
            uuid(),
            uuid() + ":" + hexa(8),
            "00-" + hexa(32) + "-" + hexa(16) + "-01",
            hexa(16) + "-" + hexa(16),
            hexa(32) + ".bundle",
            "00" + hexa(40),
            "x" + hexa(32) + "-" + hexa(8) + "-" + hexa(8),
            "/12-" + mixed(64),
        ),
        entropy=3.2,
    ),
)

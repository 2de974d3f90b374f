"""Rules of one line: a prefix and a random rest of one alphabet, which is how most tokens are made today.

``mixed`` letters of both cases and digits, ``lower`` and ``upper`` the same of one case, ``hex`` hex digits of either case,
``url`` URL-safe base64, ``base64`` all of it, ``dotted`` URL-safe with dots, ``uuid`` a UUID (then the lengths count for nothing).
"""

from __future__ import annotations

from tachograph.redact.rules.examples import hexa, lower, mixed, upper, uuid
from tachograph.redact.rules.rule import LEFT, LEFT_WORD, NO_EXAMPLE, RIGHT, Rule, token

#: More characters than any token of one line has that is no certificate.
LONG = 512

_CLASSES = {
    "mixed": "[A-Za-z0-9]",
    "lower": "[a-z0-9]",
    "upper": "[A-Z0-9]",
    "hex": "[0-9A-Fa-f]",
    "url": r"[\w-]",
    "base64": "[A-Za-z0-9+/_-]",
    "dotted": r"[\w.-]",
}
_SAMPLES = {"mixed": mixed, "lower": lower, "upper": upper, "hex": hexa, "url": mixed, "base64": mixed, "dotted": mixed}
_UUID = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"


def prefixed(
    id: str,  # noqa: A002 -- as in ``token``
    prefixes: str,
    alphabet: str,
    low: int = 0,
    high: int = LONG,
    *,
    word: bool = False,
    entropy: float = -1.0,
    kind: str = "",
) -> Rule:
    """A rule for ``prefixes`` (apart by blanks), each followed by ``low`` to ``high`` characters; the edge is checked if both are the
    same. ``word``: the prefix is also the end of words, so no ``-`` or ``_`` stands before it."""
    heads = prefixes.split()
    head = heads[0] if len(heads) == 1 else f"(?:{'|'.join(_plain(text) for text in heads)})"
    if len(heads) == 1:
        head = _plain(head)
    if alphabet == "uuid":
        body, sample, short = _UUID, uuid(), uuid()[:18]
    else:
        chars = _CLASSES[alphabet]
        # With "_" or "-" in it, a long name of words would do: a random rest has a digit somewhere.
        digit = rf"(?={chars}{{0,{low}}}\d)" if alphabet in ("url", "base64", "dotted") else ""
        count = f"{{{low}}}" if low == high else f"{{{low},{high}}}"
        body = digit + chars + count + ("={0,2}" if alphabet == "base64" else "") + (RIGHT if low == high else "")
        make = _SAMPLES[alphabet]
        sample, short = make(low), make(low // 2)
    if entropy < 0:
        entropy = 2.0 if alphabet == "uuid" or low < 16 else 2.5 if alphabet == "hex" else 3.0
    return token(
        id,
        head + NO_EXAMPLE + body,  # the prefix first: it rules out most places at once
        *heads,
        kind=kind,
        positive=tuple(text + sample for text in heads),
        negative=(heads[0] + short, heads[0] + "name", "x" + heads[0] + sample),
        left=LEFT_WORD if word else LEFT,
        entropy=entropy,
        unless="",
    )


def _plain(text: str) -> str:
    return text.replace(".", r"\.")

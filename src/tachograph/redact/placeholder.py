"""What stands where a secret stood: ``[REDACTED:<kind>:<fp8>]``.

- The fingerprint is keyed (HMAC-SHA256): equal secrets stay equal within a store, and nobody without the key can confirm a guess.
- A placeholder needs no escaping in JSON, in a URL's userinfo, in a header or in a shell word, so putting one in breaks no syntax.
- Placeholders are never redacted again: redaction is idempotent.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Container
from urllib.parse import SplitResult, urlsplit

from tachograph.redact.lazy import expression

#: Matches a placeholder and nothing longer.
PLACEHOLDER: re.Pattern[str] = expression(r"\[REDACTED:[a-z0-9-]+:[0-9a-f]{8}\]")

#: Also the neutral form; what redaction must leave alone.
PROTECTED: re.Pattern[str] = expression(r"\[REDACTED:(?:[a-z0-9-]+:)?[0-9a-f]{8}\]")

_KIND = expression(r"\[REDACTED:[a-z0-9-]+:([0-9a-f]{8})\]")


def fingerprint(key: bytes, value: str) -> str:
    """Eight hex digits of HMAC-SHA256 over the UTF-8 of ``value`` (lone surrogates pass)."""
    return hmac.new(key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:8]


def placeholder(kind: str, key: bytes, value: str) -> str:
    """``kind`` is made of lower-case letters, digits and hyphens."""
    return f"[REDACTED:{kind}:{fingerprint(key, value)}]"


def neutral(text: str) -> str:
    """Every placeholder without its kind: two policies may find the same secret by different rules, and a replay must not care."""
    return _KIND.sub(r"[REDACTED:\1]", text) if "[REDACTED:" in text else text


def fingerprints(text: str) -> list[str]:
    """The digits of every placeholder in a text, in order."""
    return [match[1] for match in _KIND.finditer(text)] if "[REDACTED:" in text else []


def origin(digits: str, *, before: Container[str], redactions: int) -> str:
    """Where a placeholder in what a model said comes from. ``before``: the digits of all placeholders that stood in what the model was told;
    ``redactions``: how many values were masked in this very event.

    - ``copied``: the model was told it and says it again.
    - ``made``: the model said a secret, and it was masked here.
    - ``invented``: it stands for nothing: the model imitates one. Nobody without the store's key can make one for a value.
    """
    if digits in before:
        return "copied"
    return "made" if redactions > 0 else "invented"


def split_url(url: str) -> SplitResult:
    """As ``urllib.parse.urlsplit``, of a URL that may hold placeholders and whatever else an agent asks for: their brackets are no IPv6
    address, and what is no URL at all is all path. Raises nothing."""
    try:
        return urlsplit(url)
    except ValueError:
        pass
    try:
        parts = urlsplit(url.replace("[", "%5B").replace("]", "%5D"))
    except ValueError:
        return SplitResult("", "", url, "", "")
    return SplitResult(*(part.replace("%5B", "[").replace("%5D", "]") for part in parts))

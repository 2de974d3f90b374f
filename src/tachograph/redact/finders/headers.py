"""What is secret in the value of an HTTP header, in characters of the value; and in a header that stands in a text.

In a text an authorization may have any scheme (``Authorization: ApiKey-v1 …``) and parameters (``Digest username="…", response="…"``,
``AWS4-HMAC-SHA256 Credential=…, Signature=…``): parameters go together, up to the end of the header.
"""

from __future__ import annotations

import re

from tachograph.redact import shapes
from tachograph.redact.lazy import expression
from tachograph.redact.names import Named, Strength, named
from tachograph.redact.prefilter.trigger import Trigger
from tachograph.redact.spans import Edit, Found
from tachograph.redact.words import table

#: Whole schemes: the word stays, what follows goes.
_SCHEME = expression(r"\s*(?:([A-Za-z][A-Za-z0-9-]{1,31})[ \t:]+)?(\S.*\S|\S)\s*\Z", re.DOTALL)
_COOKIE = expression(r"\s*([^=;,\s]{1,256})\s*=\s*(\"?)([^;\"]{1,8192})\2")

_IN_TEXT = expression(
    r"(?:\\{0,4}[\"'])?\s{0,3}(?::|=>|=|,)\s{0,3}(?P<open>\\{0,4}[\"'])?(?P<scheme>[A-Za-z][\w-]{1,31})[ \t:]{1,4}(?P<rest>[^\s\"'`][^\r\n]{7,8192})"
)
_BARE = expression(r"[^\s\"'`\\]+")
_PARAMETER = expression(r"[A-Za-z][\w-]{0,31}=")
_RUN = expression(r"[A-Za-z0-9+/=_.~%-]{8,}")
_OAUTH = expression(r"oauth_signature\\{0,4}[\"']?\s{0,2}[=:]\s{0,2}\\{0,4}[\"']?(?P<value>[A-Za-z0-9+/=_.~%-]{8,1024})")

#: Headers that hold a secret under a name which does not say so.
DEFAULT = table(
    """
    authorization proxy-authorization x-authorization x-amz-security-token cookie set-cookie set-cookie2 x-api-key api-key
    apikey x-apikey x-goog-api-key x-functions-key ocp-apim-subscription-key x-auth-token x-auth-key x-access-token x-csrf-token
    x-xsrf-token x-vault-token private-token job-token deploy-token x-gitlab-token x-github-token x-shopify-access-token
    x-figma-token x-amz-content-sha256-token x-amz-credential x-amz-signature x-hub-signature x-hub-signature-256
    x-slack-signature stripe-signature x-twilio-signature dd-api-key dd-application-key x-honeycomb-team x-rapidapi-key
    x-rollbar-access-token x-sentry-auth x-subscription-token xi-api-key x-portkey-api-key helicone-auth x-langfuse-secret-key
    x-session-token x-jwt-assertion x-amzn-oidc-data x-amzn-oidc-accesstoken x-forwarded-access-token
    x-ms-token-aad-access-token cf-access-client-secret cf-access-jwt-assertion x-goog-iap-jwt-assertion x-client-secret
    x-webhook-secret
    """
)


def said_of(name: str, sensitive: frozenset[str]) -> Named | None:
    """What a header's name says, None where nothing."""
    lowered = name.lower().strip().replace("_", "-")
    said = named(lowered)
    if lowered in sensitive:
        return said if said.strength is Strength.STRICT else Named(Strength.STRICT, said.kind or "token")
    return said if said.strength else None


def edits(name: str, value: str, said: Named, *, sure: bool) -> list[Edit]:
    """What to mask under that name. ``sure``: the name is a header's that holds nothing but a secret."""
    if "cookie" in name.lower() and said.kind == "cookie":
        return cookies(value, first_only=name.lower().startswith("set-"))
    match = _SCHEME.match(value)
    if match is None:
        return []
    start, end = match.span(2)
    if match.group(1) is None or said.kind != "authorization":
        start = match.start(1) if match.group(1) is not None else start
    part = value[start:end]
    if "[REDACTED" in part or (part.startswith(("$", "{", "<")) and shapes.hollow(part)):
        return []
    if not sure and not shapes.secret(part, said, quoted=True):
        return []
    return [Edit(start, end, said.kind, rule=f"header:{name[:64].lower()}")]


def cookies(value: str, *, first_only: bool) -> list[Edit]:
    """The values of all cookies, or of the one that a ``Set-Cookie`` sets."""
    out = []
    for match in _COOKIE.finditer(value):
        part = match.group(3).rstrip()
        if len(part) >= 4 and "[REDACTED" not in part:
            out.append(Edit(match.start(3), match.start(3) + len(part), "cookie", rule="cookie"))
        if first_only:
            break
    return out


#: What must be in a text for ``find``.
TRIGGERS = (
    Trigger(("uthorization", "UTHORIZATION"), "(?:uthorization|UTHORIZATION)" + _IN_TEXT.pattern),
    Trigger(("oauth_signature",), _OAUTH.pattern),
)


def find(text: str) -> list[Found]:
    """Authorizations and OAuth signatures anywhere in a text."""
    out: list[Found] = []
    for literal in ("uthorization", "UTHORIZATION"):
        at = text.find(literal)
        while at >= 0:
            match = _IN_TEXT.match(text, at + len(literal))
            found = _authorization(text, at, match) if match is not None else None
            if found is not None:
                out.append(found)
            at = text.find(literal, at + len(literal) if found is None else found.end)
    if "oauth_signature" in text:
        for match in _OAUTH.finditer(text):
            if any(c.isdigit() or c.isupper() for c in match["value"]) and not _PARAMETER.match(match["value"]):
                out.append(Found(*match.span("value"), "signature", "oauth-signature"))
    return out


def _authorization(text: str, at: int, match: re.Match[str]) -> Found | None:
    start = match.start("rest")
    if _PARAMETER.match(text, start):
        # Up to the quote in which the header stands, or to the end of the line.
        quote = match["open"] or _quote_before(text, at)
        end = text.find(quote, start, match.end()) if quote else -1
        end = match.end() if end < 0 else end
    else:
        bare = _BARE.match(text, start)
        end = bare.end() if bare else start
    while end > start and text[end - 1] in " \t,;)}]\\":
        end -= 1
    value = text[start:end]
    if "[REDACTED" in value or not any(shapes.random(run, 12) for run in _RUN.findall(value)):
        return None
    return Found(start, end, "authorization", "header:authorization")


def _quote_before(text: str, at: int) -> str:
    """The quote, escaped or not, in front of the name whose tail is at ``at``."""
    start = at
    while start > 0 and at - start < 24 and (text[start - 1].isalnum() or text[start - 1] in "-_"):
        start -= 1
    low = start
    if low and text[low - 1] in "\"'":
        low -= 1
        while low and text[low - 1] == "\\" and start - low < 6:
            low -= 1
    return text[low:start]

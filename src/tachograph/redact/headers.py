"""What is secret in the value of an HTTP header, in characters of the value."""

from __future__ import annotations

import re

from tachograph.redact import shapes
from tachograph.redact.names import Named, Strength, named
from tachograph.redact.spans import Edit
from tachograph.redact.words import table

#: Whole schemes: the word stays, what follows goes.
_SCHEME = re.compile(r"\s*(?:([A-Za-z][A-Za-z0-9-]{1,31})[ \t:]+)?(\S.*\S|\S)\s*\Z", re.DOTALL)
_COOKIE = re.compile(r"\s*([^=;,\s]{1,256})\s*=\s*(\"?)([^;\"]{1,8192})\2")

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

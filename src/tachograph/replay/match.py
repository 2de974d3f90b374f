"""When is a live request the recorded one? (DESIGN §5; ``field`` facts in ``docs/explanation/matching.md``.)

Key = lane + kind + name + canonical request; calls with equal keys are taken first in, first out, each once. Strict: only what can never
be the agent's doing is left out, and each is named here.
"""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import parse_qsl

from tachograph.format import canonical
from tachograph.redact.placeholder import neutral, split_url

#: Headers that differ from run to run, or from machine to machine, with the same agent: credentials and signatures, retry and trace
#: identifiers, the SDK's word about itself and its platform, and what the transport adds.
VOLATILE_HEADERS = frozenset({
    "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key",
    "x-amz-date", "x-amz-security-token", "x-amz-content-sha256", "amz-sdk-invocation-id", "amz-sdk-request",
    "traceparent", "tracestate", "baggage", "x-amzn-trace-id", "x-request-id", "x-correlation-id", "idempotency-key",
    "x-idempotency-key", "user-agent", "x-amz-user-agent", "host", "connection", "keep-alive", "content-length", "transfer-encoding",
    "accept-encoding", "te", "date", "expect", "proxy-connection",
})  # fmt: skip
VOLATILE_PREFIXES = ("x-stainless-", "x-datadog-", "x-b3-", "sentry-")
#: Query parameters of pre-signed requests.
VOLATILE_QUERY = frozenset({"x-amz-signature", "x-amz-date", "x-amz-credential", "x-amz-security-token", "x-amz-expires"})
#: Body fields that SDKs mint for every attempt.
VOLATILE_FIELDS = frozenset({"clientRequestToken", "clientToken"})


def canonical_request(kind: str, request: dict[str, Any]) -> Any:
    """The request as compared: volatile parts gone, integral floats as integers, placeholders without their kind."""
    if kind != "http":
        return _plain(request)
    parts = split_url(str(request.get("url", "")))
    query = sorted([k, v] for k, v in parse_qsl(parts.query, keep_blank_values=True) if k.lower() not in VOLATILE_QUERY)
    headers = sorted(
        [str(k).lower(), _header(str(k).lower(), str(v))] for k, v in request.get("headers", []) if not _volatile(str(k).lower())
    )
    return {
        "method": request.get("method"),
        "host": _plain(parts.netloc.rpartition("@")[2]),
        "path": _plain(parts.path),
        "query": _plain(query),
        "headers": _plain(headers),
        "body": _plain(request.get("body")),
    }


def _volatile(name: str) -> bool:
    return name in VOLATILE_HEADERS or name.startswith(VOLATILE_PREFIXES)


def _header(name: str, value: str) -> str:
    if name == "content-type" and "boundary=" in value:
        return value.partition("boundary=")[0] + "boundary="
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return neutral(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items() if k not in VOLATILE_FIELDS}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return {"$sha256": hashlib.sha256(value).hexdigest(), "$size": len(value)}
    return value


def key(lane: str, kind: str, name: str, request: dict[str, Any]) -> bytes:
    """Equal for calls that are the same. ``name``: the tool's; a request says the rest itself."""
    parts = [lane, kind, name if kind == "tool" else "", canonical_request(kind, request)]
    return hashlib.sha256(canonical.dumps(parts)).digest()

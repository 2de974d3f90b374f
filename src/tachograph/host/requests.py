"""What a client's request looks like in the record: redacted, structured, the same while recording and while replaying.

Recorder and player both call ``document``; what it returns is stored (``request_uri``) and is what ``replay/match`` compares.
"""

from __future__ import annotations

from typing import Any

from tachograph.redact.engine import Redactor


def document(kind: str, request: dict[str, Any], body: bytes, redactor: Redactor, tally: Any) -> dict[str, Any]:
    """The redacted request as JSON (and bytes, where a body is no text)."""
    since = redactor.generation
    return redactor.settled(_document(kind, request, body, redactor, tally), since, tally)  # a body names what stands alone in a URL


def _document(kind: str, request: dict[str, Any], body: bytes, redactor: Redactor, tally: Any) -> dict[str, Any]:
    if kind == "http":
        headers = [[str(k), str(v)] for k, v in request.get("headers", [])]
        content_type, encoding = header(headers, "content-type"), header(headers, "content-encoding")
        return {
            "method": str(request.get("method", "")),
            "url": redactor.url(str(request.get("url", "")), tally),
            "headers": redactor.headers(headers, tally),
            "body": redactor.body(body, content_type=content_type, content_encoding=encoding, tally=tally) if body else None,
        }
    out = dict(request)
    if kind == "process":
        if "argv" in out:
            out["argv"] = redactor.arguments([str(a) for a in out["argv"]], tally)
        if isinstance(out.get("env"), dict):
            unset = {k: v for k, v in out["env"].items() if v is None}
            out["env"] = {**redactor.environment({k: v for k, v in out["env"].items() if v is not None}, tally), **unset}
    redacted: dict[str, Any] = redactor.document(out, tally)
    if body:
        redacted["body"] = redactor.body(body, content_type="", content_encoding="", tally=tally)
    return redacted


def operation(kind: str, request: dict[str, Any]) -> str | None:
    """What a request to a model is called (``messages``, ``Converse``), None for others."""
    if kind != "http":
        return None
    from tachograph import providers  # only sessions that speak HTTP pay for it

    found = providers.identify(request["method"], request["url"], request["headers"])
    return found[1] if found is not None else None


def header(headers: list[list[str]], name: str) -> str:
    """The first header of that name (lower case), or the empty string."""
    return next((value for key, value in headers if key.lower() == name), "")

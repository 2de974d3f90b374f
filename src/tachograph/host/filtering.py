"""Answers a client's ``filter``: a text or a value with its secrets masked, under the session's policy, key and known values."""

from __future__ import annotations

import json
from typing import Any

from tachograph.format import canonical
from tachograph.redact.engine import Redactor


def answer(redactor: Redactor, header: dict[str, Any], payload: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and payload for the client. ``same``: there is nothing to mask, and nothing is sent back. What is no UTF-8 or no JSON, or is
    nested too deeply, is ``refused``: a client does not stop the recorder, and does not get back what nobody has looked at."""
    reply: dict[str, Any] = {"m": "filtered", "c": int(header.get("c", 0))}
    try:
        return _masked(redactor, reply, payload, text=bool(header.get("text")))
    except (ValueError, RecursionError):
        return {**reply, "m": "refused"}, b""


def _masked(redactor: Redactor, reply: dict[str, Any], payload: bytes, *, text: bool) -> tuple[dict[str, Any], bytes]:
    if text:
        said = payload.decode("utf-8", "surrogatepass")
        masked = redactor.text(said)
        return ({**reply, "same": 1}, b"") if masked == said else (reply, masked.encode("utf-8", "surrogatepass"))
    value = canonical.loads(payload)
    new = redactor.document(value)
    return ({**reply, "same": 1}, b"") if new is value else (reply, json.dumps(new).encode())

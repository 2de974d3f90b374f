"""Answers a client's ``filter``: a text or a value with its secrets masked, under the session's policy, key and known values."""

from __future__ import annotations

import json
from typing import Any

from tachograph.format import canonical
from tachograph.redact.engine import Redactor


def answer(redactor: Redactor, header: dict[str, Any], payload: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and payload for the client. ``same``: there is nothing to mask, and nothing is sent back."""
    reply: dict[str, Any] = {"m": "filtered", "c": int(header.get("c", 0))}
    if header.get("text"):
        text = payload.decode("utf-8", "surrogatepass")
        masked = redactor.text(text)
        return ({**reply, "same": 1}, b"") if masked == text else (reply, masked.encode("utf-8", "surrogatepass"))
    value = canonical.loads(payload)
    new = redactor.document(value)
    return ({**reply, "same": 1}, b"") if new is value else (reply, json.dumps(new).encode())

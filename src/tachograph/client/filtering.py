"""Ask the host to redact something: its policy, its key and the values that it knows make the same placeholders as in the record."""

from __future__ import annotations

import json
import threading
from typing import Any, Dict, List, Tuple

from . import link
from .frames import pack
from .real import monotonic_ns


def ask(value: Any) -> Tuple[bool, Any]:
    """(answered?, the value without its secrets; the same object where there are none). Not answered: there is no host."""
    at = link.get()
    if at is None or at.lost:
        return False, None
    text = isinstance(value, str)
    data = value.encode("utf-8", "surrogatepass") if text else json.dumps(value).encode()
    number = at.next_call()
    waiting = threading.Lock()
    waiting.acquire()
    got: List[Tuple[Dict[str, Any], bytes]] = []

    def deliver(header: Dict[str, Any], payload: bytes) -> None:
        if not got:
            got.append((header, payload))
            waiting.release()

    at.expect(number, deliver)
    try:
        at.send(pack({"m": "filter", "c": number, "t": monotonic_ns(), "text": text}, data))
        if not at.lost:
            waiting.acquire()
    finally:
        at.forget(number)
    if not got or got[0][0].get("m") != "filtered":
        return False, None
    header, payload = got[0]
    if header.get("same"):
        return True, value
    return True, payload.decode("utf-8", "surrogatepass") if text else json.loads(payload)

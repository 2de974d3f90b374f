"""Answers that the host sent ahead of the question (``host/ahead.py``; only in a replay). Each is good for the one request that it is the answer
of, and until the next call that waits for its answer."""

from __future__ import annotations

import collections
import itertools
import json
from typing import Any, Deque, Dict, Optional, Tuple

_canonical = json.JSONEncoder(sort_keys=True, check_circular=False, separators=(",", ":")).encode


class Ahead:
    """``come`` is called by the thread that reads from the host, the others by the agent's."""

    def __init__(self) -> None:
        self._count = itertools.count(1)
        self._asked = 0
        self._generation = -1
        self._lane = ""
        self._items: Deque[Tuple[str, str, Dict[str, Any], bytes]] = collections.deque()

    def waits(self) -> None:
        """A call that waits for its answer is about to be sent."""
        self._asked = next(self._count)

    def come(self, header: Dict[str, Any], payload: bytes) -> None:
        """A message of the host's."""
        if header["g"] != self._generation:
            self._items = collections.deque()
            self._generation, self._lane = header["g"], header["lane"]
        at = 0
        for name, expected, answer, size in header["items"]:
            self._items.append((name, expected, answer, payload[at : at + size]))
            at += size

    def take(self, lane: str, name: Optional[str], request: Dict[str, Any]) -> Optional[Tuple[Dict[str, Any], bytes]]:
        """The answer to this request, if it is here."""
        if not self._items or self._generation != self._asked or self._lane != lane:
            return None
        items = self._items
        if items[0][0] != name or items[0][1] != _canonical(request):
            return None
        _, _, header, payload = items.popleft()
        return header, payload

    def spent(self, lane: str) -> bool:
        """Whether all that came was taken: then the host may have sent more by now."""
        return not self._items and self._generation == self._asked and self._lane == lane

    def answered(self, header: Dict[str, Any]) -> None:
        """What was asked for when all was spent is here: ``skip``, it is also among what was sent meanwhile; ``void``, it was something else,
        and what was sent meanwhile is not to be taken."""
        if header.get("skip"):
            self._items.popleft()
        elif header.get("void"):
            self.waits()

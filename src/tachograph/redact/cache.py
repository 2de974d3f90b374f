"""A cache of findings per string, bounded by bytes, in two generations.

Looked-up entries move to the young generation; when that is full it becomes the old one and the old one is dropped. That keeps what is used
at the price of two dictionary look-ups, without a list to maintain.
"""

from __future__ import annotations

from typing import Generic, TypeVar

V = TypeVar("V")

#: Bytes, both generations together.
LIMIT = 16 * 1024 * 1024
#: Bytes that an entry costs beside its text.
_OVERHEAD = 120


class Cache(Generic[V]):
    """Maps strings to findings."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._half = limit // 2
        self._young: dict[str, V] = {}
        self._old: dict[str, V] = {}
        self._bytes = 0

    def get(self, text: str) -> V | None:
        """The finding for a text, or None."""
        found = self._young.get(text)
        if found is None and self._old:
            found = self._old.get(text)
            if found is not None:
                self.put(text, found)
        return found

    def put(self, text: str, found: V) -> None:
        """Remembers a finding, unless the text alone would fill the cache."""
        size = len(text) + _OVERHEAD
        if size > self._half // 2:
            return
        if self._bytes + size > self._half:
            self._old, self._young, self._bytes = self._young, {}, 0
        self._young[text] = found
        self._bytes += size

    def clear(self) -> None:
        """Forgets everything."""
        self._young, self._old, self._bytes = {}, {}, 0

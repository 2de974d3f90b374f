"""Secrets that were known when a session was recorded, met again in a replay.

The recorder knew the secret values of the agent's environment; a replay has only their placeholders. A replayed agent may still come
across such a value, in a file, say, and send it on: recorded it was masked, and so it must be now. A placeholder tells the keyed
fingerprint of its value, so each word that the agent sends is held against the recorded fingerprints, and one that fits is learned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tachograph.redact.engine import Redactor
from tachograph.redact.placeholder import fingerprint

_PLACEHOLDER = re.compile(r"\[REDACTED:([a-z0-9-]+):([0-9a-f]{8})\]")
#: Where a value may begin and end: first at what surely surrounds it, then at what may also be inside of it.
#: Escapes of JSON count as what they stand for: a body is looked at as it was sent.
_OUTER = re.compile(r"(?:\\[nrtbf\"'/\\]|[\s\"'`<>|\\])+")
_INNER = re.compile(r"[=:;,&@/(){}\[\]?#]+")
#: Words that were looked at are remembered: an agent sends its history again and again.
_REMEMBERED = 200_000


class Known:
    """``environment``: the recorded one, redacted; ``given``: fingerprints of values that the user had named."""

    def __init__(self, environment: Mapping[str, Any], redactor: Redactor, key: bytes, given: Iterable[str] | None = None) -> None:
        self._redactor = redactor
        self._key = key
        self._kinds = {found[2]: found[1] for value in environment.values() for found in _PLACEHOLDER.finditer(str(value))}
        self._kinds |= {str(digits): "user" for digits in given or ()}
        self._seen: set[str] = set()

    def look(self, request: Any, body: bytes) -> None:
        """Learn the recorded secrets that occur here, before it is redacted."""
        if not self._kinds:
            return
        for text in (*_texts(request), body.decode("utf-8", "replace")):
            for word in _words(text):
                self._try(word)

    def _try(self, word: str) -> None:
        if not 6 <= len(word) <= 4096 or word in self._seen:
            return
        if len(self._seen) > _REMEMBERED:
            self._seen.clear()
        self._seen.add(word)
        kind = self._kinds.get(fingerprint(self._key, word))
        if kind is not None:
            self._redactor.learn(word, kind, sure=kind == "user")


def _words(text: str) -> Iterator[str]:
    for word in _OUTER.split(text):
        yield word
        yield word.rstrip(".,;:!?)")
        parts = _INNER.split(word)
        if len(parts) > 1:
            yield from parts


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)

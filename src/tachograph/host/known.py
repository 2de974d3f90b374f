"""Secrets that were known when a session was recorded, met again in a replay.

The recorder knew the secret values of the agent's environment, and learned others as it went; a replay has only their placeholders. A
replayed agent may still come across such a value, in a file, say, and send it on: recorded it was masked, and so it must be now. A
placeholder tells the keyed fingerprint of its value, so each word that the agent sends is held against all fingerprints in the record, and
one that fits is learned. A value that is no word by itself is recognised by its place (``align``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from tachograph.redact.engine import Redactor
from tachograph.redact.known import SHORTEST_SURE
from tachograph.redact.placeholder import fingerprint

_PLACEHOLDER = re.compile(r"\[REDACTED:([a-z0-9-]+):([0-9a-f]{8})\]")
#: Where a value may begin and end: first at what surely surrounds it, then at what may also be inside of it.
#: Escapes of JSON count as what they stand for: a body is looked at as it was sent.
_OUTER = re.compile(r"(?:\\[nrtbf\"'/\\]|[\s\"'`<>|\\])+")
_INNER = re.compile(r"[=:;,&@/(){}\[\]?#]+")
#: Words that were looked at are remembered: an agent sends its history again and again.
_REMEMBERED = 200_000
#: Characters. Texts from here on are looked at once.
_LONG = 64
#: Places at which a value may end that are tried.
_TRIES = 16


class Known:
    """``recorded``: contents of the record, redacted; ``given``: fingerprints of values that the user had named."""

    def __init__(self, redactor: Redactor, key: bytes, *, recorded: Iterable[Any], given: Iterable[str] = ()) -> None:
        self._redactor = redactor
        self._key = key
        self._kinds: dict[str, str] = {}
        for value in recorded:
            for text in _texts(value):
                if "[REDACTED:" in text:
                    self._kinds.update((found[2], found[1]) for found in _PLACEHOLDER.finditer(text))
        self._kinds |= {str(digits): "user" for digits in given}
        self._seen: set[str] = set()
        self._looked: set[int] = set()

    def look(self, request: Any, body: bytes) -> None:
        """Learn the recorded secrets that occur here, before it is redacted."""
        if not self._kinds:
            return
        for text in (*_texts(request), *_texts(_parsed(body))):
            if len(text) > _LONG:  # a history comes again with every request
                if hash(text) in self._looked:
                    continue
                self._looked.add(hash(text))
            for word in _words(text):
                self._try(word)

    def align(self, recorded: Any, live: Any) -> None:
        """Learn the values that a live request has where the recorded one has their placeholders. Both are redacted."""
        if isinstance(recorded, str) and isinstance(live, str):
            if recorded != live and "[REDACTED:" in recorded:
                for value, kind in self._between(_PLACEHOLDER.split(recorded), live):
                    self._redactor.learn(value, kind, sure=True)
        elif isinstance(recorded, dict) and isinstance(live, dict):
            for name in recorded.keys() & live.keys():
                self.align(recorded[name], live[name])
        elif isinstance(recorded, list) and isinstance(live, list):
            for one, other in zip(recorded, live, strict=False):
                self.align(one, other)

    def _between(self, pieces: list[str], live: str) -> Iterator[tuple[str, str]]:
        """``pieces``: text, kind, digits, text, … text. Proven by the fingerprint, so whatever is found is right."""
        if not live.startswith(pieces[0]):
            return
        at = len(pieces[0])
        for number in range(1, len(pieces), 3):
            kind, digits, after = pieces[number : number + 3]
            last = number + 3 == len(pieces)
            end, tries = (len(live) if last and not after else live.find(after, at)), 0
            while end >= 0 and tries < _TRIES:
                value = live[at:end]
                if f":{digits}]" in value[-10:] or fingerprint(self._key, value) == digits:
                    break
                end, tries = live.find(after, end + 1) if after else -1, tries + 1
            if end < 0 or tries == _TRIES or (not after and not last):
                return
            if "[REDACTED:" not in live[at:end]:
                yield live[at:end], kind
            at = end + len(after)

    def _try(self, word: str) -> None:
        if not SHORTEST_SURE <= len(word) <= 4096 or word in self._seen:
            return
        if len(self._seen) > _REMEMBERED:
            self._seen.clear()
        self._seen.add(word)
        kind = self._kinds.get(fingerprint(self._key, word))
        if kind is not None:
            self._redactor.learn(word, kind, sure=kind == "user")


def _parsed(body: bytes) -> Any:
    """A body's strings without their escapes, where it is JSON."""
    text = body.decode("utf-8", "replace")
    if text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _words(text: str) -> Iterator[str]:
    for word in _OUTER.split(text):
        yield word
        yield word.rstrip(".,;:!?)")
        parts = _INNER.split(word)
        if len(parts) > 1:
            yield from parts


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, (bytes, bytearray)):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)

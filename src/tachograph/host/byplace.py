"""Secrets in a replay that has not the key of their fingerprints (a fixture, a cassette).

A placeholder tells a keyed fingerprint of its value. Who has that key can try out short values until one fits, so it stays with the store, and a recording
that leaves the store is compared without it: where the record has a placeholder, a live request has a secret of its own in the same place. Which is
which is settled once, one to one, for the whole replay: a second value in the place of the first, or one value in two places that were
different ones, is a difference as any other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tachograph.redact.engine import Redactor
from tachograph.redact.placeholder import fingerprint
from tachograph.redact.spans import Edit

from .known import Known

_PLACEHOLDER = re.compile(r"\[REDACTED:([a-z0-9-]+):([0-9a-f]{8})\]")


class PlaceRedactor(Redactor):
    """Masks with the recorded placeholder where it is known which one that is. ``renamed``: digits of ours → recorded digits."""

    renamed: dict[str, str]

    def __init__(self, *given: Any, **more: Any) -> None:
        self.renamed = {}
        self.own_key: bytes = more["key"]
        super().__init__(*given, **more)

    @property
    def generation(self) -> int:
        return super().generation + len(self.renamed)

    def placeholder(self, edit: Edit, text: str, tally: Counter[str] | None = None) -> str:
        made = super().placeholder(edit, text, tally)
        return (
            _PLACEHOLDER.sub(lambda found: f"[REDACTED:{found[1]}:{self.renamed.get(found[2], found[2])}]", made) if self.renamed else made
        )

    def rename(self, own: str, recorded: str) -> None:
        """Let one stand for the other, if neither stands for something else."""
        if own != recorded and own not in self.renamed and recorded not in self.renamed.values():
            self.renamed[own] = recorded


class KnownByPlace(Known):
    """As ``Known``, of which only the places are left."""

    def __init__(self, redactor: PlaceRedactor) -> None:
        super().__init__(redactor, redactor.own_key, recorded=())
        self._places = redactor

    def align(self, recorded: Any, live: Any) -> None:
        if isinstance(recorded, str) and isinstance(live, str):
            if recorded != live and "[REDACTED:" in recorded:
                self._text(_PLACEHOLDER.split(recorded), live)
        else:
            super().align(recorded, live)

    def _text(self, pieces: list[str], live: str) -> None:
        """``pieces``: text, kind, digits, text, … text."""
        found = list(_values(pieces, live))
        for kind, digits, value in zip(pieces[1::3], pieces[2::3], found, strict=False):
            masked = _PLACEHOLDER.fullmatch(value)
            if masked is not None:
                self._places.rename(masked[2], digits)
            elif "[REDACTED:" not in value and len(value) >= 6:
                # Nobody here knows that this is a secret; the recorder did.
                self._places.learn(value, kind, sure=True)
                self._places.rename(fingerprint(self._places.own_key, value), digits)


def _values(pieces: list[str], live: str) -> Iterator[str]:
    """What stands in the live text where the recorded one has placeholders, as far as the rest agrees."""
    if not live.startswith(pieces[0]):
        return
    at = len(pieces[0])
    for number in range(3, len(pieces), 3):
        after, last = pieces[number], number + 3 > len(pieces)
        masked = _PLACEHOLDER.match(live, at)
        end = masked.end() if masked is not None else len(live) if last and not after else live.find(after, at + 1) if after else -1
        if end < 0 or not live.startswith(after, end):
            return
        yield live[at:end]
        at = end + len(after)

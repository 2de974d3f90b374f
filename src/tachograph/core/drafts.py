"""Drafts: events with their content still in place.

Whoever observes something (the recorder, an importer) makes a ``Draft``; the log redacts the contents, moves them into the encrypted
pack and fills the event's ``*_uri`` and ``*_hash`` fields. So no producer touches keys, and nothing is stored unredacted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from .events import Event

#: Content fields that have a keyed hash beside them in the envelope, so that equal contents can be found without the key.
HASHED = {"prompt_redacted_uri": "prompt_hash", "output_uri": "output_hash"}


@dataclass(frozen=True, kw_only=True)
class Draft:
    """``contents`` maps a field that ends in ``_uri`` to its value: anything JSON has, and ``bytes``. ``unix_ms``: when it happened,
    where the producer knows better than the clock of the writer (an importer does)."""

    event: Event
    contents: dict[str, Any] = field(default_factory=dict)
    unix_ms: int | None = None


@dataclass(frozen=True, kw_only=True)
class ImportedSession:
    """One session found in a foreign file. ``source_id`` is its id there; ``parent_source_id`` that of the session it was a
    subagent, a fork or a continuation of."""

    source_id: str
    name: str | None = None
    parent_source_id: str | None = None
    drafts: tuple[Draft, ...] = ()
    understood: int = 0
    kept: int = 0
    """Records kept as notes because their meaning is unknown, and lines kept as gaps because they do not parse."""


class Importer(Protocol):
    """Reads one foreign format (docs/howto/write-an-importer.md).

    ``recognises`` looks at the first 64 KiB of a file. ``read`` yields every session in it; it never drops a record: what it does not
    understand becomes a ``Note`` (subtype ``unknown_record``) or a ``Gap`` (reason ``unreadable_line``) that holds the raw text. It
    raises ``ImportFailedError`` only where the file is of another kind altogether.
    """

    name: str

    def recognises(self, name: str, head: bytes) -> bool: ...
    def read(self, name: str, data: bytes) -> Iterator[ImportedSession]: ...

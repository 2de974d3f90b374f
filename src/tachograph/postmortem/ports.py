"""What the explaining side asks of a recording. ``log/reader.py`` offers it; the tests offer it from memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tachograph.core.events import Event


class Entry(Protocol):
    """One line of the log: its stamp, its event, and the parsed line as it was read."""

    @property
    def seq(self) -> int: ...
    @property
    def ts(self) -> str: ...
    @property
    def event(self) -> Event: ...
    @property
    def line(self) -> dict[str, Any]: ...


class Recording(Protocol):
    """A session that can be read. ``content`` gives the decoded, redacted value of a ``*_uri`` field (``None`` for
    ``None``) and raises ``KeyUnavailableError`` when the content was shredded or its key is not at hand. ``shared`` gives
    the same for who changes nothing: what contents have in common may be one object."""

    @property
    def session_id(self) -> str: ...
    @property
    def entries(self) -> Sequence[Entry]: ...
    def content(self, uri: str | None) -> Any: ...
    def shared(self, uri: str | None) -> Any: ...
    def by_id(self, event_id: str) -> Entry | None: ...

"""Reading a session: its lines in order, as events, with their content on demand.

The reader checks the chain as it goes (a broken line is never read past), but it is no verifier: seals, frames and everything that a
forger would think of are ``verify/``'s.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from tachograph.core import events
from tachograph.core.errors import FormatError, KeyUnavailableError, NewerFormatError, NotFoundError, TamperedError, UsageError
from tachograph.core.ids import SESSION_ID
from tachograph.core.ports import Store
from tachograph.format import canonical, layout, line, migrations, torn

from .content import ContentReader
from .heap import unswept
from .opening import OpenStore


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One line: its place and time, the event, and the line itself as it is stored. Few ask for more than the event: the fields of a hundred
    thousand lines are not kept for them."""

    seq: int
    ts: str
    event: events.Event
    raw: bytes

    @property
    def line(self) -> dict[str, Any]:
        """The parsed line. It was read before, and its chain checked."""
        return parsed(self.raw, f"line {self.seq}")


@dataclass(frozen=True)
class Tail:
    """Bytes at the end of a segment that are no line: a write that the writer did not live to finish."""

    segment: int
    offset: int
    data: bytes


class Recording:
    """A session, read. ``tails``: torn ends of segments."""

    def __init__(self, opened: OpenStore, session_id: str, *, strict: bool = True) -> None:
        """``strict``: raise where the chain breaks. Without, what comes before the break is read, and nothing after it."""
        self._strict = strict
        self.session_id = session_id
        self.opened = opened
        self.entries: list[Entry] = []
        self.tails: list[Tail] = []
        self._content = ContentReader(opened.store, session_id, self._data_key)
        self._read()

    def content(self, uri: str | None) -> Any:
        """The redacted value behind a ``content:`` reference; None for None. Raises ``KeyUnavailableError`` (shredded, or another
        key) and ``FormatError`` (damaged)."""
        return None if uri is None else self._content.get(uri)

    def shared(self, uri: str | None) -> Any:
        """As ``content``, for who reads all of a session and changes nothing: what contents have in common is one object in all of them."""
        return None if uri is None else self._content.shared(uri)

    def node(self, name: bytes) -> tuple[bytes, bytes]:
        """(kind, payload) of a node of content (``docs/format/v1.md``, section 5.2). Raises as ``content``, and ``KeyError``."""
        return self._content.node(name)

    def by_id(self, event_id: str) -> Entry | None:
        """The entry of an event."""
        return self._by_id.get(event_id)

    @cached_property
    def _by_id(self) -> dict[str, Entry]:
        return {entry.event.id: entry for entry in self.entries}

    def expanded(self, content: Callable[[str], Any] | None = None) -> Iterator[dict[str, Any]]:
        """The self-contained form (``tacho cat``): every ``*_uri`` replaced by its content, under the name without ``_uri``. Of an HTTP
        exchange that is no model call the wire holds the answer, which stands under ``response``: ``status``, ``headers``, ``body``.
        ``content``: what gives contents, where not this recording itself."""
        read = content or self.content
        for entry in self.entries:
            shown: dict[str, Any] = {}
            for key, value in _shown(entry.line):
                if _is_content(key, value):
                    shown[_place(key)] = read(value)
                else:
                    shown[key] = value
            if isinstance(entry.event, events.Http) and entry.event.wire_uri is not None:
                shown["response"] = _answer(read(entry.event.wire_uri))
            yield shown

    def _data_key(self) -> bytes:
        try:
            return self.opened.data_key(self.session_id)
        except NotFoundError:
            raise KeyUnavailableError(
                f"the keys of {self.session_id} are gone, {self.opened.store.url}/{layout.keys(self.session_id)}; "
                "its content was shredded or the file was lost: restore it from a backup if you have one"
            ) from None

    @unswept
    def _read(self) -> None:
        store = self.opened.store
        numbers = segments(store, self.session_id)
        if not numbers:
            raise NotFoundError(f"no session {self.session_id} in {store.url}; tacho ls shows what is there")
        if numbers != list(range(1, len(numbers) + 1)):
            raise TamperedError(f"a segment is missing, {store.url}/{layout.session(self.session_id)}; run tacho verify {self.session_id}")
        previous = line.genesis(self.session_id)
        for segment, data, void in lines_of(store, self.session_id, numbers):
            where = f"{store.url}/{layout.events(self.session_id, segment)}"
            at = 0
            for offset, raw, digest in valid_lines(previous, data):
                fields = parsed(raw, where, offset)
                self.entries.append(Entry(fields["seq"], str(fields.get("ts", "")), events.decode(fields), raw))
                if "frames" in fields:
                    self._content.expect(segment, frames(fields))
                previous, at = digest, offset + len(raw)
            if at < len(data):
                self.tails.append(Tail(segment, at, data[at:]))
                if void or not torn.torn_line(data, at):
                    if not self._strict:
                        return
                    raise TamperedError(f"the chain breaks at {where} offset {at}; run tacho verify {self.session_id}")


def lines_of(store: Store, session_id: str, numbers: list[int]) -> Iterator[tuple[int, bytes, bool]]:
    """(number, lines, whether more is there) of each segment: without what its writer could not write to the device, and a later
    segment makes void (``docs/format/v1.md``, section 3.5)."""
    held = [store.read(layout.events(session_id, number)) for number in numbers]
    limits = torn.counted([data[: data.find(b"\n") + 1] for data in held])
    for number, data, limit in zip(numbers, held, limits, strict=True):
        yield (number, data, False) if limit is None else (number, data[:limit], True)


def valid_lines(previous: str, data: bytes) -> Iterator[tuple[int, bytes, str]]:
    """(offset, line, hash) of the lines that continue the chain, up to the first that does not."""
    at = 0
    while True:
        end = data.find(b"\n", at) + 1
        if not end:
            return
        raw = data[at:end]
        digest = line.check(previous, raw)
        if digest is None:
            return
        yield at, raw, digest
        previous, at = digest, end


def parsed(raw: bytes, where: str, offset: int | None = None) -> dict[str, Any]:
    """The fields of a line that is chained already. ``where``, and the ``offset`` in it: for messages. Raises ``NewerFormatError``, and
    ``FormatError`` for one that no writer of this format makes."""
    try:
        fields: dict[str, Any] = canonical.loads_strict(raw)
    except ValueError as error:
        raise FormatError(f"a line that is no JSON object ({error}), {_at(where, offset)}; run tacho verify on the session") from None
    version = fields.get("v")
    if type(version) is int and version > layout.VERSION:
        raise NewerFormatError(f"a line in version {str(version)[:20]} of the format, {_at(where, offset)}; update tachograph to read it")
    try:
        fields = migrations.current(fields)
        good = type(fields.get("seq")) is int and ("frames" not in fields or all(map(_is_frame, frames(fields))))
    except KeyError:
        good = False
    if not good:
        raise FormatError(f"a line that is not as a line must be, {_at(where, offset)}; run tacho verify on the session")
    return fields


def _at(where: str, offset: int | None) -> str:
    return where if offset is None else f"{where} offset {offset}"


def frames(fields: dict[str, Any]) -> list[Any]:
    """What a line says about frames (``docs/format/v1.md``, section 3.3)."""
    found = fields.get("frames", [])
    return found if isinstance(found, list) else [found]


def _is_frame(frame: Any) -> bool:
    if type(frame) is not dict:
        return False
    number, at, length = frame.get("n"), frame.get("at"), frame.get("len")
    return type(number) is int and number >= 0 and type(at) is int and at >= 0 and type(length) is int and length >= 0


def segments(store: Store, session_id: str) -> list[int]:
    """The numbers of a session's segments, in order."""
    folder = layout.session(session_id)
    found = (layout.segment_of(name.removeprefix(folder)) for name in store.names(folder))
    return sorted(item[0] for item in found if item is not None and item[1] == "events.jsonl")


def session_ids(store: Store) -> list[str]:
    """All sessions of a store, oldest first (their ids sort by time)."""
    names = {name.split("/")[1] for name in store.names(layout.SESSIONS) if name.count("/") == 2}
    return sorted(name for name in names if SESSION_ID.match(name))


def resolve(store: Store, name: str) -> str:
    """The session that ``name`` means: an id, a unique prefix of one, or ``@last``."""
    known = session_ids(store)
    if name == "@last":
        if not known:
            raise NotFoundError(f"no session in {store.url} yet; record one with tacho record -- CMD")
        return known[-1]
    if name in known:
        return name
    prefix = "ses_" + name.upper().removeprefix("SES_")
    if prefix == "ses_":
        raise UsageError("a session's name that is empty; give an id, some of its first characters, or @last")
    found = [session_id for session_id in known if session_id.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{name} could be {len(found)} sessions ({', '.join(found[:3])}…); give more of the id")
    raise NotFoundError(f"no session {name} in {store.url}; tacho ls shows what is there")


#: In the expanded form a reference gives its place to its content, under the name that the article gave it.
_PLACES = {"prompt_redacted_uri": "input", "request_uri": "request"}
#: What only machines read: where the bytes lie, and the raw wire.
_HIDDEN = ("frames", "wire_uri")


def _shown(fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    # A model call's request body *is* its input; showing it twice helps nobody.
    skip = (*_HIDDEN, "request_uri") if fields.get("type") in ("model_call", "started") else _HIDDEN
    for key, value in fields.items():
        if key not in skip:
            yield key, value


def _answer(wire: Any) -> Any:
    """The answer in what replay gives back (``{"head", "pieces", "data", "last"}``); None where there was none."""
    head = wire.get("head") if isinstance(wire, dict) else None
    if not isinstance(head, dict):
        return None
    body = wire.get("data")
    if isinstance(body, bytes):
        with contextlib.suppress(UnicodeDecodeError):  # what is no text stays bytes
            body = body.decode()
    return {"status": head.get("status"), "headers": head.get("headers") or [], "body": body}


def _is_content(key: str, value: Any) -> bool:
    return key.endswith("_uri") and isinstance(value, str) and value.startswith("content:")


def _place(key: str) -> str:
    return _PLACES.get(key, key.removesuffix("_uri"))

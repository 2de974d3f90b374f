"""The ledger, read once: what it says of each session.

Whoever judges or decides over many sessions reads the ledger into a ``Book`` and asks that. It needs no key: reasons stay closed. The
reader checks the chain and nothing else; seals are ``verify/``'s, but ``unsealed_by`` tells whether the newest one covers what was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tachograph.core import events
from tachograph.core.errors import FormatError, NotFoundError, StoreError, TamperedError
from tachograph.core.ports import Store
from tachograph.crypto import merkle, note
from tachograph.format import layout, line, torn

from .reader import Entry, parsed, segments, valid_lines


class Book:
    """``broken``: where the chain breaks, if it does; nothing behind that place was read. Entries are decoded when they are asked for: of
    a ledger of many thousand, whoever asks about one session needs a few."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.broken: str | None = None
        self._lines: list[tuple[bytes, dict[str, Any]]] = []  # as stored, and as parsed
        """Those that are entries, as parsed."""
        self._decoded: dict[int, Entry] = {}
        self._by_subject: dict[str | None, list[int]] = {}
        self._tree = merkle.Tree()
        self._segments: list[int] = []

    @property
    def entries(self) -> list[Entry]:
        """All of them, oldest first."""
        return [self._entry(number) for number in range(len(self._lines))]

    # -- the log -----------------------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Lines of the ledger, those that are no entries included."""
        return self._tree.size

    def root_at(self, size: int) -> bytes | None:
        """The Merkle root over its first so many lines; None where it has fewer."""
        return self._tree.root_at(size) if 0 <= size <= self.size else None

    def pins(self, size: object, root: object) -> bool:
        """Whether the ledger once had this length and this root (hex)."""
        found = self.root_at(size) if type(size) is int and size > 0 else None
        return found is not None and found.hex() == root

    def unsealed_by(self, public: bytes | frozenset[bytes]) -> str | None:
        """Why this is not to be believed, None where it is: the newest seal is by ``public`` (or one of them) and over what was read. What lies behind it
        may be what somebody is writing at this moment."""
        if self.broken is not None:
            return self.broken
        for segment in reversed(self._segments):
            name = layout.seals(layout.LEDGER, segment)
            notes = whole_notes(self._store.read(name)) if self._store.exists(name) else []
            if not notes:
                continue  # its writer has not sealed yet, or died before
            try:
                point = note.open_note(notes[-1].decode("utf-8"), public)
            except ValueError as error:
                return f"its newest seal is not good ({error})"
            if point.origin != note.origin(layout.LEDGER) or point.root != self.root_at(point.size):
                return "its newest seal is of other lines"
            return None
        return "it has no seal" if self.size else None

    def believe(self, public: bytes | frozenset[bytes]) -> Book:
        """Forget the entries behind the newest seal by ``public`` (or one of them): they were never acknowledged, and anybody who can write
        the store can have put them there. This book."""
        size = 0
        for segment in reversed(self._segments):
            name = layout.seals(layout.LEDGER, segment)
            notes = whole_notes(self._store.read(name)) if self._store.exists(name) else []
            size = max((sealed_size(each, public, self._tree) for each in notes), default=0)
            if size:
                break
        kept = [number for number, (_, fields) in enumerate(self._lines) if fields["seq"] <= size]
        if len(kept) < len(self._lines):
            self._lines = self._lines[: len(kept)]
            self._by_subject = {
                subject: found for subject, numbers in self._by_subject.items() if (found := [each for each in numbers if each < len(kept)])
            }
        return self

    # -- what it says ------------------------------------------------------------------------------------------------------

    def about(self, subject: str | None, *actions: str) -> list[Entry]:
        """The entries about a session (None: about the store), of these actions or all, oldest first."""
        return [self._entry(number) for number in self._numbers(subject, actions)]

    def latest(self, subject: str | None, action: str) -> Entry | None:
        """The newest entry of that action about that session."""
        found = self._numbers(subject, (action,))
        return self._entry(found[-1]) if found else None

    def opened(self, session_id: str) -> Entry | None:
        """The entry that the session was begun."""
        found = self._numbers(session_id, ("opened",))
        return self._entry(found[0]) if found else None

    def sessions(self) -> list[str]:
        """All sessions that were ever begun."""
        return sorted(name for name in self._by_subject if name is not None and self._numbers(name, ("opened",)))

    def sealed(self, session_id: str) -> list[tuple[int, str, bool]]:
        """(lines, Merkle root in hex, whether that was its end) of the session, each time that it was entered."""
        found = []
        for entry in self.about(session_id, "sealed"):
            detail = entry_of(entry).detail
            if type(detail.get("size")) is int and isinstance(detail.get("root"), str):
                found.append((detail["size"], detail["root"], detail.get("ended") is True))
        return found

    def tombstone(self, session_id: str) -> Entry | None:
        """The entry that the session was deleted."""
        return self.latest(session_id, "deleted")

    def shredded(self, session_id: str) -> Entry | None:
        """The newest entry that its key was destroyed."""
        return self.latest(session_id, "shredded")

    def holds(self, session_id: str) -> dict[str, Entry]:
        """The matters for which the session is held, with the entry that says so."""
        found: dict[str, Entry] = {}
        for entry in self.about(session_id, "held", "released"):
            event = entry_of(entry)
            matter = str(event.detail.get("matter"))
            if event.action == "held":
                found.setdefault(matter, entry)
            else:
                found.pop(matter, None)
        return found

    def retention(self, session_id: str) -> int | None:
        """Days for which the session is kept: the store's default when it was begun, or its own, whichever is longer. None: none was
        ever chosen, and it is kept for ever."""
        begun = self.opened(session_id)
        default = [entry for entry in self.about(None, "retention") if begun is not None and entry.seq < begun.seq][-1:]
        days = [_days(entry_of(entry).detail) for entry in (*default, *self.about(session_id, "retention"))]
        return max((one for one in days if one is not None), default=None)

    def add(self, raw: bytes, fields: dict[str, Any]) -> None:
        """The next line, as stored and as parsed."""
        self._tree.add(merkle.leaf(raw))
        if fields.get("type") == events.LedgerEntry.TYPE:
            subject = fields.get("subject")
            self._by_subject.setdefault(subject if isinstance(subject, str) else None, []).append(len(self._lines))
            self._lines.append((raw, fields))

    def add_segment(self, number: int) -> None:
        """A segment that was read."""
        self._segments.append(number)

    def _numbers(self, subject: str | None, actions: tuple[str, ...]) -> list[int]:
        return [number for number in self._by_subject.get(subject, []) if not actions or self._lines[number][1].get("action") in actions]

    def _entry(self, number: int) -> Entry:
        found = self._decoded.get(number)
        if found is None:
            raw, fields = self._lines[number]
            found = self._decoded[number] = Entry(fields["seq"], str(fields.get("ts", "")), events.decode(fields), raw)
        return found


def believed(store: Store, public: bytes | frozenset[bytes]) -> Book:
    """The part of the ledger that is sealed by ``public`` (or one of them). Raises ``TamperedError`` where the chain breaks."""
    return read(store).believe(public)


def sealed_size(signed: bytes, public: bytes | frozenset[bytes], tree: merkle.Tree) -> int:
    """How many lines of this tree of the ledger a note is over; 0 for one that is not good."""
    try:
        point = note.open_note(signed.decode("utf-8"), public)
    except ValueError:
        return 0
    if point.origin != note.origin(layout.LEDGER) or point.size > tree.size:
        return 0
    return point.size if tree.root_at(point.size) == point.root else 0


def read(store: Store, *, strict: bool = True) -> Book:
    """The whole ledger; empty where there is none. ``strict``: raises ``TamperedError`` where the chain breaks; without, what comes
    before is read."""
    book = Book(store)
    previous = line.genesis(layout.LEDGER)
    held: dict[int, bytes] = {}
    for segment in segments(store, layout.LEDGER):
        try:
            held[segment] = store.read(layout.events(layout.LEDGER, segment))
        except (StoreError, NotFoundError) as error:
            if strict:
                raise
            book.broken = str(error)
            break
    limits = torn.counted([data[: data.find(b"\n") + 1] for data in held.values()])
    for (segment, whole), limit in zip(held.items(), limits, strict=True):
        name, data, at = layout.events(layout.LEDGER, segment), whole if limit is None else whole[:limit], 0
        try:
            for offset, raw, digest in valid_lines(previous, data):
                book.add(raw, parsed(raw, f"{store.url}/{name} offset {offset}"))
                previous, at = digest, offset + len(raw)
        except FormatError as error:
            if strict:
                raise
            book.broken = str(error)
            return book
        book.add_segment(segment)
        if at < len(data) and (limit is not None or not torn.torn_line(data, at)):
            book.broken = f"the chain breaks at {store.url}/{name} offset {at}; run tacho verify ledger"
            if strict:
                raise TamperedError(book.broken)
            return book
    return book


def entry_of(entry: Entry) -> events.LedgerEntry:
    """What an entry of the ledger says."""
    assert isinstance(entry.event, events.LedgerEntry)
    return entry.event


def said_by(entry: Entry) -> str:
    """Who made an entry, when, and where it stands, for people. What others wrote must not speak to the terminal."""
    event = entry_of(entry)
    who = f"{event.user or '?'} on {event.host or '?'}".encode("unicode_escape").decode("ascii")
    return f"{entry.ts} by {who} (line {entry.seq} of the ledger)"


def whole_notes(data: bytes) -> Sequence[bytes]:
    """The notes of a file of seals, without a torn one at its end."""
    parts = data[: torn.whole_notes(data)].split(b"\n\n")
    return [parts[n] + b"\n\n" + parts[n + 1] + b"\n" for n in range(0, len(parts) - 2, 2)]


def _days(detail: dict[str, Any]) -> int | None:
    days = detail.get("days")
    return days if type(days) is int and days > 0 else None

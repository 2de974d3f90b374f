"""The store's own log: who did what to the store, in the format of a session (``docs/format/v1.md``, section 6).

What cannot be taken back, or what somebody must answer for, is entered *before* it is done: an entry says that it was begun. Whoever
has something to enter opens the ledger, appends, and closes it again; each writer begins a segment of its own, whose first line is a
``gap`` with the reason ``next_writer``. One writer at a time: the next one waits for the lock, but not for ever.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import ConflictError, TamperedError
from tachograph.core.ports import Clock, Entropy, Lock, Store
from tachograph.format import layout, line

from . import recover
from .opening import OpenStore
from .reader import Entry, parsed, resolve, segments, valid_lines
from .writer import SessionWriter

#: Seconds that a writer waits for another one to be done. An entry takes some syncs of a device.
WAIT = 10.0
_LOOK = 0.02


class Ledger:
    """The ledger, open for appending. Entries are redacted already, as all drafts are."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer

    def append(self, entry: events.LedgerEntry, *, reason: str | None = None) -> int:
        """Enter something; its line's number. It is sealed and on the device when this returns."""
        self._writer.append(Draft(event=entry, contents={} if reason is None else {"reason_uri": reason}))
        self._writer.seal()
        return self._writer.size


@contextlib.contextmanager
def writing(opened: OpenStore, *, clock: Clock, entropy: Entropy, pause: Callable[[float], None], wait: float = WAIT) -> Iterator[Ledger]:
    """The ledger, made at its first entry. ``pause`` sleeps that many seconds. Raises ``ConflictError`` when another writer held it for all of ``wait`` seconds, and
    ``TamperedError`` when it is not one that can be continued."""
    store = opened.store
    lock = _locked(store, clock, wait, pause)
    try:
        fresh = not segments(store, layout.LEDGER)
        if fresh:
            # Under the lock nobody else makes the key; one who died over it may have, and it is as good.
            with contextlib.suppress(ConflictError):
                opened.new_data_key(layout.LEDGER, entropy)
        data_key = opened.data_key(layout.LEDGER)
    except BaseException:
        lock.release()
        raise
    if fresh:
        writer = SessionWriter(opened, layout.LEDGER, data_key, clock=clock, entropy=entropy, lock=lock)
    else:
        writer = recover.resume(opened, layout.LEDGER, clock=clock, entropy=entropy, reason="next_writer", lock=lock)
    try:
        yield Ledger(writer)
    finally:
        writer.close()


def exists(store: Store) -> bool:
    """Whether anything was ever entered (or begun to be)."""
    return bool(segments(store, layout.LEDGER))


def entries(store: Store) -> list[Entry]:
    """The entries, oldest first; needs no key, reasons stay closed. Raises ``TamperedError`` where the chain breaks."""
    found: list[Entry] = []
    previous = line.genesis(layout.LEDGER)
    for segment in segments(store, layout.LEDGER):
        name = layout.events(layout.LEDGER, segment)
        data, at = store.read(name), 0
        for offset, raw, digest in valid_lines(previous, data):
            fields = parsed(raw, f"{store.url}/{name} offset {offset}")
            event = events.decode(fields)
            if isinstance(event, events.LedgerEntry):
                found.append(Entry(fields["seq"], str(fields.get("ts", "")), event, fields))
            previous, at = digest, offset + len(raw)
        if b"\n" in data[at:-1]:
            raise TamperedError(f"the chain breaks at {store.url}/{name} offset {at}; run tacho verify ledger")
    return found


def latest(store: Store, action: str, subject: str) -> Entry | None:
    """The newest entry of that action about that session."""
    found = None
    for entry in entries(store):
        if isinstance(entry.event, events.LedgerEntry) and (entry.event.action, entry.event.subject) == (action, subject):
            found = entry
    return found


def resolve_log(store: Store, name: str) -> str:
    """As ``resolve``, and ``ledger`` means the ledger, where there is one."""
    return layout.LEDGER if name == layout.LEDGER and exists(store) else resolve(store, name)


def _locked(store: Store, clock: Clock, wait: float, pause: Callable[[float], None]) -> Lock:
    until = clock.monotonic() + wait
    while True:
        try:
            return store.lock(layout.lock(layout.LEDGER))
        except ConflictError:
            if clock.monotonic() >= until:
                raise ConflictError(
                    f"the ledger of {store.url} is held by another writer for {wait:g} seconds; see what it is doing, then try again"
                ) from None
            pause(_LOOK)

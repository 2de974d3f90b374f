"""The store's own log: who did what to the store, in the format of a session (``docs/format/v1.md``, section 10).

What cannot be taken back, or what somebody must answer for, is entered *before* it is done: an entry says that it was begun. Whoever
has something to enter opens the ledger, appends, and closes it again; each writer begins a segment of its own, whose first line is a
``gap`` with the reason ``next_writer``. One writer at a time: the next one waits for the lock, but not for ever.

Whoever decides something that the ledger speaks of (a hold, a deletion) decides inside the lock, by ``book()``: nobody else can enter
anything until it has entered what it decided.

A ledger of many thousand entries stays cheap to write, because a writer reads the last segment only (``tail.py``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import ConflictError, NotFoundError
from tachograph.core.ports import Clock, Entropy, Lock, Store
from tachograph.format import layout

from . import book as books
from . import tail
from .book import Book
from .opening import OpenStore
from .reader import Entry, resolve
from .recover import Left
from .writer import SessionWriter

#: Seconds that a writer waits for another one to be done. An entry takes some syncs of a device.
WAIT = 10.0
_LOOK = 0.02


class Ledger:
    """The ledger, locked for this writer. Entries are redacted already, as all drafts are. Without an entry nothing is written."""

    def __init__(self, opened: OpenStore, *, clock: Clock, entropy: Entropy) -> None:
        self._opened = opened
        self._clock = clock
        self._entropy = entropy
        self._left: Left | None = tail.left_behind(opened)
        self._at = self._left.tree.size, self._left.tree.root()
        self._writer: SessionWriter | None = None
        self._segment = 0
        self._book: Book | None = None

    @property
    def size(self) -> int:
        """Lines so far."""
        return self._at[0]

    @property
    def root(self) -> bytes:
        """The Merkle root over them."""
        return self._at[1]

    def book(self) -> Book:
        """All that it says and that is sealed: for decisions. Raises ``TamperedError`` where the chain breaks."""
        if self._book is None:
            self._book = books.believed(self._opened.store, self._opened.trusted)
        return self._book

    def append(self, entry: events.LedgerEntry, *, reason: str | None = None) -> int:
        """Enter something; its line's number. It is sealed and on the device when this returns; with a store of complete files it is in the
        store, or waits in the spool where that is away. Raises ``ConflictError`` where another machine was first."""
        if self._writer is None:
            self._writer = self._begun()
        writer = self._writer
        writer.append(Draft(event=entry, contents={} if reason is None else {"reason_uri": reason}))
        signed = writer.seal()
        self._book = None
        if self._opened.store.segments is not None and signed is not None:
            self._deliver(writer, signed)
        self._at = writer.size, writer.root
        return writer.size

    def _deliver(self, writer: SessionWriter, signed: str) -> None:
        """A store that takes complete files gets this segment now. Locks hold on one machine only, so another one may have taken the
        segment's number: then nothing was entered."""
        store, name = self._opened.store, layout.seals(layout.LEDGER, self._segment)
        self._writer, self._left = None, None  # another entry, if there is one, looks again where the ledger ends
        writer.close()
        store.settle(WAIT)
        try:
            kept = store.read(name)
        except NotFoundError:
            kept = b""
        if signed.encode() not in kept:
            raise ConflictError(f"another machine has entered something in the ledger of {store.url} at this moment; try again")

    def _begun(self) -> SessionWriter:
        opened = self._opened
        left = self._left if self._left is not None else tail.left_behind(opened)
        self._segment = left.segments + 1
        opened.key.signer()  # a key that cannot seal leaves no segment without one
        if not left.segments:
            # Under the lock nobody else makes the key; one who died over it may have, and it is as good.
            with contextlib.suppress(ConflictError):
                opened.new_data_key(layout.LEDGER, self._entropy)
        writer = SessionWriter(
            opened, layout.LEDGER, opened.data_key(layout.LEDGER), clock=self._clock, entropy=self._entropy, lock=_Kept(),
            segment=self._segment, previous=left.previous if left.segments else None, tree=left.tree,
        )  # fmt: skip
        if left.segments:
            peaks = [peak.hex() for peak in left.tree.peaks]
            gaps = [left.void] if left.void is not None else [events.Gap(reason="next_writer", frontier=peaks), *left.tails]
            for gap in gaps:
                writer.append(Draft(event=gap))
        return writer

    def close(self) -> None:
        """Nothing more is entered."""
        if self._writer is not None:
            self._writer.close()


class _Kept:
    """The lock of the ledger, as its writer sees it: it is given back by whoever took it."""

    def release(self) -> None:
        return None


@contextlib.contextmanager
def writing(opened: OpenStore, *, clock: Clock, entropy: Entropy, pause: Callable[[float], None], wait: float = WAIT) -> Iterator[Ledger]:
    """The ledger, made at its first entry. ``pause`` sleeps that many seconds. Raises ``ConflictError`` when another writer held it for all of ``wait`` seconds, and
    ``TamperedError`` when it is not one that can be continued."""
    lock = _locked(opened.store, clock, wait, pause)
    try:
        ledger = Ledger(opened, clock=clock, entropy=entropy)
        try:
            yield ledger
        finally:
            ledger.close()
    finally:
        lock.release()


def exists(store: Store) -> bool:
    """Whether anything was ever entered (or begun to be)."""
    return store.exists(layout.events(layout.LEDGER, 1))


def entries(store: Store) -> list[Entry]:
    """The entries, oldest first; needs no key, reasons stay closed. Raises ``TamperedError`` where the chain breaks."""
    return books.read(store).entries


def latest(store: Store, action: str, subject: str) -> Entry | None:
    """The newest entry of that action about that session. For one question only: whoever has more reads a ``Book``."""
    return books.read(store).latest(subject, action)


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

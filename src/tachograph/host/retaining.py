"""``tacho retain``: what time removes. Every deletion is decided under the ledger's lock, entered with what was there, and only then done;
whoever died over one is finished by the next."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from tachograph.core.errors import ConflictError, StoreError, UsageError
from tachograph.format import layout
from tachograph.log import retention
from tachograph.log.book import Book, entry_of
from tachograph.log.reader import session_ids
from tachograph.log.retention import DAY, Custody, State
from tachograph.log.verify import verify

from . import holds
from .custody import Keeper

#: Files that a tombstone names; a line has its limits, and the root over the lines vouches for their content by itself.
MAX_FILES = 10_000
#: Milliseconds. A clock that is further behind the ledger's last entry than this is wrong, or the ledger's was.
_SKEW = 60_000


@dataclass(frozen=True)
class Row:
    """One session: its state, and what was done with it (or would be): ``kept``, ``deleted``, ``finished`` (a deletion that somebody died
    over), ``locked`` (the store does not let it go yet), ``failed``. ``why`` says more, for people. Times in milliseconds since 1970 UTC."""

    session_id: str
    state: State
    matters: tuple[str, ...]
    days: int | None
    expires: int | None
    due: int | None
    done: str = "kept"
    why: str = ""


def keep(by: Keeper, session_id: str | None, days: int, reason: str) -> int:
    """Choose how long: of one session (only ever longer), or of the store's sessions that are opened from now on. The ledger's line."""
    entry = by.entry("retention", session_id, detail={"days": days})
    if session_id is None:
        return by.enter(entry, reason)
    line = by.enter(entry, reason, check=lambda book: retention.may_keep(retention.custody_of(book, session_id), days))
    _extend(by, by.custody(session_id))
    return line


def run(by: Keeper, *, grace: int = retention.GRACE, dry: bool = False) -> list[Row]:
    """One pass over all sessions. Raises ``UsageError`` when this machine's clock is behind the ledger."""
    book, now = by.book(), by.clock.unix_ms()
    newest = max((retention.unix_ms(entry.ts) for entry in book.entries), default=0)
    if now < newest - _SKEW:
        raise UsageError(
            f"this machine's clock is {(newest - now) // 1000} seconds behind the ledger's last entry, and retention goes by it; set the clock"
        )
    return [_one(by, retention.custody_of(book, session_id), now, grace, dry) for session_id in _all(by, book.sessions())]


def _all(by: Keeper, known: list[str]) -> list[str]:
    """Sessions that are there, wholly or in part."""
    return sorted({*session_ids(by.opened.store), *(name for name in known if by.opened.store.exists(layout.keys(name)))})


def _one(by: Keeper, custody: Custody, now: int, grace: int, dry: bool) -> Row:
    live = _live(by, custody.session_id)
    state = custody.state(now, grace=grace, live=live)
    row = Row(custody.session_id, state, custody.matters, custody.days, custody.expires(), custody.due(grace))
    try:
        if state is State.DELETED:
            return _with(row, *_finished(by, custody, dry))
        if custody.held and not dry:
            holds.apply(by, custody.session_id, True)  # what was written since is held by the store, too
        if custody.held or state is not State.DUE:
            return row
        if why := _locked(by, custody.session_id, now):
            return _with(row, "locked", why)
        if dry:
            return _with(row, "deleted", "")
        return _with(row, "deleted", f"line {delete(by, custody.session_id, grace=grace)} of the ledger")
    except ConflictError as error:
        return _with(row, "kept", str(error))
    except StoreError as error:
        return _with(row, "failed", str(error))


def delete(by: Keeper, session_id: str, *, grace: int = retention.GRACE) -> int:
    """Delete a session whose time is over; the ledger's line, its tombstone. Raises ``ConflictError`` while it is being written, is held, or
    is not due."""
    store = by.opened.store
    lock = store.lock(layout.lock(session_id))
    try:
        found = verify(store, session_id, public=by.opened.key.public())
        stone: dict[str, Any] = {"size": found.events, "root": found.root, "verdict": found.verdict, **_files(by, session_id)}
        now = by.clock.unix_ms()
        line = by.enter(
            by.entry("deleted", session_id, detail=stone),
            None,
            check=lambda book: retention.may_delete(retention.custody_of(book, session_id), now, grace=grace),
        )
        _remove(by, session_id)
        return line
    finally:
        lock.release()


def _files(by: Keeper, session_id: str) -> dict[str, Any]:
    """What a copy of the session can be told by: size and SHA-256 of each file of its log, where so many fit into a line."""
    store, folder = by.opened.store, layout.session(session_id)
    names = [name for name in holds.objects(by, session_id) if name.startswith(folder)]
    if len(names) > MAX_FILES:
        return {"count": len(names)}
    files = {}
    for name in names:
        data = store.read(name)
        files[name.removeprefix(folder)] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return {"files": files}


def _finished(by: Keeper, custody: Custody, dry: bool) -> tuple[str, str]:
    session_id = custody.session_id
    if why := _contradicted(by.book(), custody):
        return "failed", f"{why}; run tacho verify --all before anything else"
    if not dry:
        lock = by.opened.store.lock(layout.lock(session_id))
        try:
            _remove(by, session_id)
        finally:
            lock.release()
    return "finished", "the ledger has its tombstone, and some of it was still there"


def _contradicted(book: Book, custody: Custody) -> str:
    """Why a tombstone cannot be what ``delete`` entered."""
    if custody.held:
        return f"the ledger has a tombstone of what is held for {', '.join(custody.matters)}"
    stone, sealed = book.tombstone(custody.session_id), book.sealed(custody.session_id)
    said = entry_of(stone).detail if stone is not None else {}
    size = said.get("size")
    for lines, root, _ in sealed:
        if type(size) is not int or size < lines or (size == lines and said.get("root") != root):
            return f"its tombstone in the ledger speaks of {size!r:.20} lines, and {lines} others were sealed"
    return ""


def _remove(by: Keeper, session_id: str) -> None:
    store = by.opened.store
    for name in holds.objects(by, session_id):
        store.remove(name)
    store.remove(layout.lock(session_id))
    store.remove(layout.session(session_id))


def _live(by: Keeper, session_id: str) -> bool:
    """Whether somebody on this machine writes it."""
    try:
        by.opened.store.lock(layout.lock(session_id)).release()
    except ConflictError:
        return True
    except StoreError:
        return False  # not ours to write: who tries to delete will hear of it
    return False


def _locked(by: Keeper, session_id: str, now: int) -> str:
    """Why the store itself would not let a session go: asked first, so that nothing is deleted by halves."""
    locks = by.opened.store.locks
    if locks is None:
        return ""
    for name in holds.objects(by, session_id):
        until = locks.until(name)
        if until is not None and until > now:
            return f"the bucket keeps {name} for {-(-(until - now) // DAY)} more days"
        if locks.held(name):
            return f"the bucket has a legal hold on {name} that the ledger does not know"
    return ""


def _extend(by: Keeper, custody: Custody) -> None:
    """A longer retention is the store's, too, where the store has one of its own."""
    locks, until = by.opened.store.locks, custody.expires()
    if locks is not None and until is not None:
        for name in holds.objects(by, custody.session_id):
            locks.extend(name, until)


def _with(row: Row, done: str, why: str) -> Row:
    return Row(row.session_id, row.state, row.matters, row.days, row.expires, row.due, done, why)

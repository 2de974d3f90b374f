"""For whom a store's keys are wrapped: who is, who is added and removed, and bringing every file of wraps up to date.

Whoever changes something here holds ``keys/lock``, enters it in the ledger, writes the list of recipients, and then replaces the files of
wraps, each under the ledger's lock, unless the ledger says that the key was destroyed (``docs/format/v1.md``, section 6.3). Killed at
any step, ``rewrap`` finishes it.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import ConflictError, NotFoundError, TachographError, UsageError
from tachograph.core.ports import Store
from tachograph.crypto import recipients as lists
from tachograph.crypto import wrapfile
from tachograph.format import layout
from tachograph.log import ledger
from tachograph.log.book import Book
from tachograph.log.opening import STORE, OpenStore

from .custody import Keeper

_LIMIT = 1 << 20
_SESSION = re.compile(r"keys/(ses_[0-9A-Z]{26})\.json\Z")
#: Files that are replaced while the ledger is locked once. A session that begins waits for as long.
BATCH = 32


@dataclass
class Rewrapped:
    """``failed``: (name, why in one line), of files that are as they were."""

    changed: int = 0
    kept: int = 0
    shredded: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class State:
    """``lacking``: id of a recipient → names whose key is not wrapped for it; ``beyond``: id of nobody on the list → names whose key is
    wrapped for it still; ``unread``: (name, why)."""

    recipients: list[dict[str, Any]]
    names: int
    lacking: dict[str, list[str]]
    beyond: dict[str, list[str]]
    unread: list[tuple[str, str]]


@contextlib.contextmanager
def changing(store: Store) -> Iterator[None]:
    """Nobody else changes recipients or keys meanwhile. Raises ``ConflictError`` where somebody does."""
    try:
        lock = store.lock(layout.KEYS_LOCK)
    except ConflictError:
        raise ConflictError(f"somebody else changes the keys of {store.url} at this moment; wait for it to end") from None
    try:
        yield
    finally:
        lock.release()


def names(store: Store) -> list[str]:
    """``store``, ``ledger`` where there is one, and the sessions that have a file of wraps."""
    found = list(store.names(layout.KEYS))
    logs = [layout.LEDGER] if layout.keys(layout.LEDGER) in found else []
    return [STORE, *logs, *(match[1] for match in map(_SESSION.match, found) if match)]


def state(opened: OpenStore) -> State:
    """Who can open what, by the ids that the wraps say; nothing is opened."""
    there = opened.recipients()
    wanted = {one["id"] for one in there}
    lacking: dict[str, list[str]] = {name: [] for name in wanted}
    beyond: dict[str, list[str]] = {}
    unread: list[tuple[str, str]] = []
    found = names(opened.store)
    for name in found:
        try:
            file = _load(opened.store, name)[1]
        except TachographError as error:
            unread.append((name, str(error)))
            continue
        if file.shredded is not None:
            continue
        have = _ids(file)
        for one in wanted - have:
            lacking[one].append(name)
        for one in have - wanted:
            beyond.setdefault(one, []).append(name)
    return State(there, len(found), lacking, beyond, unread)


def add(by: Keeper, recipient: Mapping[str, Any], reason: str, *, report: Callable[[str], None] = lambda _: None) -> Rewrapped:
    """Wrap all keys for one more. Raises ``UsageError`` where they are already, and whatever says that it cannot be wrapped for."""
    opened = by.opened
    with changing(opened.store):
        there = opened.recipients()
        if any(one["id"] == recipient["id"] for one in there):
            raise UsageError(f"keys are wrapped for {recipient['type']} {recipient['id']} already; tacho keys rewrap brings all up to date")
        # Whether it can be wrapped for is known before anything is entered.
        opened.ring.holder(recipient, opened.id).wrap(STORE, bytes(64), by.entropy)
        by.enter(by.entry("key_added", None, detail={"wrap": recipient["type"], "key": recipient["id"]}), reason)
        write(opened, [*there, recipient])
        return _rewrap(by, opened, anew=False, report=report)


def remove(by: Keeper, recipient_id: str, reason: str, *, report: Callable[[str], None] = lambda _: None) -> Rewrapped:
    """Wrap keys for one less. Raises ``NotFoundError`` for a stranger, ``UsageError`` for the last one."""
    opened = by.opened
    with changing(opened.store):
        there = opened.recipients()
        gone = [one for one in there if one["id"] == recipient_id]
        if not gone:
            raise NotFoundError(f"keys are not wrapped for {recipient_id[:80]!a}; tacho keys ls says for whom")
        left = [one for one in there if one["id"] != recipient_id]
        if not left:
            raise UsageError("without its last recipient nobody could read the store; add another one first, with tacho keys add")
        by.enter(by.entry("key_removed", None, detail={"wrap": gone[0]["type"], "key": recipient_id}), reason)
        write(opened, left)
        return _rewrap(by, opened, anew=False, report=report)


def rewrap(by: Keeper, *, anew: bool = False, report: Callable[[str], None] = lambda _: None) -> Rewrapped:
    """Bring every file of wraps up to date with the recipients. ``anew``: also those that say that they are."""
    with changing(by.opened.store):
        return _rewrap(by, by.opened, anew=anew, report=report)


def write(opened: OpenStore, recipients: Sequence[Mapping[str, Any]]) -> None:
    """Make this the list of recipients. The caller is ``changing``."""
    opened.store.replace(layout.RECIPIENTS, lists.dump(recipients, opened.id, opened.key))


def everything(by: Keeper, opened: OpenStore, *, anew: bool, report: Callable[[str], None] = lambda _: None) -> Rewrapped:
    """As ``rewrap``, for who is ``changing`` already; ``opened`` may have another key than the keeper's."""
    return _rewrap(by, opened, anew=anew, report=report)


def _rewrap(by: Keeper, opened: OpenStore, *, anew: bool, report: Callable[[str], None]) -> Rewrapped:
    opened.key.signer()
    there = opened.recipients()
    out = Rewrapped()
    todo = names(opened.store)
    for at in range(0, len(todo), BATCH):
        made: dict[str, tuple[bytes, bytes]] = {}
        for name in todo[at : at + BATCH]:
            try:
                _made(opened, name, there, made, out, anew=anew, by=by)
            except NotFoundError:
                continue  # deleted since it was listed
            except TachographError as error:
                out.failed.append((name, str(error)))
        if made:
            _put(by, opened, made, out)
        report(f"{min(at + BATCH, len(todo))} of {len(todo)}")
    return out


def _made(
    opened: OpenStore, name: str, there: Sequence[Mapping[str, Any]], made: dict[str, tuple[bytes, bytes]], out: Rewrapped, *, anew: bool, by: Keeper
) -> None:  # fmt: skip
    """The new file of a name, beside the one that it is made from."""
    before, file = _load(opened.store, name)
    if file.shredded is not None:
        out.shredded += 1
        return
    wanted = [one["id"] for one in there]
    signed = file.signed_by(opened.id, name, frozenset({opened.key.public()})) is not None
    if not anew and signed and [one.get("key_id") for one in file.wraps] == wanted:
        out.kept += 1
        return
    plain = opened.unwrapped(name, file)
    # A wrap that is there already stays: whose it is may have to be asked, or be a service that counts.
    had = {one.get("key_id"): one for one in file.wraps if one.get("key_id") in wanted}
    fresh = [one for one in there if anew or one["id"] not in had]
    # Of a service that cannot be reached the old wrap stays, too: no wrap is lost by this.
    wraps = {**had, **opened.ring.wrap(fresh, opened.id, name, plain, by.entropy, optional=bool(had))}
    ordered = [wraps[one] for one in wanted if one in wraps]
    made[name] = before, wrapfile.dump(name, plain, ordered, store_id=opened.id, owner=opened.key)


def _put(by: Keeper, opened: OpenStore, made: Mapping[str, tuple[bytes, bytes]], out: Rewrapped) -> None:
    with ledger.writing(by.opened, clock=by.clock, entropy=by.entropy, pause=time.sleep) as book:
        said: Book = book.book()
        for name, (before, after) in made.items():
            try:
                if said.about(name, "shredded", "deleted"):
                    out.shredded += 1
                elif not opened.store.exists(_file(name)):
                    continue
                elif opened.store.read(_file(name), limit=_LIMIT) != before:
                    out.failed.append((name, f"{_file(name)} was changed meanwhile; run tacho keys rewrap again"))
                else:
                    opened.store.replace(_file(name), after)
                    out.changed += 1
            except TachographError as error:
                out.failed.append((name, str(error)))


def _load(store: Store, name: str) -> tuple[bytes, wrapfile.WrapFile]:
    file = _file(name)
    data = store.read(file, limit=_LIMIT)
    found = wrapfile.load(data, f"{store.url}/{file}")
    if found.shredded is None and (not isinstance(found.wraps, list) or not all(isinstance(one, dict) for one in found.wraps)):
        raise UsageError(f"not a file of wrapped keys, {store.url}/{file}; restore the file from a backup")
    return data, found


def _ids(file: wrapfile.WrapFile) -> set[str]:
    return {ascii(str(one.get("key_id"))[:80])[1:-1] for one in file.wraps}


def _file(name: str) -> str:
    return layout.STORE_KEYS if name == STORE else layout.keys(name)

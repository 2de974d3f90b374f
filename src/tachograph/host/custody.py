"""What is done to a store by its keepers: destroying a session's key, unmasking originals, dropping them. Each act is entered in the ledger before it is done, with who
did it and why; where the entry cannot be made, nothing is done."""

from __future__ import annotations

import functools
import os
import pwd
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tachograph.core import events
from tachograph.core.errors import NotFoundError, UsageError
from tachograph.core.ports import Clock, Entropy
from tachograph.crypto.vaultkeys import VaultKey
from tachograph.format import layout
from tachograph.log import book as books
from tachograph.log import ledger, opening, retention, vault
from tachograph.log.book import Book
from tachograph.log.opening import OpenStore
from tachograph.log.retention import Custody
from tachograph.log.vault import Original
from tachograph.log.writer import timestamp

if TYPE_CHECKING:
    from tachograph.redact.engine import Redactor

#: Characters. A reason is a sentence or two, not a document.
MAX_REASON = 2000


@dataclass(frozen=True, kw_only=True)
class Keeper:
    """Who acts, on what. ``user``: the account of the operating system, by its number and not by what the environment says."""

    opened: OpenStore
    clock: Clock
    entropy: Entropy
    user: str
    host: str

    def entry(
        self, action: str, subject: str | None, *, fingerprints: Sequence[str] = (), detail: dict[str, Any] | None = None
    ) -> events.LedgerEntry:
        """An entry about an act of this keeper."""
        return events.LedgerEntry(
            action=action, subject=subject, user=self.user, host=self.host, fingerprints=list(fingerprints), detail=detail or {}
        )

    def enter(self, entry: events.LedgerEntry, reason: str | None, *, check: Callable[[Book], None] | None = None) -> int:
        """Enter an act in the ledger; the number of its line. A secret in the reason is masked as everywhere. ``check`` decides, on what
        the ledger says at that very moment, and raises where it must not be done."""
        with ledger.writing(self.opened, clock=self.clock, entropy=self.entropy, pause=time.sleep) as open_ledger:
            if check is not None:
                check(open_ledger.book())
            return open_ledger.append(entry, reason=self._redactor.text(reason) if reason is not None else None)

    def masked(self, text: str) -> str:
        """A text as it would be recorded."""
        return self._redactor.text(text)

    def custody(self, session_id: str) -> Custody:
        """What the ledger says of the keeping of a session."""
        return retention.custody_of(self.book(), session_id)

    def book(self) -> Book:
        """What the ledger says, as far as it is sealed."""
        return books.believed(self.opened.store, self.opened.trusted)

    @functools.cached_property
    def _redactor(self) -> Redactor:
        from tachograph.redact.engine import Redactor, known_from_environment  # slow to import, and most entries give no reason
        from tachograph.redact.policy import Policy

        return Redactor(Policy.default(), key=self.opened.fingerprint_key, known=known_from_environment(dict(os.environ)))


def keeper(opened: OpenStore, *, clock: Clock, entropy: Entropy) -> Keeper:
    """The one who runs this process."""
    return Keeper(opened=opened, clock=clock, entropy=entropy, user=_user(), host=socket.gethostname())


def reason_of(text: str | None) -> str:
    """A reason that says something. Raises ``UsageError``."""
    reason = " ".join((text or "").split())
    if not reason:
        raise UsageError("why is not said; the ledger keeps the reason: give it with --reason TEXT")
    if len(reason) > MAX_REASON:
        raise UsageError(f"a reason of {len(reason)} characters, and the ledger takes {MAX_REASON}; name a document instead")
    return reason


def shred(by: Keeper, session_id: str, reason: str) -> int:
    """Destroy the key of a session's content, and its vault; the ledger's line. The lines of the session stay, and verify. Raises
    ``ConflictError`` while the session is being recorded, and while it is held."""
    store = by.opened.store
    lock = store.lock(layout.lock(session_id))
    try:
        kept = store.exists(layout.vault(session_id))
        entry = by.entry("shredded", session_id, detail={"vault": "dropped"} if kept else {})
        line = by.enter(entry, reason, check=lambda book: retention.may_destroy(retention.custody_of(book, session_id)))
        if kept:
            vault.drop(store, session_id)
        opening.destroy_data_key(store, session_id, timestamp(by.clock.unix_ms()))
        return line
    finally:
        lock.release()


def no_vault_yet(by: Keeper) -> None:
    """Raises ``ConflictError`` where the store has a vault key: a new private key would open nothing."""
    if by.opened.store.exists(layout.VAULT_KEY):
        raise opening.another_vault_key(by.opened)


def is_vault_key(by: Keeper, key: VaultKey) -> bool:
    """Whether the store's vaults are sealed for this key."""
    return by.opened.store.exists(layout.VAULT_KEY) and opening.vault_key(by.opened) == key.public


def make_vault(by: Keeper, key: VaultKey) -> int | None:
    """Make this the key that the store's vaults are sealed for; the ledger's line, None where it is that already. Raises
    ``ConflictError`` where another one is."""
    if is_vault_key(by, key):
        return None
    if not by.opened.store.exists(layout.VAULT_KEY):
        line = by.enter(by.entry("vault_made", None, detail={"key": key.id}), "a key for the vaults of this store")
        opening.set_vault_key(by.opened, key.public)
        return line
    opening.set_vault_key(by.opened, key.public)  # says that there is another one
    return None


def unmask(by: Keeper, session_id: str, key: VaultKey, fingerprints: Sequence[str], reason: str) -> list[Original]:
    """The originals of a session, all or those of some placeholders. Raises ``NotFoundError`` where there is none of them, and whatever
    keeps the entry from being made: without it nothing is handed out."""
    found = vault.read(by.opened.store, session_id, key, by.opened.fingerprint_key)
    if fingerprints:
        found = [one for one in found if one.fingerprint in fingerprints]
    if missing := sorted(set(fingerprints) - {one.fingerprint for one in found}):
        raise NotFoundError(
            f"no original for {', '.join(missing)} in the vault of {session_id}; tacho show {session_id} names what was masked"
        )
    names = sorted({one.fingerprint for one in found})
    by.enter(by.entry("unmasked", session_id, fingerprints=names, detail={"key": key.id, "count": len(found)}), reason)
    return found


def drop_vault(by: Keeper, session_id: str, reason: str) -> int:
    """Drop the originals of a session; the ledger's line. Raises ``ConflictError`` while the session is being recorded, or held."""
    store = by.opened.store
    kept = vault.count(store, session_id)
    lock = store.lock(layout.lock(session_id))
    try:
        entry = by.entry("vault_dropped", session_id, detail={"count": kept})
        line = by.enter(entry, reason, check=lambda book: retention.may_destroy(retention.custody_of(book, session_id)))
        vault.drop(store, session_id)
        return line
    finally:
        lock.release()


def _user() -> str:
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid {number}"

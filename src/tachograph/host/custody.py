"""What is done to a store by its keepers: destroying a session's key. Each act is entered in the ledger before it is done, with who
did it and why; where the entry cannot be made, nothing is done."""

from __future__ import annotations

import os
import pwd
import socket
import time
from dataclasses import dataclass

from tachograph.core import events
from tachograph.core.errors import UsageError
from tachograph.core.ports import Clock, Entropy
from tachograph.format import layout
from tachograph.log import ledger, opening
from tachograph.log.opening import OpenStore
from tachograph.log.writer import timestamp
from tachograph.redact.engine import Redactor, known_from_environment
from tachograph.redact.policy import Policy

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

    def enter(self, entry: events.LedgerEntry, reason: str) -> int:
        """Enter an act in the ledger; the number of its line. A secret in the reason is masked as everywhere."""
        redactor = Redactor(Policy.default(), key=self.opened.fingerprint_key, known=known_from_environment(dict(os.environ)))
        with ledger.writing(self.opened, clock=self.clock, entropy=self.entropy, pause=time.sleep) as book:
            return book.append(entry, reason=redactor.text(reason))


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
    """Destroy the key of a session's content; the ledger's line. The lines of the session stay, and verify. Raises ``ConflictError``
    while the session is being recorded."""
    store = by.opened.store
    lock = store.lock(layout.lock(session_id))
    try:
        line = by.enter(events.LedgerEntry(action="shredded", subject=session_id, user=by.user, host=by.host), reason)
        opening.destroy_data_key(store, session_id, timestamp(by.clock.unix_ms()))
        return line
    finally:
        lock.release()


def _user() -> str:
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid {number}"

"""What is entered in the ledger of a session's life: that it was opened, how far it was sealed, who read its content.

A recorder must not stop an agent because of the ledger, nor a reader one who may read. So where an entry cannot be made (another writer
holds the ledger, the store is away or takes nothing, the ledger was tampered with, the key cannot seal) the work goes on and says so:
the session's first line, in ``ledger.missing``, and a reader on standard error. What was missing at the start is entered at the end, if
it can be by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tachograph.core.errors import ConflictError, KeyUnavailableError, NotFoundError, StoreError, TachographError, TamperedError
from tachograph.core.ports import Clock, Entropy
from tachograph.log import ledger
from tachograph.log.ledger import Ledger
from tachograph.log.opening import OpenStore

from . import custody

#: Seconds between two ``sealed`` entries of a session that goes on.
EVERY = 600.0


class Entering:
    """The entries of one session."""

    def __init__(
        self, opened: OpenStore, session_id: str, *, clock: Clock, entropy: Entropy, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._session_id = session_id
        self._by = custody.keeper(opened, clock=clock, entropy=entropy)
        self._pause = pause
        self._due = True
        self._latest = clock.monotonic()

    def begin(self, links: Sequence[str] = ()) -> dict[str, Any]:
        """Enter that the session was opened, before its first line and after its folder was made, and what it is linked to (``KIND=REF``).
        What ``session_start`` says of it."""
        try:
            with self._ledger(ledger.WAIT) as book:
                book.append(self._by.entry("opened", self._session_id))
                self._due = False
                pin = {"size": book.size, "root": book.root.hex()}
                for link in links:
                    kind, _, ref = link.partition("=")
                    book.append(self._by.entry("linked", self._session_id, detail={"kind": kind, "ref": ref}))
                return pin
        except (TachographError, OSError) as error:
            return {"missing": _why(error)}

    def is_time(self) -> bool:
        """Whether a session that goes on should enter how far it is sealed."""
        return self._by.clock.monotonic() - self._latest >= EVERY

    def sealed(self, size: int, root: bytes, *, ended: bool, wait: float = ledger.WAIT) -> bool:
        """Enter that the session was sealed. Whether that could be done."""
        self._latest = self._by.clock.monotonic()
        try:
            with self._ledger(wait) as book:
                self._enter_late(book)
                detail = {"size": size, "root": root.hex(), "ended": ended}
                book.append(self._by.entry("sealed", self._session_id, detail=detail))
            return True
        except (TachographError, OSError):
            return False  # the session is whole and sealed in itself, and its first line says whether the ledger knows of it

    def sealed_after_loss(self, size: int, root: bytes) -> bool:
        """As ``sealed``, of a session whose writer died and which this process ended: what that one had entered is looked up."""
        try:
            with self._ledger(ledger.WAIT) as book:
                self._due = book.book().opened(self._session_id) is None
        except (TachographError, OSError):
            return False
        return self.sealed(size, root, ended=True)

    def _enter_late(self, book: Ledger) -> None:
        if self._due:
            book.append(self._by.entry("opened", self._session_id, detail={"late": True}))
            self._due = False

    def _ledger(self, wait: float) -> AbstractContextManager[Ledger]:
        return ledger.writing(self._by.opened, clock=self._by.clock, entropy=self._by.entropy, pause=self._pause, wait=wait)


def enter_read(
    opened: OpenStore, subjects: list[str | None], verb: str, *, clock: Clock, entropy: Entropy, pause: Callable[[float], None] = time.sleep
) -> str | None:
    """Enter that somebody is about to read the content of these sessions (None: of all). Why that could not be done, in one line."""
    by = custody.keeper(opened, clock=clock, entropy=entropy)
    try:
        with ledger.writing(opened, clock=clock, entropy=entropy, pause=pause) as book:
            for subject in subjects:
                book.append(by.entry("read", subject, detail={"verb": verb}))
    except (TachographError, OSError) as error:
        what = str(error) if isinstance(error, TachographError) else str(error.strerror or error)
        return f"this reading is not entered in the ledger: {what}"
    return None


def _why(error: Exception) -> str:
    if isinstance(error, ConflictError):
        return "locked"
    if isinstance(error, TamperedError):
        return "tampered"
    if isinstance(error, (KeyUnavailableError, NotFoundError)):
        return "key"
    return "store" if isinstance(error, (StoreError, OSError)) else "damaged"

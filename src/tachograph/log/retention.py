"""How long a session is kept, as a state machine over the ledger: pure, so that a test can drive it through every order of events.

    open → sealed → expired → due → deleted          and beside it: held, by a set of matters

* ``open``     its end is not in the ledger, and somebody is writing it (or may be: see ``Custody.state``).
* ``sealed``   it has ended, and must still be kept.
* ``expired``  its time is over; a grace runs in which a hold can still catch it. A release begins the grace anew: what was held for years
               must not be gone in the minute in which the last hold is lifted.
* ``due``      the grace is over, too: ``tacho retain`` deletes it.
* ``deleted``  the ledger has its tombstone. It comes before the files go, so some may still be there.

A session is kept for as long as the longest of: the store's retention when it was opened, and what was chosen for the session itself since. Where
neither was ever chosen it is kept for ever. A hold beats all of this, and shredding, too.

Every decision is taken under the ledger's lock on what the ledger says then; whoever comes second sees what the first one did.
"""

from __future__ import annotations

import datetime
import enum
import re
from dataclasses import dataclass

from tachograph.core.errors import ConflictError, UsageError

from .book import Book
from .reader import Entry

DAY = 86_400_000
#: Days of grace between expiry (or release) and deletion, where nothing else is said.
GRACE = 7
#: What teams choose from: a month, a quarter, and the six months that the EU AI Act's articles 19 and 26(6) ask for at least.
PROFILES = (30, 90, 183)
_DAYS = re.compile(r"([1-9][0-9]{0,4})d?\Z")
_MATTER = re.compile(r"[!-~](?:[ -~]{0,98}[!-~])?\Z")


class State(enum.StrEnum):
    """See the module's docstring."""

    OPEN = "open"
    SEALED = "sealed"
    EXPIRED = "expired"
    DUE = "due"
    DELETED = "deleted"


@dataclass(frozen=True)
class Custody:
    """What the ledger says of one session. ``touched``: the time of the newest entry about its recording, milliseconds since 1970 UTC;
    ``days``: how long it must be kept from then on, None for ever; ``released``: when the last hold was lifted."""

    session_id: str
    opened: int | None = None
    touched: int | None = None
    ended: bool = False
    days: int | None = None
    matters: tuple[str, ...] = ()
    released: int | None = None
    shredded: bool = False
    deleted: int | None = None

    @property
    def held(self) -> bool:
        return bool(self.matters)

    def expires(self) -> int | None:
        """When it need not be kept any more; None: never."""
        return None if self.days is None or self.touched is None else self.touched + self.days * DAY

    def due(self, grace: int = GRACE) -> int | None:
        """When it may be deleted, holds aside; None: never. ``grace``: days."""
        expires = self.expires()
        return None if expires is None else max(expires, self.released or 0) + grace * DAY

    def state(self, now: int, *, grace: int = GRACE, live: bool = False) -> State:
        """``live``: somebody holds its lock on this machine. A session without an end that nobody is known to write is one that a crash
        cut: its time runs from the last thing that the ledger has heard of it."""
        if self.deleted is not None:
            return State.DELETED
        if live:
            return State.OPEN
        expires, due = self.expires(), self.due(grace)
        if expires is not None and due is not None and now >= expires:
            return State.DUE if now >= due else State.EXPIRED
        return State.SEALED if self.ended else State.OPEN


def custody_of(book: Book, session_id: str) -> Custody:
    """What the ledger says of a session; of one that it does not know, nothing, and that is kept for ever."""
    opened, heard = book.opened(session_id), book.about(session_id, "opened", "sealed")
    released, stone = book.latest(session_id, "released"), book.tombstone(session_id)
    return Custody(
        session_id, opened=_at(opened), touched=_at(heard[-1] if heard else None), ended=any(ended for _, _, ended in book.sealed(session_id)[-1:]),
        days=book.retention(session_id), matters=tuple(sorted(book.holds(session_id))), released=_at(released),
        shredded=book.shredded(session_id) is not None, deleted=_at(stone),
    )  # fmt: skip


def _at(entry: Entry | None) -> int | None:
    return None if entry is None else unix_ms(entry.ts)


# -- what may be done, each raising with the reason why not ------------------------------------------------------------------------


def may_hold(custody: Custody) -> None:
    """Raises ``ConflictError``: nothing is left that could be held. (What was shredded still can: its lines are evidence.)"""
    _there(custody)


def _there(custody: Custody) -> None:
    if custody.deleted is not None:
        raise ConflictError(f"{custody.session_id} was deleted already; tacho cat ledger says by whom")


def may_release(custody: Custody, matter: str) -> None:
    """Raises ``ConflictError``: there is no such hold."""
    if matter not in custody.matters:
        others = f"it is held for {', '.join(custody.matters)}" if custody.matters else "nothing holds it"
        raise ConflictError(f"{custody.session_id} is not held for {matter}; {others}")


def may_destroy(custody: Custody) -> None:
    """Raises ``ConflictError`` while something holds the session."""
    if custody.held:
        raise ConflictError(
            f"{custody.session_id} is held for {', '.join(custody.matters)} and must stay as it is; "
            "tacho hold remove releases it, if that is decided"
        )


def may_delete(custody: Custody, now: int, *, grace: int = GRACE, live: bool = False) -> None:
    """Raises ``ConflictError``: it is held, or its time has not come."""
    may_destroy(custody)
    state = custody.state(now, grace=grace, live=live)
    if state is not State.DUE:
        raise ConflictError(f"{custody.session_id} is {state}, not due; tacho retain --dry-run says when it will be")


def may_keep(custody: Custody, days: int) -> None:
    """Raises ``UsageError``: a session's retention only grows; ``ConflictError`` for one that was deleted."""
    _there(custody)
    if custody.days is not None and days < custody.days:
        raise UsageError(
            f"{custody.session_id} is kept for {custody.days} days, and a session's retention only grows; name {custody.days}d or more"
        )


# -- what people write ---------------------------------------------------------------------------------------------------------------


def days_of(text: str) -> int:
    """``183d`` or ``183``. Raises ``UsageError``."""
    match = _DAYS.match(text)
    if match is None:
        raise UsageError(f"not a number of days, {text[:40]!r}; write 30d, 90d, 183d, or another number up to 99999d")
    return int(match[1])


def matter_of(text: str) -> str:
    """The name of a matter: printable ASCII, at most 100 characters, as a case or an incident is numbered. Raises ``UsageError``."""
    if not _MATTER.match(text):
        raise UsageError(f"not the name of a matter, {text[:40]!r}; up to 100 printable characters, like INC-7")
    return text


def unix_ms(ts: str) -> int:
    """Milliseconds since 1970 of a line's time; 0 for what is none."""
    try:
        return round(datetime.datetime.fromisoformat(ts).timestamp() * 1000)
    except ValueError:
        return 0

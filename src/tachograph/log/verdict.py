"""The verdict on a session with all that the store knows of it: the log itself (``verify.py``), its key, and what the ledger says of
that key."""

from __future__ import annotations

from tachograph.core import events
from tachograph.core.errors import FormatError, KeyUnavailableError, NotFoundError, ShreddedError, TachographError
from tachograph.core.ports import Store
from tachograph.format import layout

from . import ledger, opening
from .opening import OpenStore
from .verify import Verification, verify


def verdict(store: Store, session_id: str, *, public: bytes | frozenset[bytes], opened: OpenStore | None) -> Verification:
    """Verify one session (or the ledger). ``public``: the key that seals must be signed with, or all that are trusted; ``opened``: the store with its keys, to
    check content, too. A content that was shredded on purpose, and so entered in the ledger, is no damage."""
    data_key = None
    lost = damaged = None
    if opened is not None:
        try:
            data_key = opened.data_key(session_id)
        except ShreddedError:
            pass  # told below, which needs no key
        except NotFoundError as error:
            lost = str(error)  # lost; the record can still be checked
        except (KeyUnavailableError, FormatError) as error:
            damaged = str(error)
    result = verify(store, session_id, public=public, data_key=data_key)
    if result.verdict == "missing":
        return result
    if lost is not None:
        result.content = f"not checked: {lost}"
    if damaged is not None:
        result.problem("keys", layout.keys(session_id), 0, damaged)
    if session_id != layout.LEDGER:
        _shredded(store, session_id, result)
    return result


def _shredded(store: Store, session_id: str, result: Verification) -> None:
    at = opening.shredded_at(store, session_id)
    try:
        entry = ledger.latest(store, "shredded", session_id)
    except TachographError as error:
        if at is not None:
            result.problem(
                "keys", layout.keys(session_id), 0, f"its key is gone, and the ledger that would say why cannot be read ({error})"
            )
        return
    if at is not None and entry is None:
        result.problem("keys", layout.keys(session_id), 0, "its key was destroyed, and the ledger does not know of it")
    elif at is not None and entry is not None:
        assert isinstance(entry.event, events.LedgerEntry)
        who = f"{entry.event.user or '?'} on {entry.event.host or '?'}".encode("unicode_escape").decode("ascii")
        result.content = f"shredded {entry.ts} by {who} (line {entry.seq} of the ledger)"
    elif entry is not None and result.content == "opened":
        result.content = (
            f"opened, though the ledger says that it was shredded (line {entry.seq}): a copy of its key came back; shred it again"
        )

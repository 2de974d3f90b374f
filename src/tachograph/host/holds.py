"""Legal holds: everything of a session stays as it is, for each matter that asks for it, until that matter lets it go.

The ledger is what counts: who holds, for which matter, since when and why; retention and shredding ask it. A store with locks of its own (S3)
is told, too, so that it refuses whoever goes past us.
"""

from __future__ import annotations

from dataclasses import dataclass

from tachograph.core.errors import StoreError, UsageError
from tachograph.format import layout
from tachograph.log import retention

from .custody import Keeper


@dataclass(frozen=True)
class Done:
    """``line``: of the ledger, None where it said so already; ``objects``: versions of objects whose hold changed; ``unlocked``: why the store
    itself does not keep them, None where it does."""

    line: int | None
    objects: int
    unlocked: str | None


def hold(by: Keeper, session_id: str, matter: str, reason: str) -> Done:
    """Hold a session for a matter. Once more for the same matter: what has come since is held by the store, too. Raises ``ConflictError`` for
    one that was deleted, ``UsageError`` for a matter whose name looks like a secret: it stands in the clear."""
    if by.masked(matter) != matter:
        raise UsageError("the matter holds what looks like a secret, and would stand in the clear; name it otherwise")
    line = None
    if matter not in by.custody(session_id).matters:
        entry = by.entry("held", session_id, detail={"matter": matter})
        line = by.enter(entry, reason, check=lambda book: retention.may_hold(retention.custody_of(book, session_id)))
    objects, unlocked = apply(by, session_id, True)
    return Done(line, objects, unlocked)


def release(by: Keeper, session_id: str, matter: str, reason: str) -> Done:
    """Release a session from a matter. Others go on holding it. Raises ``ConflictError`` where there is no such hold."""
    entry = by.entry("released", session_id, detail={"matter": matter})
    line = by.enter(entry, reason, check=lambda book: retention.may_release(retention.custody_of(book, session_id), matter))
    if by.custody(session_id).held:
        return Done(line, 0, None)
    objects, unlocked = apply(by, session_id, False)
    if by.custody(session_id).held:
        apply(by, session_id, True)  # somebody else has held it meanwhile
    return Done(line, objects, unlocked)


def apply(by: Keeper, session_id: str, on: bool) -> tuple[int, str | None]:
    """Make the store's own locks as the ledger says: (how many versions changed, why the store does not keep them)."""
    store = by.opened.store
    if store.locks is None:
        return 0, "the folder does not keep anybody from deleting; the ledger shows it"
    changed = 0
    try:
        for name in objects(by, session_id):
            changed += store.locks.hold(name, on)
    except StoreError as error:
        return changed, str(error)
    return changed, None


def objects(by: Keeper, session_id: str) -> list[str]:
    """The names of everything of a session: what is destroyed first comes first (its key, its originals, content before lines)."""
    store, folder = by.opened.store, layout.session(session_id)
    single = [name for name in (layout.keys(session_id), layout.vault(session_id)) if store.exists(name)]
    lock = layout.lock(session_id)
    return [*single, *sorted((name for name in store.names(folder) if name != lock), key=_last_lines)]


def _last_lines(name: str) -> tuple[bool, str]:
    return name.endswith(".events.jsonl"), name

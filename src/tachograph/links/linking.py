"""Links are entries of the ledger: made, and taken back by a further entry. Nothing that a link says is in the session itself, except those
that were given when it was recorded; so a session can be linked for as long as there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tachograph.core.errors import ConflictError, UsageError
from tachograph.host.custody import Keeper
from tachograph.log.book import Book, entry_of
from tachograph.log.reader import Entry

from .refs import Ref, matches


@dataclass(frozen=True)
class Link:
    """A link that is in force, and the entry that made it."""

    session_id: str
    ref: Ref
    entry: Entry


def links(book: Book, session_id: str | None = None) -> list[Link]:
    """The links in force, oldest first; of one session or of all."""
    found: dict[tuple[str, Ref], Link] = {}
    for entry in book.entries:
        event = entry_of(entry)
        if event.action in ("linked", "unlinked") and event.subject is not None and session_id in (None, event.subject):
            ref = Ref(str(event.detail.get("kind")), str(event.detail.get("ref")))
            if event.action == "linked":
                found.setdefault((event.subject, ref), Link(event.subject, ref, entry))
            else:
                found.pop((event.subject, ref), None)
    return list(found.values())


def link(by: Keeper, session_id: str, refs: Iterable[Ref]) -> list[Ref]:
    """Link a session; those that were new. Raises ``UsageError`` for a reference with a secret in it, ``ConflictError`` for a session that was
    deleted."""
    wanted = list(dict.fromkeys(refs))
    for ref in wanted:
        if by.masked(ref.ref) != ref.ref:
            raise UsageError(f"the {ref.kind} holds what looks like a secret; write it without (a URL without its token)")
    there = {each.ref for each in links(by.book(), session_id)}
    new = [ref for ref in wanted if ref not in there]
    for ref in new:
        by.enter(by.entry("linked", session_id, detail={"kind": ref.kind, "ref": ref.ref}), None, check=_alive(session_id))
    return new


def unlink(by: Keeper, session_id: str, refs: Iterable[Ref], reason: str) -> None:
    """Take links back; that they were made stays in the ledger. Raises ``ConflictError`` for one that there is not."""
    there = {each.ref for each in links(by.book(), session_id)}
    wanted = list(dict.fromkeys(refs))
    if missing := [str(ref) for ref in wanted if ref not in there]:
        raise ConflictError(f"{session_id} has no link {', '.join(missing)}; tacho links {session_id} shows which it has")
    for ref in wanted:
        by.enter(by.entry("unlinked", session_id, detail={"kind": ref.kind, "ref": ref.ref}), reason)


def meant(book: Book, asked: str) -> list[Link]:
    """The links that somebody who asks for a commit, a pull request, a deploy, an incident or a build means."""
    return [each for each in links(book) if matches(each.ref, asked)]


def _alive(session_id: str) -> Callable[[Book], None]:
    def check(book: Book) -> None:
        if book.tombstone(session_id) is not None:
            raise ConflictError(f"{session_id} was deleted already; tacho cat ledger says by whom")

    return check

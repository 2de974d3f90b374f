"""The verdict on a session with all that the store knows of it: the log itself (``verify/``), its key, and the ledger.

The ledger says of each session that it was opened, and how long it was and with which root when it was sealed; the session's first line
says how long the ledger was then, and with which root. So neither can be cut, replaced or dropped without the other. Who holds the
signing key can rewrite both; then a seal that was kept outside (an ``Anchor`` from elsewhere) tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from tachograph.core.errors import FormatError, KeyUnavailableError, NotFoundError, ShreddedError, StoreError
from tachograph.core.ports import Store
from tachograph.format import layout
from tachograph.log.heap import unswept

from . import book as books
from . import opening
from .ahead import Ahead
from .book import Book, entry_of, said_by
from .opening import OpenStore
from .reader import session_ids
from .verify import Anchor, Verification, verify

#: Times that the ledger is looked at, where somebody may be writing at this moment: he has not sealed yet.
_LOOKS = 3


def verdict(
    store: Store, session_id: str, *, public: bytes | frozenset[bytes], opened: OpenStore | None, anchors: Iterable[Anchor] = ()
) -> Verification:
    """Verify one session (or the ledger). ``public``: the key that seals must be signed with, or all that are trusted; ``opened``: the
    store with its keys, to check content, too; ``anchors``: seals that were kept outside. A content that was shredded on purpose, and so
    entered in the ledger, is no damage. For many sessions, a ``Judge`` reads the ledger once."""
    return Judge(store, public=public, opened=opened).judge(session_id, anchors)


class Judge:
    """Verifies the logs of one store."""

    def __init__(self, store: Store, *, public: bytes | frozenset[bytes], opened: OpenStore | None, plain: Judge | None = None) -> None:
        """``plain``: who judges again what is not good in ``store``, where that is not the store itself but what ``Ahead`` shows of it."""
        self._plain = plain
        self._store = store
        self._public = public
        self._opened = opened
        self._found: tuple[Book, str | None] | None = None

    def _read(self) -> tuple[Book, str | None]:
        """The ledger as it is now, and why it is not to be believed."""
        book = books.read(self._store, strict=False)
        self._found = book, book.unsealed_by(self._public)
        book.believe(self._public)
        return self._found

    @property
    def _book(self) -> Book:
        return (self._found or self._read())[0]

    @property
    def _unsealed(self) -> str | None:
        return (self._found or self._read())[1]

    def judge(self, session_id: str, anchors: Iterable[Anchor] = ()) -> Verification:
        """One session, or the ledger by itself."""
        anchors = tuple(anchors)
        return self._ledger(anchors) if session_id == layout.LEDGER else self._session(session_id, anchors)

    def everything(self, anchors: dict[str, Sequence[Anchor]] | None = None) -> tuple[list[Verification], Verification | None]:
        """(all sessions, those that were dropped included; the ledger, None where there never was one). ``anchors``: by log."""
        anchors = anchors or {}
        if self._store.segments is None:
            return self._all(anchors)
        with Ahead(self._store) as far:
            opened = replace(self._opened, store=far, with_ring=self._opened.ring) if self._opened is not None else None
            return Judge(far, public=self._public, opened=opened, plain=self)._all(anchors)

    def _all(self, anchors: dict[str, Sequence[Anchor]]) -> tuple[list[Verification], Verification | None]:
        names = session_ids(self._store)
        self._read()  # after the listing, so that it knows of all sessions that are in the list and have a line
        results = [self._session(name, tuple(anchors.get(name, ()))) for name in names]
        if self._plain is not None and not all(result.good for result in results):
            # Of what was listed some may have grown since, as the ledger tells that was read later.
            self._plain._read()
            results = [
                result if result.good else self._plain._session(result.session_id, tuple(anchors.get(result.session_id, ())))
                for result in results
            ]
        lost = {*self._book.sessions(), *(name for name in anchors if name != layout.LEDGER)} - set(names)
        results += [self._gone(name) for name in sorted(lost) if self._book.tombstone(name) is None]
        pins = {result.session_id: _pin(result) for result in results if _pin(result).get("size")}
        if not pins and not self._book.size and layout.LEDGER not in anchors:
            return results, None
        found = self._ledger(tuple(anchors.get(layout.LEDGER, ())))
        if not found.good and self._plain is not None:
            found = self._plain._ledger(tuple(anchors.get(layout.LEDGER, ())))
        other = [name for name, pin in pins.items() if not self._book.pins(pin.get("size"), pin.get("root"))]
        if other:
            what = f"the first lines of {len(other)} of {len(pins)} sessions name a ledger that this is not (one is {other[0]})"
            found.problem("ledger", layout.session(layout.LEDGER), 0, f"{what}: it was cut, forked or rewritten", "tampered")
        return results, found

    # -- one log -----------------------------------------------------------------------------------------------------------

    def _ledger(self, anchors: Sequence[Anchor]) -> Verification:
        result = self._checked(layout.LEDGER, anchors)
        for _ in range(_LOOKS - 1):
            if result.verdict not in ("unsealed", "torn") or result.good:
                break
            result = self._checked(layout.LEDGER, anchors)
        return result

    def _session(self, session_id: str, anchors: Sequence[Anchor]) -> Verification:
        result = self._checked(session_id, (*self._sealed(session_id), *anchors))
        if result.events and self._book.opened(session_id) is None:
            self._read()  # it may have been opened after the ledger was read
            result = self._checked(session_id, (*self._sealed(session_id), *anchors))
        if result.verdict == "missing" or self._book.tombstone(session_id) is not None:
            return self._gone(session_id)
        self._shredded(session_id, result)
        if result.events and result.first.get("type") == "session_start":
            self._entered(session_id, result)
        return result

    def _sealed(self, session_id: str) -> list[Anchor]:
        return [Anchor(size, root, "the ledger") for size, root, _ in self._book.sealed(session_id)]

    @unswept
    def _checked(self, session_id: str, anchors: Iterable[Anchor]) -> Verification:
        """The log in itself, and its key."""
        data_key = None
        lost = damaged = None
        if self._opened is not None:
            try:
                data_key = self._opened.data_key(session_id)
            except ShreddedError:
                pass  # told by the ledger, which needs no key
            except NotFoundError as error:
                lost = str(error)  # lost; the record can still be checked
            except (KeyUnavailableError, FormatError, StoreError) as error:
                damaged = str(error)
        result = verify(self._store, session_id, public=self._public, data_key=data_key, anchors=anchors)
        if result.verdict != "missing":
            if lost is not None:
                result.content = f"not checked: {lost}"
            if damaged is not None:
                result.problem("keys", layout.keys(session_id), 0, damaged)
        return result

    def _gone(self, session_id: str) -> Verification:
        result = Verification(session_id)
        begun, deleted, sealed = self._book.opened(session_id), self._book.tombstone(session_id), self._book.sealed(session_id)
        if deleted is not None:
            rest = any(self._store.names(layout.session(session_id)))
            what = f"no such session any more: deleted {said_by(deleted)}" + (
                "; some of it is left, tacho retain finishes that" if rest else ""
            )
        elif begun is not None:
            what = f"the session is gone: opened {said_by(begun)}, " + (f"{sealed[-1][0]} lines sealed" if sealed else "never sealed")
            what += "; it was dropped, or it waits on the machine that recorded it" if self._store.segments else "; it was dropped"
        else:
            what = "no such session, or all of its files are gone"
        result.problem("segments", layout.session(session_id), 0, what, "missing")
        return result

    # -- what the ledger says ------------------------------------------------------------------------------------------------

    def _entered(self, session_id: str, result: Verification) -> None:
        """The session's first line and the ledger speak of each other."""

        def problem(what: str, verdict: str = "tampered") -> None:
            result.problem("ledger", layout.session(layout.LEDGER), 0, what, verdict)

        pin, begun = _pin(result), self._book.about(session_id, "opened")
        if self._unsealed is not None:
            problem(f"the ledger is not to be believed: {self._unsealed}")
            return
        if not self._book.size and pin.get("size"):
            problem(f"its first line names a ledger of {str(pin['size'])[:20]} lines, and there is none: it was removed")
            return
        if not begun:
            if pin.get("size") or not isinstance(pin.get("missing"), str):
                problem("the ledger does not know of it: the ledger was cut, or the session was put here by somebody else")
            else:
                why = pin["missing"][:20].encode("unicode_escape").decode("ascii")
                problem(f"it could not be entered in the ledger ({why}): only a seal that was kept outside vouches for it", "unsealed")
            return
        on_time = [entry for entry in begun if entry_of(entry).detail.get("late") is not True]
        if len(on_time) > 1:
            problem(f"it was opened {len(on_time)} times")
        if pin.get("size") and not self._book.pins(pin["size"], pin.get("root")):
            problem(f"its first line names the ledger at {str(pin['size'])[:20]} lines with another root: the ledger was cut or rewritten")
        elif pin.get("size") and pin["size"] != begun[0].seq:
            problem("its first line names another place in the ledger than that where it was opened")

    def _shredded(self, session_id: str, result: Verification) -> None:
        at = opening.shredded_at(self._store, session_id)
        entry = self._book.shredded(session_id)
        if at is not None and entry is None:
            why = "the ledger does not know of it" if self._book.broken is None else f"the ledger cannot be read ({self._book.broken})"
            result.problem("keys", layout.keys(session_id), 0, f"its key was destroyed, and {why}")
        elif at is not None and entry is not None:
            result.content = f"shredded {said_by(entry)}"
        elif entry is not None and result.content == "opened":
            result.content = (
                f"opened, though the ledger says that it was shredded (line {entry.seq}): a copy of its key came back; shred it again"
            )


def _pin(result: Verification) -> dict[str, Any]:
    """What the session's first line says of the ledger."""
    said = result.first.get("ledger")
    return said if isinstance(said, dict) else {}

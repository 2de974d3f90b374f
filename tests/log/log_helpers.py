"""A small store with one session in it, for the tests of the log."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.crypto import keys
from tachograph.log import ledger, opening
from tachograph.log.opening import OpenStore
from tachograph.log.verify import Verification, verify
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalStore

SESSION = "ses_01K0000000000000000000000A"


class Clock:
    """Ticks a millisecond a look."""

    def __init__(self) -> None:
        self._count = itertools.count(1_790_000_000_000)

    def unix_ms(self) -> int:
        return next(self._count)

    def monotonic(self) -> float:
        return next(self._count) / 1000


class Entropy:
    """Repeatable bytes, never the same twice."""

    def __init__(self) -> None:
        self._count = itertools.count()

    def __call__(self, size: int, /) -> bytes:
        import hashlib

        return hashlib.shake_256(next(self._count).to_bytes(8, "big")).digest(size)


def new_store(folder: Path) -> OpenStore:
    entropy = Entropy()
    key = keys.generate(entropy)
    store = LocalStore(str(folder))
    opening.create(store, key, entropy)
    return opening.open_store(store, key)


def new_writer(opened: OpenStore, session_id: str = SESSION) -> SessionWriter:
    entropy = Entropy()
    return SessionWriter(opened, session_id, opened.new_data_key(session_id, entropy), clock=Clock(), entropy=entropy)


def draft(number: int, text: str = "x") -> Draft:
    content = {"text": text * 300, "number": number}
    return Draft(event=events.Note(subtype="note"), contents={"text_uri": content})


def enter(opened: OpenStore, action: str, session_id: str = SESSION, **detail: Any) -> dict[str, Any]:
    """An entry in the ledger; the ledger's length and root behind it."""
    with ledger.writing(opened, clock=Clock(), entropy=Entropy(), pause=time.sleep) as book:
        book.append(events.LedgerEntry(action=action, subject=session_id, user="ada", host="here", detail=detail))
        return {"size": book.size, "root": book.root.hex()}


def write_session(opened: OpenStore, lines: int = 6, *, end: bool = True, session_id: str = SESSION, entered: bool = False) -> None:
    """``entered``: as a recorder does, in the ledger, too."""
    writer = new_writer(opened, session_id)
    pin = enter(opened, "opened", session_id) if entered else {}
    writer.append(Draft(event=events.SessionStart(name="test", ledger=pin), contents={"facts_uri": {"argv": ["a"]}}))
    for number in range(lines):
        writer.append(draft(number, chr(97 + number % 26)))
        if number == lines // 2:
            writer.seal()
    if end:
        writer.append(Draft(event=events.SessionEnd()))
        writer.seal()
        if entered:
            enter(opened, "sealed", session_id, size=writer.size, root=writer.root.hex(), ended=True)
    else:
        writer.commit()
    writer.close()


def check(opened: OpenStore, session_id: str = SESSION, **more: Any) -> Verification:
    return verify(opened.store, session_id, public=opened.key.public(), data_key=opened.data_key(session_id), **more)

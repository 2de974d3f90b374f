"""A small store with one session in it, for the tests of the log."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.crypto import keys
from tachograph.log import opening
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


def write_session(opened: OpenStore, lines: int = 6, *, end: bool = True, session_id: str = SESSION) -> None:
    writer = new_writer(opened, session_id)
    writer.append(Draft(event=events.SessionStart(name="test"), contents={"facts_uri": {"argv": ["a"]}}))
    for number in range(lines):
        writer.append(draft(number, chr(97 + number % 26)))
        if number == lines // 2:
            writer.seal()
    if end:
        writer.append(Draft(event=events.SessionEnd()))
        writer.seal()
    else:
        writer.commit()
    writer.close()


def check(opened: OpenStore, session_id: str = SESSION, **more: Any) -> Verification:
    return verify(opened.store, session_id, public=opened.key.public(), data_key=opened.data_key(session_id), **more)

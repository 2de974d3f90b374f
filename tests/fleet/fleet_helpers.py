"""Stores with sessions in them, by the real writer, and what a catalogue says of them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tachograph.core import events, ids
from tachograph.core.drafts import Draft
from tachograph.core.errors import StoreError
from tachograph.crypto import keys
from tachograph.fleet.catalogue import Catalogue
from tachograph.fleet.columns import TABLES
from tachograph.fleet.query import Query, on_this_machine
from tachograph.log import ledger, opening
from tachograph.log.opening import OpenStore
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalStore

DAY = 86_400_000
START = 1_790_000_000_000


class Clock:
    """Ticks a millisecond a look."""

    def __init__(self, start: int = START) -> None:
        self._count = itertools.count(start)

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


class Fleet:
    """A store, and its catalogue."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.entropy = Clock(), Entropy()
        key = keys.generate(self.entropy)
        self.store = LocalStore(str(folder))
        opening.create(self.store, key, self.entropy)
        self.opened: OpenStore = opening.open_store(self.store, key)
        self.catalogue = Catalogue(self.opened, clock=self.clock)

    def writer(self, day: int = 0) -> SessionWriter:
        """Of a new session, begun so many days after the start."""
        session_id = ids.session_id(START + day * DAY + next(self._numbers), self.entropy(10))
        return SessionWriter(
            self.opened,
            session_id,
            self.opened.new_data_key(session_id, self.entropy),
            clock=Clock(START + day * DAY),
            entropy=self.entropy,
        )

    _numbers = itertools.count(1)

    def session(
        self,
        drafts: Iterable[Draft] = (),
        *,
        day: int = 0,
        end: bool = True,
        entered: bool = False,
        start: events.SessionStart | None = None,
    ) -> str:
        """A session of these."""
        writer = self.writer(day)
        if entered:
            self.enter("opened", writer.session_id)
        writer.append(Draft(event=start or events.SessionStart(name="task", recorder="test"), contents={"facts_uri": {"argv": ["a"]}}))
        for draft in drafts:
            writer.append(draft)
        if end:
            writer.append(Draft(event=events.SessionEnd(exit_code=0, duration_ms=5.0, calls={"model": 1})))
        writer.seal()
        writer.close()
        return writer.session_id

    def enter(self, action: str, subject: str | None, **detail: Any) -> None:
        with ledger.writing(self.opened, clock=self.clock, entropy=self.entropy, pause=time.sleep) as book:
            book.append(events.LedgerEntry(action=action, subject=subject, user="ada", host="here", detail=detail))

    def remove(self, session_id: str) -> None:
        """As retention does, without its decisions."""
        self.enter("deleted", session_id)
        for name in list(self.store.names(f"sessions/{session_id}/")):
            self.store.remove(name)
        self.store.remove(f"sessions/{session_id}/")

    def update(self, **more: Any) -> Any:
        with self.catalogue.held(0):
            return self.catalogue.update(**more)

    def ask(self, sql: str, parameters: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
        query = Query(self.catalogue, on_this_machine(self.catalogue, "/nowhere"))
        try:
            return query.ask(sql, parameters).rows
        finally:
            query.close()

    def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """All rows of all tables, in an order of their own."""
        return {name: sorted(self.ask(f"FROM {name}"), key=repr) for name in TABLES}


def call(model: str = "m-1", **fields: Any) -> Draft:
    """A model call with something in and out."""
    contents = fields.pop("contents", {"prompt_redacted_uri": {"say": model}, "output_uri": {"said": model}})
    usage = fields.pop("usage", {"input_tokens": 10, "output_tokens": 2})
    return Draft(
        event=events.ModelCall(provider="anthropic", operation="messages", model_id=model, usage=usage, **fields), contents=contents
    )


def tool(name: str = "read", output: Any = "x", **fields: Any) -> Draft:
    return Draft(event=events.ToolCall(name=name, **fields), contents={"input_uri": {"of": name}, "output_uri": output})


class Failing(LocalStore):
    """Fails at the n-th change of the catalogue, and ever after: the process that made it is dead."""

    def __init__(self, root: str, at: int) -> None:
        super().__init__(root)
        self._left = at

    def _step(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise StoreError("the device is gone; nothing to do")

    def replace(self, name: str, data: bytes) -> None:
        self._step()
        super().replace(name, data)

    def remove(self, name: str) -> None:
        self._step()
        super().remove(name)

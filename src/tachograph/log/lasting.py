"""A writer that outlives its device's failures.

``SessionWriter`` is broken by the first write or sync that fails. This one keeps every draft until it is committed, and after a failure
goes on in memory and tries, now and then, to begin a new segment from the last commit: with all that was not committed, in order, as if
nothing had been. What it keeps is bounded. Beyond that it counts what it drops, and the log says how much and where.

Whoever drives it hears of each failure by ``StoreError``, also of each call that would have made something durable and could not, and
decides what that means for the one who is recorded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import msgspec.structs

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import FormatError, StoreError
from tachograph.core.ports import Clock, Entropy, Lock
from tachograph.format import torn

from . import recover
from .opening import OpenStore
from .writer import Companion, Mark, SessionWriter

#: What is kept in memory while nothing can be written, about, in bytes.
ROOM = 64 << 20
#: Seconds between tries to begin a new segment: doubled from the first to the last.
BACK_OFF = (0.25, 30.0)


class LastingWriter:
    """Has the interface of ``SessionWriter``, and its contract. ``dropped``: events for which there was no room, of all failures."""

    def __init__(
        self, writer: SessionWriter, opened: OpenStore, data_key: bytes, *, clock: Clock, entropy: Entropy, room: int = ROOM
    ) -> None:
        self._writer = writer
        self._opened = opened
        self._data_key = data_key
        self._clock = clock
        self._entropy = entropy
        self._room = room
        self._uncommitted: list[tuple[int, Draft]] = []  # with the line's number
        self._kept = 0
        self._dropped = 0
        self.dropped = 0
        self._last_words: Draft | None = None
        self._failure: str | None = None
        self._mark: Mark = writer.mark
        self._lock: Lock | None = None
        self._companion: Companion | None = None
        self._lost_companion = False
        self._pause = BACK_OFF[0]
        self._next = 0.0

    # -- as a writer -------------------------------------------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        return self._writer.session_id

    @property
    def size(self) -> int:
        """Lines so far; while nothing can be written, lines that are on the device."""
        return self._writer.size if self._failure is None else self._mark.size

    @property
    def root(self) -> bytes:
        """The Merkle root over all lines so far."""
        return self._writer.root

    @property
    def unsealed(self) -> int:
        return self._writer.unsealed if self._failure is None else 0

    @property
    def full(self) -> bool:
        return self._failure is None and self._writer.full

    def new_id(self) -> str:
        return self._writer.new_id()

    def append(self, draft: Draft) -> events.Event:
        """As ``SessionWriter.append``; while nothing can be written, the event has its id but not yet the names of its contents."""
        draft = _timed(draft, self._clock)
        if self._failure is None:
            event = self._writer.append(draft)
            self._uncommitted.append((self._writer.size, _with(draft, event)))
            return event
        draft = _with(draft, draft.event if draft.event.id else msgspec.structs.replace(draft.event, id=self._writer.new_id()))
        if isinstance(draft.event, events.SessionEnd):
            self._last_words = draft
        elif self._dropped or self._kept > self._room:
            self._dropped += 1
            self.dropped += 1  # from here on; the count needs one place
        else:
            self._kept += _weight(draft.contents) + _weight(draft.event.extra) + 1000
            self._uncommitted.append((0, draft))
        return draft.event

    def flush(self) -> None:
        self._do(self._writer.flush)

    def commit(self) -> None:
        self._do(self._writer.commit)

    def seal(self) -> str | None:
        signed: str | None = None

        def seal() -> None:
            nonlocal signed
            signed = self._writer.seal()

        self._do(seal)
        return signed

    def roll(self) -> None:
        self._do(self._writer.roll)

    def close(self) -> None:
        """Give the session free. What could not be written is lost."""
        if self._failure is None:
            self._writer.close()
        elif self._lock is not None:
            self._lock.release()

    def let_go(self) -> None:
        self._writer.let_go()

    # -- after a failure ---------------------------------------------------------------------------------------------------

    @property
    def failure(self) -> str | None:
        """Why nothing can be written at the moment; None where all is well."""
        return self._failure

    @property
    def waits(self) -> float:
        """Seconds until it tries again by itself, at the next ``commit``."""
        return max(0.0, self._next - self._clock.monotonic())

    @property
    def mark(self) -> Mark:
        """How far the log is on the device."""
        return self._writer.mark if self._failure is None else self._mark

    def again(self) -> None:
        """Begin a new segment now. Raises ``StoreError`` where that fails, too."""
        if self._failure is None:
            return
        assert self._lock is not None
        writer: SessionWriter | None = None
        try:
            writer = recover.restart(
                self._opened, self.session_id, self._data_key, self._mark, clock=self._clock, entropy=self._entropy,
                lock=_Borrowed(self._lock), companion=self._companion, reason=torn.WRITE_FAILED,
            )  # fmt: skip
            if self._lost_companion:
                writer.append(Draft(event=events.Gap(reason="vault_lost")))
            for _, draft in self._uncommitted:
                _give(writer, draft)
            if self._dropped:
                writer.append(Draft(event=events.Gap(reason="dropped", count=self._dropped)))
            if self._last_words is not None:
                writer.append(self._last_words)
            writer.commit()
        except StoreError as error:
            if writer is not None:
                writer.abandon()
            self._look_at_companion()
            self._later(str(error))
            raise
        self._writer, self._failure = writer, None
        self._uncommitted, self._kept, self._dropped, self._last_words, self._lost_companion = [], 0, 0, None, False
        self._pause = BACK_OFF[0]

    def _do(self, act: Callable[[], object]) -> None:
        if self._failure is not None:
            if self._clock.monotonic() < self._next:
                raise StoreError(self._failure)
            self.again()
            return
        try:
            act()
        except StoreError as error:
            if not self._writer.broken:
                raise
            self._fall(str(error))
            raise
        self._forget()

    def _forget(self) -> None:
        done = self._writer.mark.size
        if self._uncommitted and self._uncommitted[0][0] <= done:
            self._uncommitted = [each for each in self._uncommitted if each[0] > done]

    def _fall(self, why: str) -> None:
        self._forget()  # it may have been a seal that failed
        self._mark = self._writer.mark
        lock, self._companion = self._writer.abandon()
        if self._lock is None:
            self._lock = lock
        self._look_at_companion()
        self._kept = sum(_weight(draft.contents) + 1000 for _, draft in self._uncommitted)
        self._later(why)

    def _look_at_companion(self) -> None:
        if self._companion is not None and self._companion.failed:
            with contextlib.suppress(StoreError):
                self._companion.close()
            self._companion, self._lost_companion = None, True

    def _later(self, why: str) -> None:
        self._failure = why
        self._next = self._clock.monotonic() + self._pause
        self._pause = min(2 * self._pause, BACK_OFF[1])


class _Borrowed:
    """The lock, as one of several writers sees it that follow each other: who holds it outlives them."""

    def __init__(self, lock: Lock) -> None:
        self.lock = lock

    def release(self) -> None:
        return None


def _timed(draft: Draft, clock: Clock) -> Draft:
    """The draft with the time at which it came: it may be written twice."""
    return draft if draft.unix_ms is not None else Draft(event=draft.event, contents=draft.contents, unix_ms=clock.unix_ms())


def _with(draft: Draft, event: events.Event) -> Draft:
    return Draft(event=event, contents=draft.contents, unix_ms=draft.unix_ms)


def _give(writer: SessionWriter, draft: Draft) -> None:
    try:
        writer.append(draft)
    except (StoreError, FormatError):
        if writer.broken:
            raise
        # One that no line can hold, and that nobody could refuse when it came.
        writer.append(Draft(event=events.Gap(reason="dropped", count=1)))


def _weight(value: Any) -> int:
    """About how many bytes of memory a value takes."""
    if isinstance(value, (str, bytes, bytearray)):
        return 60 + len(value)
    if isinstance(value, dict):
        return 200 + sum(_weight(key) + _weight(each) for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return 60 + sum(map(_weight, value))
    return 30

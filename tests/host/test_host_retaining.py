"""Retention, holds, shredding and crashes in any order: nothing that is held is ever deleted or shredded, nothing goes before its time, and
whatever goes has its entry first. The model keeps its own, simpler account of who holds what since when."""

from __future__ import annotations

import hashlib
import itertools

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from fake_store import FakeStore
from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import ConflictError, StoreError, UsageError
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.host import custody, holds, retaining
from tachograph.host.custody import Keeper
from tachograph.log import opening, retention
from tachograph.log.retention import DAY, State
from tachograph.log.writer import SessionWriter

GRACE = 7
#: The clock ticks at each look.
SECOND = 1000
MATTERS = ("INC-7", "INC-8")


class Killed(BaseException):
    """The process is no more."""


class Dying(FakeStore):
    """Lives to see so many changes; then everything that was held by the dead process is free."""

    left: int | None = None

    def did(self, operation: str, name: str) -> None:
        if operation != "lock" and self.left is not None:
            if self.left == 0:
                self.left = None
                raise Killed
            self.left -= 1
        super().did(operation, name)


class Clock:
    """Stands still until it is turned on; each look is a millisecond, so that nothing happens at the same time."""

    def __init__(self) -> None:
        self.now = 1_790_000_000_000

    def unix_ms(self) -> int:
        self.now += 1
        return self.now

    def monotonic(self) -> float:
        return self.now / 1000


class Entropy:
    def __init__(self) -> None:
        self._count = itertools.count()

    def __call__(self, size: int, /) -> bytes:
        return hashlib.shake_256(next(self._count).to_bytes(8, "big")).digest(size)


def new_keeper(store: FakeStore) -> Keeper:
    entropy = Entropy()
    key = keys.generate(entropy)
    opening.create(store, key, entropy)
    return Keeper(opened=opening.open_store(store, key), clock=Clock(), entropy=entropy, user="ada", host="here")


def record(by: Keeper, number: int) -> str:
    """A session of one line, opened and sealed in the ledger."""
    session_id = f"ses_{number:026d}"
    by.enter(by.entry("opened", session_id), None)
    opened = by.opened
    writer = SessionWriter(opened, session_id, opened.new_data_key(session_id, by.entropy), clock=by.clock, entropy=by.entropy)
    writer.append(Draft(event=events.Note(subtype="x"), contents={"text_uri": f"content {number}"}))
    writer.seal()
    sealed = {"size": writer.size, "root": writer.root.hex(), "ended": True}
    writer.close()
    by.enter(by.entry("sealed", session_id, detail=sealed), None)
    return session_id


class Keeping(RuleBasedStateMachine):
    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.store = Dying()
        self.by = new_keeper(self.store)
        self.numbers = itertools.count(1)
        #: The model: when each session ended, was last released, and what holds it.
        self.ended: dict[str, int] = {}
        self.released: dict[str, int] = {}
        self.held: dict[str, set[str]] = {}
        self.shredded: set[str] = set()
        self.days: int | None = None
        self.days_of: dict[str, int | None] = {}

    @property
    def now(self) -> int:
        assert isinstance(self.by.clock, Clock)
        return self.by.clock.now

    @initialize(days=st.sampled_from((30, 90)))
    def first(self, days: int) -> None:
        self.choose(days)

    @rule(target=sessions)
    def record(self) -> str:
        session_id = record(self.by, next(self.numbers))
        self.days_of[session_id] = self.days
        self.held[session_id] = set()
        self.ended[session_id] = self.now
        return session_id

    @rule(days=st.sampled_from(retention.PROFILES))
    def choose(self, days: int) -> None:
        retaining.keep(self.by, None, days, "policy")
        self.days = days

    @rule(session_id=sessions, days=st.sampled_from(retention.PROFILES))
    def choose_for_one(self, session_id: str, days: int) -> None:
        try:
            retaining.keep(self.by, session_id, days, "longer")
        except UsageError:
            assert (self.days_of[session_id] or 0) > days
            return
        except ConflictError:
            assert not self._there(session_id)
            return
        self.days_of[session_id] = max(days, self.days_of[session_id] or 0)

    @rule(session_id=sessions, matter=st.sampled_from(MATTERS))
    def hold(self, session_id: str, matter: str) -> None:
        try:
            holds.hold(self.by, session_id, matter, "a case")
        except ConflictError:
            assert not self._there(session_id)
            return
        self.held[session_id].add(matter)

    @rule(session_id=sessions, matter=st.sampled_from(MATTERS))
    def release(self, session_id: str, matter: str) -> None:
        try:
            holds.release(self.by, session_id, matter, "closed")
        except ConflictError:
            assert matter not in self.held[session_id]
            return
        self.held[session_id].discard(matter)
        self.released[session_id] = self.now

    @rule(session_id=sessions)
    def shred(self, session_id: str) -> None:
        if not self._there(session_id) or session_id in self.shredded:
            return
        try:
            custody.shred(self.by, session_id, "they asked")
        except ConflictError:
            assert self.held[session_id]
            return
        assert not self.held[session_id]
        self.shredded.add(session_id)

    @rule(days=st.sampled_from((0, 6, 8, 31, 91, 184)))
    def retain(self, days: int) -> None:
        """After some days."""
        assert isinstance(self.by.clock, Clock)
        self.by.clock.now += days * DAY
        rows = retaining.run(self.by, grace=GRACE)
        assert all(row.done != "failed" for row in rows)
        for row in rows:
            if row.state is State.DUE and not row.matters:
                assert not self._there(row.session_id)

    @rule()
    def ask_first(self) -> None:
        before = {name: bytes(data) for name, data in self.store.objects.items()}
        retaining.run(self.by, grace=GRACE, dry=True)
        assert {name: bytes(data) for name, data in self.store.objects.items()} == before

    @rule(left=st.integers(0, 40), what=st.sampled_from(("retain", "shred", "hold")), session_id=sessions)
    def die(self, left: int, what: str, session_id: str) -> None:
        """Killed within an act. What was entered counts; whoever comes next finds the locks free."""
        self.store.left = left
        try:
            match what:
                case "retain":
                    retaining.run(self.by, grace=GRACE)
                case "shred":
                    custody.shred(self.by, session_id, "they asked")
                case _:
                    holds.hold(self.by, session_id, MATTERS[0], "a case")
        except (Killed, StoreError):
            pass
        finally:
            self.store.left = None
            self.store.locked.clear()
        # Whether the act was entered is the ledger's to say; the model is told by what it can only have been.
        if what == "hold" and MATTERS[0] in self.by.custody(session_id).matters:
            self.held[session_id].add(MATTERS[0])
        if opening.shredded_at(self.store, session_id) is not None and session_id not in self.shredded:
            assert what == "shred"
            assert not self.held[session_id]
            self.shredded.add(session_id)

    @invariant()
    def what_is_held_is_whole(self) -> None:
        for session_id, matters in self.held.items():
            if matters:
                assert self._whole(session_id), session_id
                if session_id not in self.shredded:
                    assert self.by.opened.data_key(session_id)

    @invariant()
    def nothing_goes_before_its_time(self) -> None:
        tombs = {
            entry.event.subject
            for entry in self.by.book().entries
            if isinstance(entry.event, events.LedgerEntry) and entry.event.action == "deleted"
        }
        for session_id, days in self.days_of.items():
            if session_id in tombs:
                assert days is not None
                least = max(self.ended[session_id] + days * DAY, self.released.get(session_id, 0))
                assert self.now >= least + GRACE * DAY - SECOND
            else:
                assert self._whole(session_id), session_id

    def _there(self, session_id: str) -> bool:
        return any(name.endswith(".events.jsonl") for name in self.store.names(layout.session(session_id)))

    def _whole(self, session_id: str) -> bool:
        folder = layout.session(session_id)
        parts = {name.rpartition("/")[2] for name in self.store.names(folder)} - {"lock"}
        return len(parts) == 3 and self.store.exists(layout.keys(session_id))


Keeping.TestCase.settings = settings(max_examples=80, stateful_step_count=30, deadline=None, phases=(Phase.explicit, Phase.generate))
TestKeeping = Keeping.TestCase

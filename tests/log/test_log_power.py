"""Power cuts by the thousand: whatever pages of whatever files the device has kept, the log is never taken for a forged one, and no
line that was acknowledged is lost; also not when the power fails again while the log is being continued."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_helpers import SESSION, Clock, Entropy, check
from page_store import Killed, PageStore

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import TachographError
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.log import opening, recover
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.log.verify import Verification
from tachograph.log.writer import SessionWriter


class Life:
    """A session that goes from one power cut to the next."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.store = PageStore()
        key = keys.generate(Entropy())
        opening.create(self.store, key, Entropy())
        self.opened: OpenStore = opening.open_store(self.store, key)
        self.data_key = self.opened.new_data_key(SESSION, rng.randbytes)
        self.writer: SessionWriter | None = None
        self.acknowledged: list[str] = []
        self.given: list[str] = []
        self.cuts = 0

    def begin(self) -> None:
        if not self.cuts:
            self.writer = SessionWriter(self.opened, SESSION, self.data_key, clock=Clock(), entropy=self.rng.randbytes)
        else:
            self.writer = recover.resume(self.opened, SESSION, clock=Clock(), entropy=self.rng.randbytes, reason="host_lost")

    def live(self) -> None:
        """Some operations, or as much of them as the budget allows."""
        assert self.writer is not None
        for _ in range(self.rng.randrange(1, 8)):
            for _ in range(self.rng.randrange(4)):
                contents = {"text_uri": self.rng.randbytes(self.rng.choice([0, 200, 3000, 9000]))} if self.rng.random() < 0.8 else {}
                # What cannot be compressed, in the clear as well: lines of several pages.
                event = events.Note(subtype=self.rng.randbytes(self.rng.choice([1, 100, 3000])).hex())
                self.given.append(self.writer.append(Draft(event=event, contents=contents)).id)
            how = self.rng.choice(["flush", "flush", "commit", "seal"])
            getattr(self.writer, how)()
            if how != "flush":
                self.acknowledged = list(self.given)

    def cut(self) -> Verification:
        if self.writer is not None:
            self.writer.close()
            self.writer = None
        self.store.budget = None
        self.store.power_cut(self.rng.randint, page=self.rng.choice([512, 4096]))
        self.cuts += 1
        result = check(self.opened)
        self.given = self.present()
        assert self.given[: len(self.acknowledged)] == self.acknowledged
        return result

    def present(self) -> list[str]:
        try:
            return [entry.event.id for entry in Recording(self.opened, SESSION).entries if not isinstance(entry.event, events.Gap)]
        except TachographError:
            if any(True for name in self.store.names(layout.session(SESSION)) if name.endswith(".events.jsonl")):
                raise
            return []

    def made(self) -> bool:
        return self.store.exists(layout.events(SESSION, 1))


def live(seed: int) -> Life:
    rng = random.Random(seed)
    life = Life(rng)
    for _ in range(rng.randrange(1, 4)):
        life.store.budget = rng.choice([None, rng.randrange(60_000), rng.randrange(4000)])
        try:
            life.begin()
            life.live()
        except Killed:
            pass
        result = life.cut()
        if not life.made():
            return life
        assert result.verdict in ("unsealed", "torn", "verified"), (seed, result.to_json())
    life.begin()
    assert life.writer is not None
    life.given.append(life.writer.append(Draft(event=events.SessionEnd())).id)
    life.writer.seal()
    life.writer.close()
    result = check(life.opened)
    assert result.good, (seed, result.to_json())
    assert result.ended
    assert result.sealed == result.events
    assert life.present() == life.given
    assert len(list(Recording(life.opened, SESSION).expanded())) == result.events
    return life


@given(st.integers(0, 2**32))
def test_a_power_cut_at_any_moment(seed: int) -> None:
    live(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_ten_thousand_power_cuts(part: int) -> None:
    assert sum(live(1000 * part + seed).cuts for seed in range(1000)) > 500


def test_the_test_loses_something() -> None:
    """Of a thousand cuts some must leave holes, or nothing above was tried."""
    torn = holes = 0
    for seed in range(60):
        life = live(seed)
        for entry in Recording(life.opened, SESSION).tails if life.made() else ():
            torn += 1
            holes += b"\0" in entry.data
    assert torn > 10
    assert holes > 5

"""A writer that lives, dies at any byte, and is continued, in any order: the log is never taken for a forged one, what was
acknowledged is there, and what is missing is declared.

Two ways to die. A *kill* stops the process within or after any write or creation of a file: what the operating system was given stays.
A *power cut* takes back what was not synced, of each file as much as it likes; but content that a surviving line refers to survives,
too (the device writes the pages of content no later than those of lines; where it does not, the log is beyond repair, and says so).
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from log_helpers import SESSION, Clock, Entropy, check

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.log import opening, recover
from tachograph.log.reader import Recording, frames, parsed, segments
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalFile, LocalStore


class Killed(BaseException):
    """The process is no more."""


class MortalStore(LocalStore):
    """``budget``: how many bytes and creations the process lives to see; ``synced``: what of each file is on the device."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.budget: int | None = None
        self.synced: dict[str, int] = {}

    def spend(self, wanted: int) -> int:
        if self.budget is None:
            return wanted
        spent = min(wanted, self.budget)
        self.budget -= spent
        return spent

    def die(self) -> None:
        if self.budget == 0:
            raise Killed

    def sync(self, name: str) -> None:
        super().sync(name)
        if self.exists(name):
            self.synced[name] = os.stat(os.path.join(self.root, name)).st_size

    def create(self, name: str) -> LocalFile:
        if self.spend(1) == 0:
            raise Killed
        made = super().create(name)
        self.synced[name] = 0
        os_file = MortalFile(os.dup(made._fd), name, made._path)
        os_file.store = self
        made.close()
        return os_file


class MortalFile(LocalFile):
    store: MortalStore

    def write(self, data: bytes) -> None:
        super().write(data[: self.store.spend(len(data))])
        self.store.die()

    def sync(self) -> None:
        super().sync()
        self.store.synced[self.name] = os.fstat(self._fd).st_size


drafts = st.builds(
    lambda text, bare: Draft(event=events.Git(sha=text[:8])) if bare else Draft(event=events.Note(), contents={"text_uri": text}),
    st.text(max_size=400),
    st.booleans(),
)


class LogMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="tachograph-stateful-")
        key = keys.generate(Entropy())
        self.store = MortalStore(self.folder + "/store")
        opening.create(self.store, key, Entropy())
        self.store.synced.clear()
        self.opened = opening.open_store(self.store, key)
        self.clock = Clock()
        self.processes = itertools.count(1)
        data_key = self.opened.new_data_key(SESSION, self.entropy())
        self.store.synced.clear()
        self.writer: SessionWriter | None = SessionWriter(self.opened, SESSION, data_key, clock=self.clock, entropy=self.entropy())
        self.appended: list[str] = []
        self.flushed = 0
        self.committed = 0
        self.deaths = 0

    def entropy(self) -> Callable[[int], bytes]:
        number, more = next(self.processes).to_bytes(4, "big"), Entropy()
        return lambda size: (number + more(size))[-size:]

    def teardown(self) -> None:
        self.store.budget = None
        if self.writer is None:
            self.resume(kill_after=None)
        self.end()
        shutil.rmtree(self.folder)

    # -- what a writer does

    @precondition(lambda self: self.writer is not None)
    @rule(some=st.lists(drafts, min_size=1, max_size=4))
    def append(self, some: list[Draft]) -> None:
        assert self.writer is not None
        for draft in some:
            self.appended.append(self.writer.append(draft).id)

    @precondition(lambda self: self.writer is not None)
    @rule(how=st.sampled_from(["flush", "commit", "seal"]), kill_after=st.none() | st.integers(0, 3000))
    def hand_over(self, how: str, kill_after: int | None) -> None:
        assert self.writer is not None
        self.store.budget = kill_after
        try:
            getattr(self.writer, how)()
        except Killed:
            self.kill()
            return
        self.store.budget = None
        self.flushed = len(self.appended)
        if how != "flush":
            self.committed = self.flushed

    # -- how it dies

    @precondition(lambda self: self.writer is not None)
    @rule()
    def kill(self) -> None:
        assert self.writer is not None
        self.store.budget = None
        self.writer.close()
        self.writer = None
        self.deaths += 1
        # What was never handed over died with the process, and what was handed over in part may be there or not.
        self.appended = self.present()
        self.flushed = len(self.appended)
        self.committed = min(self.committed, self.flushed)

    @rule(data=st.data())
    def power_cut(self, data: st.DataObject) -> None:
        if self.writer is not None:
            self.kill()
        for segment in segments(self.store, SESSION):
            lines = self.lose(data, layout.events(SESSION, segment), 0)
            needed = 0
            for raw in lines.splitlines(keepends=True):
                if raw.endswith(b"\n"):
                    needed = max([needed, *(frame["at"] + frame["len"] for frame in frames(parsed_or_nothing(raw)))])
            self.lose(data, layout.content(SESSION, segment), needed)
            self.lose(data, layout.seals(SESSION, segment), 0)
        self.appended = self.present()
        assert len(self.appended) >= self.committed, "what was committed survives a power cut"
        self.flushed = self.committed = len(self.appended)

    def lose(self, data: st.DataObject, name: str, needed: int) -> bytes:
        if not self.store.exists(name):
            return b""
        path = Path(self.store.root, name)
        size = path.stat().st_size
        kept = data.draw(st.integers(min(size, max(self.store.synced.get(name, size), needed)), size), label=name.rsplit("/", 1)[-1])
        os.truncate(path, kept)
        self.store.synced[name] = kept
        return path.read_bytes()

    # -- how it goes on

    @precondition(lambda self: self.writer is None)
    @rule(kill_after=st.none() | st.integers(0, 1500))
    def resume(self, kill_after: int | None) -> None:
        self.store.budget = kill_after
        try:
            self.writer = recover.resume(self.opened, SESSION, clock=self.clock, entropy=self.entropy(), reason="host_lost")
        except Killed:
            self.deaths += 1
        self.store.budget = None

    def end(self) -> None:
        assert self.writer is not None
        self.appended.append(self.writer.append(Draft(event=events.SessionEnd())).id)
        self.writer.seal()
        self.writer.close()
        result = check(self.opened)
        assert result.good, result.to_json()
        assert result.ended
        assert result.events == result.sealed
        assert self.present() == self.appended
        recording = Recording(self.opened, SESSION)
        assert len(list(recording.expanded())) == result.events
        gaps = [entry.event for entry in recording.entries if isinstance(entry.event, events.Gap)]
        assert sum(gap.reason == "host_lost" for gap in gaps) == result_segments(self.store) - 1 - half_made(self.store)
        assert sum(gap.reason == "torn_tail" for gap in gaps) == sum(problem["check"] == "tail" for problem in result.problems)

    def present(self) -> list[str]:
        """The ids of the log's events, recovery's own gaps aside."""
        if not any(self.store.exists(layout.events(SESSION, segment)) for segment in segments(self.store, SESSION)):
            return []
        return [entry.event.id for entry in Recording(self.opened, SESSION).entries if not isinstance(entry.event, events.Gap)]

    @invariant()
    def what_was_acknowledged_is_there(self) -> None:
        assert self.present()[: self.flushed] == self.appended[: self.flushed]

    @invariant()
    def a_crash_is_never_taken_for_a_forgery(self) -> None:
        result = check(self.opened)
        assert result.verdict != "tampered", result.to_json()
        if result.verdict == "verified":
            assert result.sealed == result.events > 0


def parsed_or_nothing(raw: bytes) -> dict[str, Any]:
    return parsed(raw, "here") if b',"hash":"' in raw else {}


def result_segments(store: LocalStore) -> int:
    return len(segments(store, SESSION))


def half_made(store: LocalStore) -> int:
    """Segments after the first whose writer died before it had a line."""
    return sum(b"\n" not in store.read(layout.events(SESSION, number)) for number in segments(store, SESSION)[1:])


TestLog = LogMachine.TestCase
TestLog.settings = settings(max_examples=45, stateful_step_count=25)

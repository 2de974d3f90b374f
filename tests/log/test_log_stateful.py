"""A writer that lives, dies at any byte, and is continued, in any order: the log is never taken for a forged one, what was
acknowledged is there, and what is missing is declared.

Two ways to die. A *kill* stops the process within or after any write or creation of a file: what the operating system was given stays.
A *power cut* takes back what was not synced: any pages of any file (``page_store.py``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from log_helpers import SESSION, Clock, Entropy, check
from page_store import Killed, PageStore

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.ports import Store
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.log import opening, recover
from tachograph.log.reader import Recording, segments
from tachograph.log.writer import SessionWriter

drafts = st.builds(
    lambda text, bare: Draft(event=events.Git(sha=text[:8])) if bare else Draft(event=events.Note(), contents={"text_uri": text}),
    st.text(max_size=400),
    st.booleans(),
)


class LogMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        key = keys.generate(Entropy())
        self.store = PageStore()
        opening.create(self.store, key, Entropy())
        self.opened = opening.open_store(self.store, key)
        self.clock = Clock()
        self.processes = itertools.count(1)
        data_key = self.opened.new_data_key(SESSION, self.entropy())
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

    @rule(data=st.data(), page=st.sampled_from([512, 4096]))
    def power_cut(self, data: st.DataObject, page: int) -> None:
        if self.writer is not None:
            self.kill()
        self.store.power_cut(lambda least, most: data.draw(st.integers(least, most)), page=page)
        self.appended = self.present()
        assert len(self.appended) >= self.committed, "what was committed survives a power cut"
        self.flushed = self.committed = len(self.appended)

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


def result_segments(store: Store) -> int:
    return len(segments(store, SESSION))


def half_made(store: Store) -> int:
    """Segments after the first whose writer died before it had a line."""
    return sum(b"\n" not in store.read(layout.events(SESSION, number)) for number in segments(store, SESSION)[1:])


TestLog = LogMachine.TestCase
TestLog.settings = settings(max_examples=45, stateful_step_count=25)

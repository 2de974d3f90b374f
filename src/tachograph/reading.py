"""The Python side of reading: ``tachograph.open(store)[session_id]`` mirrors the command line.

import tachograph

session = tachograph.open()["@last"]
for step in session.steps:
    print(step.number, step.call.model_id)
assert session.verify()["verdict"] == "verified"
assert session.replay()["verdict"] == "identical"
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tachograph import wiring
from tachograph.core.errors import NotFoundError, TamperedError, UsageError
from tachograph.core.events import Event
from tachograph.host import checkout, entering, fixture, forking, replay
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, resolve, session_ids
from tachograph.log.verdict import verdict
from tachograph.log.writer import timestamp
from tachograph.postmortem.shapes import Step
from tachograph.postmortem.story import tell
from tachograph.postmortem.why import Tracer, event_json
from tachograph.replay import edits
from tachograph.replay.timeline import Timeline


class Session:
    """One recorded session. Contents are redacted, as they were stored."""

    def __init__(self, opened: OpenStore, session_id: str) -> None:
        self.id = session_id
        self._opened = opened

    @functools.cached_property
    def recording(self) -> Recording:
        """The session as lines with their contents on demand. Who asks for it is entered in the ledger, once; a warning says where
        that cannot be done."""
        recording = Recording(self._opened, self.id)
        note = entering.enter_read(self._opened, [self.id], "python", clock=wiring.SystemClock(), entropy=os.urandom)
        if note is not None:
            warnings.warn(note, stacklevel=3)
        return recording

    @property
    def events(self) -> list[Event]:
        """The events in their order (``tachograph.core.events``)."""
        return [entry.event for entry in self.recording.entries]

    @property
    def steps(self) -> tuple[Step, ...]:
        """Model calls with the tool calls that follow from them."""
        return tuple(tell(self.recording).steps)

    @functools.cached_property
    def timeline(self) -> Timeline:
        """A place in the session, at its start, and the ways from there (``tachograph.replay.timeline``)."""
        recording = self.recording
        return Timeline(recording.entries, recording.content, [step.seq for step in tell(recording).steps])

    def checkout(self, folder: str | os.PathLike[str], *, repository: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """As ``tacho checkout --json``: the workspace where ``timeline`` stands, written into a new or empty folder."""
        written = checkout.checkout(
            self.recording, self.timeline, os.fspath(folder), repository=os.fspath(repository) if repository is not None else None
        )
        return written.to_json()

    def fixture(self, folder: str | os.PathLike[str]) -> dict[str, Any]:
        """As ``tacho fixture --json``, without the replay: a self-contained copy in a new or empty folder, with a test. Raises ``UsageError`` where the
        policy of today would mask more."""
        checkout.unused(os.fspath(folder))
        policy = wiring.policy().policy
        if found := fixture.missed(self._opened, self.id, policy):
            raise UsageError(
                f"the rules of today mask {len(found)} more values in {self.id}, and a fixture is for a repository; tacho audit-secrets names them"
            )
        at = timestamp(wiring.SystemClock().unix_ms())
        return fixture.write(self.recording, os.fspath(folder), at=at, policy=policy).to_json()

    def why(self, text: str | None = None, *, event: str | None = None, line: tuple[str, int] | None = None) -> dict[str, Any]:
        """As ``tacho why --json``: where a text came from; or each part of what an event says; or a line of a file, ``("src/login.py", 12)``. Raises
        ``NotFoundError`` for an event or a line that is not there, ``UsageError`` unless exactly one of them is given."""
        if sum(one is not None for one in (text, event, line)) != 1 or (text is not None and not text.strip()):
            raise UsageError("name one thing to trace: a text, an event or a line")
        if event is not None:
            return event_json(self._tracer.event(event), event)
        if line is not None:
            text = self._tracer.line(*line)
            if text is None:
                raise NotFoundError(f"{self.id} wrote no file {line[0]}; tacho show lists the files that it wrote")
        return self._tracer.why(text or "").to_json()

    @functools.cached_property
    def _tracer(self) -> Tracer:
        return Tracer(tell(self.recording, redactions=False), self.recording)

    def content(self, uri: str | None) -> Any:
        """The value behind a ``*_uri`` field of an event."""
        return self.recording.content(uri)

    def verify(self) -> dict[str, Any]:
        """As ``tacho verify --json``."""
        found = verdict(self._opened.store, self.id, public=self._opened.trusted, opened=self._opened)
        return found.to_json()

    def replay(self, *command: str, unverified: bool = False) -> dict[str, Any]:
        """As ``tacho replay --json [--unverified] [-- command]``. Forks: call it before other threads are started. Raises
        ``TamperedError`` for a record that does not verify."""
        good = self._verified(unverified)
        return replay.replay(replay.Plan(recording=self.recording, verified=good, command=command, quiet=True))

    def fork(
        self, at: int, *command: str, changes: Mapping[str, Any] | None = None, live_model: bool = False, budget: int | None = None,
        allow_tools: Iterable[str] = (), unverified: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """As ``tacho fork --at N --json``. ``changes``: by name (``model``, ``prompt.system``, ``params.temperature``, ``body.PATH``); None
        takes a parameter away. Forks: call it before other threads are started."""
        plan = self._asked(at, changes, live_model=live_model, budget=budget, unverified=unverified, by="fork")
        return forking.fork(replace(plan, command=command, allowed=frozenset(allow_tools), quiet=True))

    def reask(
        self, step: int, count: int = 10, *, changes: Mapping[str, Any] | None = None, budget: int | None = None, unverified: bool = False
    ) -> dict[str, Any]:
        """As ``tacho reask --step N -n K --live-model --json``: asks the live model, with the credentials of this process's environment."""
        from tachograph.host import reask

        return reask.reask(self._asked(step, changes, live_model=True, budget=budget, unverified=unverified, by="reask"), count)

    def _verified(self, unverified: bool) -> bool:
        found = verdict(self._opened.store, self.id, public=self._opened.trusted, opened=self._opened)
        if not found.good and not unverified:
            raise TamperedError(
                f"the record of {self.id} is {found.verdict}; tacho verify tells all, unverified=True replays it all the same"
            )
        return found.good

    def _asked(
        self, step: int, changes: Mapping[str, Any] | None, *, live_model: bool, budget: int | None, unverified: bool, by: str
    ) -> forking.Plan:
        steps = {one.number: one for one in self.steps}
        if step not in steps:
            raise NotFoundError(f"no step {step} in {self.id}, which has {len(steps)}; its steps are in .steps")
        way = None
        if live_model:
            from tachograph.host.live import Live

            way = Live(environment=os.environ)
        return forking.Plan(
            opened=self._opened, recording=self.recording, verified=self._verified(unverified),
            event_id=steps[step].first_event_id, step=step, clock=wiring.SystemClock(), entropy=os.urandom,
            edits=[edits.named(what, value) for what, value in (changes or {}).items()], live=way,
            budget=forking.Budget() if budget is None else forking.Budget(calls=budget), by=by,
        )  # fmt: skip


class Store:
    """The sessions of a store, oldest first; ``store[name]`` takes an id, a unique prefix of one, or ``@last``."""

    def __init__(self, opened: OpenStore) -> None:
        self._opened = opened

    def __iter__(self) -> Iterator[Session]:
        for session_id in session_ids(self._opened.store):
            yield Session(self._opened, session_id)

    def __getitem__(self, name: str) -> Session:
        return Session(self._opened, resolve(self._opened.store, name))


def open(store: str | None = None) -> Store:  # noqa: A001 - it opens a store, and is called as tachograph.open
    """The store at a path, else where the command line would look. Raises ``UsageError`` where there is none."""
    return Store(wiring.open_for_reading(wiring.settings(store)))

"""The sessions of a store, as whoever follows links asks for them: read when they are asked for, each once."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tachograph.core import events
from tachograph.core.errors import FormatError, KeyUnavailableError, NotFoundError, StoreError, TachographError
from tachograph.log.book import Book
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, session_ids
from tachograph.postmortem.shapes import Run, Step, Story
from tachograph.postmortem.story import tell
from tachograph.postmortem.values import one_line

from . import anchors, kept, linking
from .anchors import Written
from .git import Repository
from .kept import Head, Sketch
from .refs import repository as named


@dataclass(frozen=True)
class Told:
    """What a session's story says of one of its events. ``prompt``: the input that the turn began with."""

    step: int | None = None
    tool: str | None = None
    event_id: str | None = None
    seq: int | None = None
    model: str | None = None
    prompt: str | None = None
    prompt_version: str | None = None
    approver: str | None = None


class Sessions:
    """``progress`` is called with how many of how many sessions were read, while many are."""

    def __init__(self, opened: OpenStore, book: Book, progress: Callable[[int, int], None] = lambda _done, _all: None) -> None:
        self.opened = opened
        self.book = book
        self.damaged: dict[str, str] = {}
        self._progress = progress
        self._fresh: dict[str, Written] = {}

    @functools.cached_property
    def ids(self) -> list[str]:
        """All, oldest first."""
        return session_ids(self.opened.store)

    @functools.cache  # noqa: B019 - as long as one command
    def recording(self, session_id: str) -> Recording | None:
        """A session's lines; None where they cannot be read, which ``damaged`` explains."""
        try:
            return Recording(self.opened, session_id, strict=False)
        except (NotFoundError, StoreError, FormatError, KeyUnavailableError) as error:
            self.damaged[session_id] = str(error)
            return None

    @functools.cache  # noqa: B019
    def written(self, session_id: str) -> Written | None:
        """What a session wrote."""
        sketch = self._kept(session_id)
        if sketch is not None:
            return sketch.written
        recording = self.recording(session_id)
        if recording is None:
            return None
        found = anchors.written(recording)
        if found.unreadable:
            self.damaged[session_id] = f"{found.unreadable} of its contents cannot be opened"
        elif self._end(session_id, recording):
            self._fresh[session_id] = found
        return found

    @functools.cached_property
    def _shelf(self) -> kept.Shelf | None:
        return kept.shelf(self.opened.store)

    @functools.cache  # noqa: B019
    def _kept(self, session_id: str) -> Sketch | None:
        """What was kept of a session that has ended, and is as it was then."""
        part = self._shelf.parts.get(session_id) if self._shelf is not None else None
        end = self._end(session_id)
        if part is None or end is None:
            return None
        try:
            return kept.unseal(part, session_id, self.opened.data_key(session_id), end)
        except TachographError:
            return None  # shredded, or not for whoever asks: what the session itself says of that is told

    def _end(self, session_id: str, recording: Recording | None = None) -> tuple[int, str] | None:
        """Size and root of a session that has ended, as the ledger has them. ``recording``: where it says otherwise, or has more, None."""
        ended = [(size, root) for size, root, over in self.book.sealed(session_id) if over]
        if not ended or (recording is not None and len(recording.entries) != ended[-1][0]):
            return None
        return ended[-1]

    def keep(self) -> None:
        """Keep what was read of sessions that have ended. Who may only read a store keeps nothing."""
        parts = []
        for session_id, written in self._fresh.items():
            start, end = self.start(session_id), self._end(session_id)
            if start is None or end is None:
                continue
            sketch = Sketch(start.repo_url, start.repo_sha, tuple(self.heads(session_id)), written)
            with contextlib.suppress(TachographError):
                parts.append(kept.seal(sketch, session_id, self.opened.data_key(session_id), end))
        if self._shelf is not None:
            with contextlib.suppress(StoreError):
                self._shelf.add(parts, self.ids)
        self._fresh.clear()

    @functools.cache  # noqa: B019
    def story(self, session_id: str) -> Story | None:
        recording = self.recording(session_id)
        return tell(recording) if recording is not None else None

    def start(self, session_id: str) -> events.SessionStart | None:
        recording = self.recording(session_id)
        first = recording.entries[0].event if recording is not None and recording.entries else None
        return first if isinstance(first, events.SessionStart) else None

    @functools.cache  # noqa: B019
    def heads(self, session_id: str) -> list[Head]:
        """The commits that a session made, or that were made during a call of it."""
        sketch = self._kept(session_id)
        if sketch is not None:
            return list(sketch.heads)
        recording = self.recording(session_id)
        found = []
        for entry in recording.entries if recording is not None else ():
            event = entry.event
            if isinstance(event, events.Git) and event.cause in ("made", "call") and event.sha and event.action:
                found.append(Head(event.action, event.sha, event.cause, self._detail(recording, event)))
        return found

    def _detail(self, recording: Recording | None, event: events.Git) -> dict[str, object]:
        """``tree`` and ``patch_id`` of a commit, where they can be read."""
        try:
            found = recording.content(event.detail_uri) if recording is not None else None
        except (KeyUnavailableError, FormatError, NotFoundError):
            return {}
        return {name: found[name] for name in ("tree", "patch_id") if found.get(name)} if isinstance(found, dict) else {}

    def of(self, repository: Repository) -> Iterator[str]:
        """The sessions that may have worked in a repository: by its remote's URL, by the commit they began at, or because nothing is known."""
        remote = repository.remote()
        here = named(remote) or remote
        for number, session_id in enumerate(self.ids):
            self._progress(number, len(self.ids))
            start = self._kept(session_id) or self.start(session_id)
            if start is None:
                continue
            theirs = named(start.repo_url) or start.repo_url
            if theirs is not None and here is not None:
                if theirs == here:
                    yield session_id
            elif start.repo_sha is None or repository.has(start.repo_sha):
                yield session_id
        self._progress(len(self.ids), len(self.ids))

    def links(self, session_id: str, kind: str) -> list[str]:
        """What a session is linked to."""
        return [each.ref.ref for each in self._links.get(session_id, ()) if each.ref.kind == kind]

    def linked_to(self, kind: str, ref: str) -> list[str]:
        """The sessions that are linked to something."""
        return [
            session_id for session_id, found in self._links.items() if any((each.ref.kind, each.ref.ref) == (kind, ref) for each in found)
        ]

    @functools.cached_property
    def _links(self) -> dict[str, list[linking.Link]]:
        found: dict[str, list[linking.Link]] = {}
        for each in linking.links(self.book):
            found.setdefault(each.session_id, []).append(each)
        return found

    @functools.cache  # noqa: B019
    def told(self, session_id: str, seq: int) -> Told:
        """The step in which an event happened, and what asked for it."""
        story = self.story(session_id)
        if story is None:
            return Told()
        for step, run in story.runs():
            if run.seq == seq or seq in run.also:
                return _of_run(story, step, run)
        for step in story.steps:
            if step.seq == seq:
                return _of_run(story, step, None)
        recording = self.recording(session_id)
        event = next((entry.event for entry in recording.entries if entry.seq == seq), None) if recording is not None else None
        before = [step for step in story.steps if step.seq <= seq]
        found = _of_run(story, before[-1], None) if before else Told()
        return Told(found.step, None, event.id if event is not None else None, seq, found.model, found.prompt, found.prompt_version)


def _of_run(story: Story, step: Step | None, run: Run | None) -> Told:
    opening, version, model = None, None, None
    if step is not None:
        turn = next((turn for turn in story.turns if step in turn.items), None)
        opening = one_line(turn.opening, 300) if turn is not None and turn.opening else None
        model = step.call.served_model_id or step.call.model_id
        if step.call.prompt:
            version = f"{step.call.prompt.get('id')}@{step.call.prompt.get('version')}"
    elif story.turns:
        opening = next((one_line(turn.opening, 300) for turn in story.turns if turn.opening), None)
    approver = None
    for where, mark in story.marks("approval"):
        of_this = run is not None and mark.detail.get("call_id") in (run.event_id, run.call_id) and mark.detail.get("call_id") is not None
        if of_this or (mark.detail.get("call_id") is None and where is not None and where == step):
            approver = mark.detail.get("approver")
    at = run if run is not None else step
    return Told(
        step.number if step is not None else None, run.name if run is not None else None, at.event_id if at is not None else None,
        at.seq if at is not None else None, model, opening, version, approver,
    )  # fmt: skip

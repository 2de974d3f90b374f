"""Where a session stands at any of its lines, and how to get there: forwards, backwards, to an event, to a step, to a condition.

A *moment* is the state right after a line: the step it belongs to, which calls were under way, what had been spent, and which files of the
workspace were no longer what they were at the start. Moments are made from the one before; every ``EVERY`` lines one is kept, so that a jump in
a session of 100,000 lines goes over ``EVERY`` of them at most. Content is read for lines that changed files, and for nothing else. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from tachograph.core import events
from tachograph.core.errors import NotFoundError

#: Lines between two moments that are kept.
EVERY = 512


class Entry(Protocol):
    """A line (``log.reader.Entry``)."""

    @property
    def seq(self) -> int: ...
    @property
    def ts(self) -> str: ...
    @property
    def event(self) -> events.Event: ...


@dataclass(frozen=True)
class Moment:
    """The session right after a line. ``step``: the last one that had been answered, 0 before the first. ``calls``: how many had ended, by type of
    event; ``usage``: tokens of the model calls among them; ``open``: ids of the calls under way, oldest first; ``files``: path in the workspace →
    (line, number) of its last change, for ``Timeline.change``; ``model``: what was asked last."""

    index: int
    seq: int
    ts: str
    event: events.Event
    step: int = 0
    calls: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    usage: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    open: tuple[str, ...] = ()
    files: Mapping[str, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))
    model: str | None = None


Condition = Callable[[Moment], bool]


class Timeline:
    """A place in a session, and the ways from there. ``steps``: the lines (``seq``) at which steps 1, 2, … were answered."""

    def __init__(self, entries: Sequence[Entry], content: Callable[[str | None], Any], steps: Sequence[int] = ()) -> None:
        if not entries:
            raise NotFoundError("a session without a line has no timeline; tacho verify tells what is left of it")
        self._entries = entries
        self._content = content
        self._steps = list(steps)
        self._seqs = [entry.seq for entry in entries]
        self._at_seq = {seq: index for index, seq in enumerate(self._seqs)}
        self._ids: dict[str, int] | None = None
        self._changes: dict[int, list[dict[str, Any]]] = {}
        first = entries[0]
        self._kept: dict[int, Moment] = {}
        self._furthest = 0
        self.now = self._after(Moment(-1, -1, first.ts, first.event), 0)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Moment]:
        """All moments, from the first; where this timeline stands does not change."""
        moment = self._kept[0]
        yield moment
        for index in range(1, len(self._entries)):
            moment = self._after(moment, index)
            yield moment

    # -- going somewhere -----------------------------------------------------------------------------------------------------

    def seek(self, seq: int) -> Moment:
        """To a line. Raises ``NotFoundError`` where there is none with that number."""
        index = self._at_seq.get(seq)
        if index is None:
            raise NotFoundError(f"no line {seq} in this session, which has {self._seqs[0]} to {self._seqs[-1]}")
        return self._go(index)

    def start(self) -> Moment:
        return self._go(0)

    def end(self) -> Moment:
        return self._go(len(self._entries) - 1)

    def forward(self, lines: int = 1) -> Moment:
        """So many lines on, to the last at most."""
        return self._go(min(self.now.index + lines, len(self._entries) - 1))

    def back(self, lines: int = 1) -> Moment:
        """So many lines back, to the first at most."""
        return self._go(max(self.now.index - lines, 0))

    def to_event(self, event_id: str) -> Moment:
        """To the line of an event. Raises ``NotFoundError``."""
        if self._ids is None:
            self._ids = {entry.event.id: index for index, entry in enumerate(self._entries) if entry.event.id}
        index = self._ids.get(event_id)
        if index is None:
            raise NotFoundError(f"no event {event_id} in this session; tacho cat names them all")
        return self._go(index)

    def to_step(self, number: int) -> Moment:
        """To the moment at which a step was answered, before the tools that it asked for; 0: to the start. Raises ``NotFoundError``."""
        return self._go(self._index_of_step(number))

    def after_step(self, number: int) -> Moment:
        """To the last moment before the next step was answered: all that followed from this one is done. Raises ``NotFoundError``."""
        index = self._index_of_step(number)
        if number == len(self._steps):
            return self.end()
        return self._go(max(index, self._index_of_step(number + 1) - 1))

    def next(self, condition: Condition) -> Moment | None:
        """To the next moment that fits; where none does, None, and nothing moves."""
        moment = self.now
        for index in range(moment.index + 1, len(self._entries)):
            moment = self._after(moment, index)
            if condition(moment):
                return self._stand(moment)
        return None

    def previous(self, condition: Condition) -> Moment | None:
        """To the last moment before this one that fits; where none does, None, and nothing moves."""
        upper = self.now.index
        while upper > 0:
            lower = (upper - 1) // EVERY * EVERY
            moments = [self._moment(lower)]
            for index in range(lower + 1, upper):
                moments.append(self._after(moments[-1], index))
            for moment in reversed(moments):
                if condition(moment):
                    return self._stand(moment)
            upper = lower
        return None

    # -- files -----------------------------------------------------------------------------------------------------------------

    def change(self, path: str) -> dict[str, Any] | None:
        """The last change of a file until now: ``path``, ``action``, ``before``, ``after``, ``mode`` (docs/format/v1.md, section 5.4)."""
        where = self.now.files.get(path)
        return self._changes_of(where[0])[where[1]] if where is not None else None

    # -- inside ----------------------------------------------------------------------------------------------------------------

    def _index_of_step(self, number: int) -> int:
        if number == 0:
            return 0
        if not 1 <= number <= len(self._steps):
            there = f"steps 1 to {len(self._steps)}" if self._steps else "no steps"
            raise NotFoundError(f"no step {number} in this session, which has {there}; tacho show lists them")
        return self._at_seq[self._steps[number - 1]]

    def _go(self, index: int) -> Moment:
        return self._stand(self._moment(index))

    def _stand(self, moment: Moment) -> Moment:
        self.now = moment
        return moment

    def _moment(self, index: int) -> Moment:
        """From the nearest moment that is kept, or from where we stand."""
        base = min(index // EVERY * EVERY, self._furthest)
        moment = self._kept[base]
        if base < self.now.index <= index:
            moment = self.now
        for number in range(moment.index + 1, index + 1):
            moment = self._after(moment, number)
        return moment

    def _after(self, before: Moment, index: int) -> Moment:
        entry = self._entries[index]
        event, seq = entry.event, entry.seq
        step, calls, usage, under_way, files, model = before.step, before.calls, before.usage, before.open, before.files, before.model
        if isinstance(event, events.Started):
            under_way = (*under_way, event.call_id)
        elif isinstance(event, events.Call):
            if not (isinstance(event, events.Process) and event.action != "ran"):
                calls = MappingProxyType({**calls, event.TYPE: calls.get(event.TYPE, 0) + 1})
            if event.id in under_way:
                under_way = tuple(one for one in under_way if one != event.id)
        if isinstance(event, events.ModelCall):
            step = bisect_right(self._steps, seq)
            model = event.model_id or model
            if event.usage:
                usage = MappingProxyType({**usage, **{name: usage.get(name, 0) + count for name, count in event.usage.items()}})
        if _changes_uri(event) is not None:
            changed = {str(change["path"]): (seq, number) for number, change in enumerate(self._changes_of(seq, event))}
            if changed:
                files = MappingProxyType({**files, **changed})
        moment = Moment(index, seq, entry.ts, event, step, calls, usage, under_way, files, model)
        if index % EVERY == 0 and index >= self._furthest:
            self._kept[index], self._furthest = moment, index
        return moment

    def _changes_of(self, seq: int, event: events.Event | None = None) -> list[dict[str, Any]]:
        found = self._changes.get(seq)
        if found is None:
            event = event if event is not None else self._entries[self._at_seq[seq]].event
            found = self._changes[seq] = list((self._content(_changes_uri(event)) or {}).get("changes", []))
        return found


def _changes_uri(event: events.Event) -> str | None:
    if isinstance(event, events.Workspace):
        return event.changes_uri
    return event.workspace_uri if isinstance(event, events.Call) else None

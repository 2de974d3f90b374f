"""Some steps of a session: which are meant, the story of those alone, and the lines of the log that they show."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import msgspec

from tachograph.core.errors import NotFoundError, UsageError

from .shapes import Item, Mark, Run, Step, Story, Turn
from .telling import worth_telling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .ports import Entry, Recording

#: Marks that stand behind the last step and are of the whole session.
_OF_ALL = ("printed", "workspace")
_RANGE = re.compile(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?\Z")


def steps_of(text: str, story: Story) -> list[int]:
    """``3-5,9`` as numbers. Raises ``UsageError`` for what is none, ``NotFoundError`` for steps that the session does not have."""
    last = len(story.steps)
    found: set[int] = set()
    for part in text.split(","):
        match = _RANGE.match(part.strip())
        first, final = (int(match[1]), int(match[2] or match[1])) if match is not None else (1, 0)
        if first > final:
            raise UsageError(f"not steps, --steps {text[:60]!r}; write 3, 3-5 or 3-5,9")
        if final > last:
            raise NotFoundError(f"no step {final} in {story.session_id}, it has {last}; tacho show {story.session_id} shows them")
        found.update(range(first, final + 1))
    return sorted(found)


def only(story: Story, numbers: Sequence[int]) -> Story:
    """The story of these steps alone: nothing else that happened is in it. What a turn began with is told where its first step is shown; what the
    session printed, and what changed outside of any call, is told nowhere, since it is of all steps."""
    wanted = set(numbers)
    turns = []
    for turn in story.turns:
        items = tuple(_alone(item) for item in turn.items if isinstance(item, Step) and item.number in wanted)
        first = next((item for item in turn.items if isinstance(item, Step)), None)
        if items:
            turns.append(
                Turn(number=turn.number, opening=turn.opening if first is not None and first.number in wanted else "", items=items)
            )
    return dataclasses.replace(story, turns=tuple(turns))


def _alone(step: Step) -> Step:
    kept = tuple(item for item in step.items if worth_telling(item) and not (isinstance(item, Mark) and item.kind in _OF_ALL))
    return msgspec.structs.replace(step, items=kept)


def seqs(story: Story) -> list[int]:
    """The lines of the log that a story shows, in order."""
    return sorted({seq for turn in story.turns for item in turn.items for seq in _of(item)})


def _of(item: Item) -> Iterator[int]:
    yield item.seq
    if isinstance(item, Step):
        yield from (attempt.seq for attempt in item.attempts)
        for part in item.items:
            yield from _of(part)
    elif isinstance(item, Run):
        yield from item.also
        for child in item.children:
            yield from _of(child)


class Masked:
    """A recording whose contents are masked once more on their way out: today's rules may know secrets that those of its day did not.

    ``mask`` gives a value without its secrets, the same object where there is none. ``changed``: how many contents held any."""

    def __init__(self, recording: Recording, mask: Any) -> None:
        self._recording = recording
        self._mask = mask
        self._seen: dict[str, Any] = {}
        self.changed = 0

    @property
    def session_id(self) -> str:
        return self._recording.session_id

    @property
    def entries(self) -> Sequence[Entry]:
        return self._recording.entries

    def by_id(self, event_id: str) -> Entry | None:
        return self._recording.by_id(event_id)

    def content(self, uri: str | None) -> Any:
        """The masked value behind a reference. Raises as the recording does."""
        if uri is None:
            return None
        if uri not in self._seen:
            value = self._recording.content(uri)
            masked = self._mask(value)
            self.changed += masked is not value and masked != value
            self._seen[uri] = masked
        return self._seen[uri]

    def shared(self, uri: str | None) -> Any:
        """The same: what is masked is kept already."""
        return self.content(uri)

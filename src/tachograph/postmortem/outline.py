"""A session by what was done in it: what each answer asked for, and what ran without being asked for. Reads the answers and little else: a fraction of
what a story takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from .runs import RunDraft
from .shapes import Mark, Run
from .story import StepDraft, Teller, in_order_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tachograph.core.events import ModelCall
    from tachograph.providers.conversation import Part

    from .ports import Recording
    from .shapes import Step, Story


class Outlined(msgspec.Struct, frozen=True, kw_only=True):
    """A step by what was done in it. ``items``: the runs that no answer asked for by name, without what happened in them."""

    number: int
    seq: int
    call: ModelCall
    reply: tuple[Part, ...]
    items: tuple[Run, ...]


@dataclass(frozen=True)
class Outline:
    """``items``: steps, and the runs of none, in order. ``runs``: every run, outer before inner, in the order of the story."""

    items: tuple[Outlined | Step | Run, ...]
    runs: Callable[[], Iterator[Run]]

    @cached_property
    def steps(self) -> tuple[Outlined | Step, ...]:
        """The steps, in the order of their numbers."""
        return tuple(sorted((item for item in self.items if not isinstance(item, Run)), key=lambda step: step.number))


def outline(recording: Recording) -> Outline:
    """Of a recording."""
    teller = Teller(recording, redactions=False, seen=False)
    teller.place()
    return Outline(tuple(_outlined(teller)), lambda: _every_run(teller))


def outline_of(story: Story) -> Outline:
    """Of a story that is told already."""
    items = (item for turn in story.turns for item in turn.items)
    return Outline(tuple(item for item in items if not isinstance(item, Mark)), lambda: (run for _, run in story.runs()))


def _outlined(teller: Teller) -> Iterator[Outlined | Run]:
    for item in teller.in_order():
        if isinstance(item, StepDraft):
            names = {part.name for part in item.reply if part.type == "tool_use"}
            runs = [run for _, run in sorted(item.items, key=in_order_of) if isinstance(run, RunDraft)]
            own = tuple(run.freeze(alone=True) for run in runs if not (run.kind == "tool" and run.tool_name in names))
            yield Outlined(number=item.number, seq=item.seq, call=item.call, reply=item.reply, items=own)
        elif isinstance(item, RunDraft):
            yield item.freeze(alone=True)


def _every_run(teller: Teller) -> Iterator[Run]:
    for item in teller.in_order():
        for _, run in sorted(item.items, key=in_order_of) if isinstance(item, StepDraft) else ((0, item),):
            if isinstance(run, RunDraft):
                yield from _within(run.freeze())


def _within(run: Run) -> Iterator[Run]:
    yield run
    for child in run.children:
        if isinstance(child, Run):
            yield from _within(child)

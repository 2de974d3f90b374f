"""A story with only what was asked for: some steps, lanes, tools, kinds, or what went wrong. What is left out is counted."""

from __future__ import annotations

import dataclasses
import fnmatch
from dataclasses import dataclass

import msgspec

from .shapes import Item, Run, Step, Story, Turn

#: What ``kinds`` may name: runs, marks, and the calls of the model.
KINDS = ("model", "tool", "process", "http", "guardrail", "approval", "git", "message", "note", "gap", "workspace", "printed", "unknown")


@dataclass(frozen=True, kw_only=True)
class Picked:
    """``tool`` and ``lane`` may have ``*`` and ``?``. Steps ``first`` to ``last``, both among them. Of what is given all must hold; a step stays
    where it fits itself, and beside anything in it that does."""

    tool: str | None = None
    lane: str | None = None
    errors: bool = False
    first: int | None = None
    last: int | None = None
    kinds: tuple[str, ...] = ()

    def any(self) -> bool:
        """Whether anything is asked at all."""
        return self != Picked()


def pick(story: Story, wanted: Picked) -> tuple[Story, int]:
    """What is wanted of a story, and how many steps, runs and marks of how many that leaves out."""
    turns = []
    step = 0
    for turn in story.turns:
        items: list[Item] = []
        for item in turn.items:
            step = item.number if isinstance(item, Step) else step
            if (wanted.first is not None and step < wanted.first) or (wanted.last is not None and step > wanted.last):
                continue
            kept = _kept(item, wanted)
            if kept is not None:
                items.append(kept)
        if items:
            turns.append(Turn(number=turn.number, opening=turn.opening, items=tuple(items)))
    found = dataclasses.replace(story, turns=tuple(turns))
    return found, sum(1 for _ in story.walk()) - sum(1 for _ in found.walk())


def _kept(item: Item, wanted: Picked) -> Item | None:
    if isinstance(item, Step):
        inner = tuple(kept for part in item.items if (kept := _kept(part, wanted)) is not None and not isinstance(kept, Step))
        return msgspec.structs.replace(item, items=inner) if inner or _fits(item, wanted) else None
    if isinstance(item, Run):
        if _fits(item, wanted):
            return item  # a run is told with all that happened in it
        children = tuple(kept for part in item.children if (kept := _kept(part, wanted)) is not None and not isinstance(kept, Step))
        return msgspec.structs.replace(item, children=children) if children else None
    return item if _fits(item, wanted) else None


def _fits(item: Item, wanted: Picked) -> bool:
    if wanted.errors and not item.bad:
        return False
    if wanted.lane is not None and not fnmatch.fnmatchcase(item.lane or "main", wanted.lane):
        return False
    if wanted.tool is not None and not (isinstance(item, Run) and fnmatch.fnmatchcase(item.name, wanted.tool)):
        return False
    return not wanted.kinds or _kind(item) in wanted.kinds


def _kind(item: Item) -> str:
    return "model" if isinstance(item, Step) else item.kind

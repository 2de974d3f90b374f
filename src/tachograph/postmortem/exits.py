"""Where texts left a session: commands that ran, files that were written, requests that were sent, commits, approvals, what was printed.

Answers of the model and the arguments of its tool calls are ``passages`` already; what is here is what the world was given. The same shape, with
kinds of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from .changes import MAX_DIFF_LINES
from .passages import Passage, leaves
from .shapes import Mark, Run, Step
from .sources import Exit
from .values import textual

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .shapes import FileChange, Story

EXITS: tuple[Exit, ...] = get_args(Exit)
_MARKS: dict[str, Exit] = {"git": "commit", "printed": "printed", "approval": "approval", "note": "note", "guardrail": "guardrail"}
_POSITIONS: dict[str, str] = {"commit": "detail", "printed": "content", "approval": "shown", "note": "text", "guardrail": "detail"}


def exits(story: Story, results: Mapping[str, tuple[float, int]]) -> Iterator[Passage]:
    """In the order in which they are told. ``results``: by event, the place of its result in the order of passages: what a tool was given comes right
    before."""
    for step, item in story.walk():
        number = step.number if step is not None else None
        if isinstance(item, Step):
            continue
        for index, change in enumerate(item.changes):
            yield from _written(change, index, number, item)
        if isinstance(item, Run):
            result = results.get(item.event_id, (item.seq, 2))
            if item.source == "wire" and step is not None:  # its line is written when its result is sent back, which is late
                result = (step.seq, 5)
            yield from _given(item, number, result)
        elif item.kind in _MARKS and item.body.there:
            kind = _MARKS[item.kind]
            yield _passage(kind, item.body.text(), item, number, _POSITIONS[kind], item.title)


def _given(run: Run, step: int | None, result: tuple[float, int]) -> Iterator[Passage]:
    if run.source in ("asked", "provider"):
        return  # it stands in the answer that asked for it, and nobody ran it
    order = result[0], result[1] - 1
    if run.kind == "process":
        yield _passage("command", run.title.removeprefix("$ "), run, step, "request", run.name, order)
        stdin = run.input.value.get("stdin") if isinstance(run.input.value, dict) else None
        if stdin:
            yield _passage("command", textual(stdin), run, step, "request.stdin", run.name, order)
    elif run.kind == "http":
        yield _passage("request", run.title, run, step, "request.url", run.name, order)
        if run.input.there:
            yield _passage("request", run.input.text(), run, step, "request.body", run.name, order)
    elif run.input.there:
        for path, text in leaves(run.input.value):
            yield _passage("tool_call", text, run, step, f"input{path}", run.name, order)


def _written(change: FileChange, index: int, step: int | None, item: Run | Mark) -> Iterator[Passage]:
    if change.after is not None:
        text = new_lines(change.before or "", change.after)
        at = item.end_ms if isinstance(item, Run) else item.at_ms
        where = f"workspace.changes[{index}].after" if isinstance(item, Run) else f"changes.changes[{index}].after"
        yield Passage("written", text, change.event_id, change.seq, step, where, change.path, at, order=(change.seq, 2))


def new_lines(before: str, after: str) -> str:
    """The lines of ``after`` that ``before`` does not have, in their order; all where a comparison would take too long."""
    lines = after.split("\n")
    if not before or len(lines) > MAX_DIFF_LINES:
        return after
    old = set(before.split("\n"))
    return "\n".join(line for line in lines if line not in old)


def _passage(
    kind: Exit, text: str, item: Run | Mark, step: int | None, position: str, name: str | None, order: tuple[float, int] | None = None
) -> Passage:
    at = item.start_ms if isinstance(item, Run) else item.at_ms
    return Passage(kind, text, item.event_id, item.seq, step, position, name, at, order=order or (item.seq, 2))

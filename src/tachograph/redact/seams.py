"""Secrets cut in two by what an agent reads in pieces: ``sk-ant-api03-AAAA`` at the end of one tool result, its rest at the beginning of
the next one, or in the next content block, or in the next message.

In a list, each text is joined with the next one of the same speaker: the unbroken characters at the end of the one and at the beginning of
the other. A token or a known value that lies across the seam is masked on both sides, by the placeholder of the whole. A name says nothing
across a seam, and a secret in three pieces is found where two of them suffice for its shape.

Where the first piece was recorded by itself, before the second was read, it is in the record as it was: a beginning without its rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tachograph.redact import shapes
from tachograph.redact.placeholder import PLACEHOLDER
from tachograph.redact.spans import Edit
from tachograph.redact.words import table

#: Keys whose string is read as text.
_TEXTS = table("text content output thinking arguments reasoning reasoning_content summary_text stdout stderr result input")
#: Types and keys of what a tool said, whoever's message it is in.
_TOOL = ("tool_result", "function_call_output", "custom_tool_call_output", "local_shell_call_output")
_TOOL_KEYS = ("toolResult", "functionResponse", "tool_call_id")
#: Characters of a piece that count: no token is longer, except key blocks.
_REACH = 512
#: Characters at which a token cannot be recognised, so that a seam of ordinary words costs nothing.
_SHORTEST = 16
#: Of a text read backwards: a search for an end tries every place before it.
_END = re.compile(r"\s{0,2}([A-Za-z0-9_.~+/=:-]{2,512})")
_BEGINNING = re.compile(r"\s{0,2}([A-Za-z0-9_.~+/=:-]{2,512})")
_MAX_DEPTH = 60


class Leaf(NamedTuple):
    """A text and where it stands."""

    path: tuple[Any, ...]
    speaker: str
    text: str


class Cut(NamedTuple):
    """A range of a text that is a piece of the secret ``edit.value``."""

    path: tuple[Any, ...]
    start: int
    end: int
    edit: Edit


def cuts(value: Any, scan: Callable[[str], Sequence[Edit]]) -> list[Cut]:
    """The pieces of secrets on both sides of all seams in a JSON-like value. ``scan`` finds the secrets of the joined characters."""
    out: list[Cut] = []
    last: dict[str, Leaf] = {}
    for leaf in leaves(value):
        before = last.get(leaf.speaker)
        if before is not None:
            out += _seam(before, leaf, scan)
        last[leaf.speaker] = leaf
    return out


def leaves(value: Any, path: tuple[Any, ...] = (), speaker: str = "", key: str = "") -> Iterator[Leaf]:
    """The texts of lists, in order."""
    if isinstance(value, str):
        if key in _TEXTS and value and any(isinstance(step, int) for step in path):
            yield Leaf(path, speaker, value)
    elif len(path) > _MAX_DEPTH:
        return
    elif isinstance(value, dict):
        if value.get("type") in _TOOL or value.get("role") in ("tool", "function") or any(name in value for name in _TOOL_KEYS):
            speaker = "tool"
        elif isinstance(value.get("role"), str):
            speaker = value["role"]
        for name, item in value.items():
            yield from leaves(item, (*path, name), speaker, name if isinstance(name, str) else "")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaves(item, (*path, number), speaker, key)


def _seam(before: Leaf, after: Leaf, scan: Callable[[str], Sequence[Edit]]) -> Iterator[Cut]:
    end = _END.match(before.text[-_REACH:][::-1])
    beginning = _BEGINNING.match(after.text)
    if end is None or beginning is None or len(end[1]) + len(beginning[1]) < _SHORTEST:
        return
    head, rest = end[1][::-1], beginning[1]
    low, high = len(before.text) - end.end(1), len(before.text) - end.start(1)
    if PLACEHOLDER.match(rest):
        return
    ended = any(edit.end == len(head) for edit in scan(head))
    if ended and any(edit.start == 0 for edit in scan(rest)):
        return  # a whole token, and then another one
    joined = head + rest
    for edit in scan(joined):
        if edit.start < len(head) < edit.end:
            if ended and not shapes.random(joined[len(head) : edit.end], 12):
                continue  # a whole token, and then a word that only looks like more of it
            whole = edit._replace(value=joined[edit.start : edit.end] if edit.value is None else edit.value)
            yield Cut(before.path, low + edit.start, high, whole)
            yield Cut(after.path, beginning.start(1), beginning.start(1) + edit.end - len(head), whole)


def replaced(value: Any, path: Sequence[Any], new: str) -> Any:
    """The value with another string at a path; what is on the way there is copied."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


def at(value: Any, path: Sequence[Any]) -> Any:
    """What stands at a path."""
    for step in path:
        value = value[step]
    return value

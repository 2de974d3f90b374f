"""What was found once in a text is masked wherever else it stands there: ``account:X password:X``, a key that a log prints twice."""

from __future__ import annotations

from collections.abc import Iterator

from tachograph.redact import shapes
from tachograph.redact.known import acceptable
from tachograph.redact.literals import Literals
from tachograph.redact.spans import Edit, Ranked, merge

#: Values up to here are looked for one by one.
_FEW = 16
#: Characters. A shorter value counts only where it is no part of a longer word.
_UNMISTAKABLE = 12


def again(text: str, edits: list[Edit]) -> list[Edit]:
    """``edits``, and the other occurrences of what they mask."""
    values = {}
    for edit in edits:
        value = text[edit.start : edit.end]
        if value not in values and worth(value):
            values[value] = edit
    more = [
        Ranked(at, at + len(value), values[value].kind, 0, values[value].rule)
        for at, value in _occurrences(text, values)
        if _apart(text, at, value)
    ]
    if len(more) <= len(edits):
        places = {(edit.start, edit.end) for edit in edits}
        if all((start, end) in places for start, end, *_ in more):
            return edits
    return merge([*(Ranked(e.start, e.end, e.kind, 0, e.rule) for e in edits), *more], text)


def worth(value: str) -> bool:
    """Whether a value may be masked where nothing else says that it is secret: not if it is a word, or a number like any other."""
    if not acceptable(value) or (value.isalpha() and not shapes.random(value)):
        return False
    return not value.isdigit() or len(value) >= _UNMISTAKABLE


def _occurrences(text: str, values: dict[str, Edit]) -> Iterator[tuple[int, str]]:
    if len(values) > _FEW:
        index = Literals()
        for value in values:
            index.add(value)
        yield from index.find(text)
        return
    for value in values:
        at = text.find(value)
        while at >= 0:
            yield at, value
            at = text.find(value, at + len(value))


def _apart(text: str, at: int, value: str) -> bool:
    if len(value) >= _UNMISTAKABLE:
        return True
    end = at + len(value)
    return not (value[0].isalnum() and text[at - 1 : at].isalnum()) and not (value[-1].isalnum() and text[end : end + 1].isalnum())

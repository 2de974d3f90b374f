"""Ranges to mask, and how they become placeholders.

Merging: overlapping ranges become one; its kind is that of the surest finder (known value, key block, vendor's token, address, name),
then of the longest. What is a placeholder already is cut out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tachograph.redact.placeholder import PROTECTED


class Found(NamedTuple):
    """What a finder found, in characters of the text. ``rule`` says which rule or name it was, for people: never any of the value."""

    start: int
    end: int
    kind: str
    rule: str = ""


class Edit(NamedTuple):
    """A range of characters to mask. ``value`` is the secret itself where the characters are an escaped form of it; ``number``: it is a
    JSON number, so its placeholder needs quotes: 1 in a JSON text, 2 in a JSON text inside a string of one (the quotes are escaped there), and
    so on; 0 for all others. ``rule``: as in ``Found``."""

    start: int
    end: int
    kind: str
    value: str | None = None
    number: int = 0
    rule: str = ""


class Ranked(NamedTuple):
    """A finding before merging; a lower rank is surer."""

    start: int
    end: int
    kind: str
    rank: int
    rule: str = ""


def ranked(found: Iterable[Found], rank: int) -> Iterator[Ranked]:
    """Findings of one finder, ready for merging."""
    return (Ranked(start, end, kind, rank, rule) for start, end, kind, rule in found)


def merge(found: Iterable[Ranked], text: str) -> list[Edit]:
    """Sorted, not overlapping, outside of placeholders."""
    out: list[Edit] = []
    best: tuple[int, int] = (0, 0)
    for start, end, kind, rank, rule in sorted(found):
        key = (rank, start - end)
        if out and start < out[-1].end:
            last = out[-1]
            surer = key < best
            out[-1] = Edit(last.start, max(last.end, end), kind if surer else last.kind, rule=rule if surer else last.rule)
            best = min(best, key)
        else:
            out.append(Edit(start, end, kind, rule=rule))
            best = key
    return outside_placeholders(out, text) if out and "[REDACTED:" in text else out


def outside_placeholders(edits: list[Edit], text: str) -> list[Edit]:
    """The parts of ``edits`` that are no placeholder yet."""
    kept = [match.span() for match in PROTECTED.finditer(text)]
    out = []
    for edit in edits:
        at = edit.start
        for start, end in kept:
            if end <= at or start >= edit.end:
                continue
            if at < start:
                out.append(edit._replace(start=at, end=start))
            at = end
        if at < edit.end:
            out.append(edit._replace(start=at))
    return out


def secret_of(edit: Edit, text: str) -> str:
    """The secret that an edit of ``text`` masks."""
    return text[edit.start : edit.end] if edit.value is None else edit.value

"""Figures as people write them in several places of the world: ``1,250.00``, ``1.250,00``, ``1 250,00``, ``1'250``.

One separator with three digits behind it may be either, so a figure has readings: ``41.800`` is 41800, or 41.8.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .remembered import remembered

_FIGURE = re.compile(
    r"(?<![\w.,:/-])[$€£¥]?\s?(?P<figure>\d{1,15}(?:[.,'’_\u00a0\u202f ]\d{1,12}){0,5})(?![\w/:-]|[.,]\d)\s{0,2}(?P<unit>%|[$€£¥]|[^\W\d_]{1,24})?"
)
_WHOLE = re.compile(
    r"\s*(?:[A-Z]{2,3}|[$€£¥])?\s*(?P<figure>\d{1,15}(?:[.,'’_\u00a0\u202f ]\d{1,12}){0,5})\s*(?:[A-Za-z]{1,5}|[%$€£¥])?\s*"
)
_BLANKS = re.compile(r"['’_\u00a0\u202f ]")
#: Figures of one text.
_MOST = 48


@dataclass(frozen=True)
class Figure:
    """``text``: as written; ``readings``: what it may be; ``unit``: the word or sign behind it, in lower case; ``start``, ``end``: where it stands."""

    text: str
    readings: frozenset[float]
    unit: str
    start: int
    end: int


@remembered
def figures(text: str) -> tuple[Figure, ...]:
    """The figures of a text, in order; a row of numbers between blanks is several. No parts of dates, times, identifiers and addresses."""
    found: list[Figure] = []
    for match in _FIGURE.finditer(text[:20_000]):
        for written in _apart(match["figure"]):
            start = match.start("figure") + match["figure"].find(written)
            found.append(Figure(written, readings(written), (match["unit"] or "").lower(), start, start + len(written)))
    return tuple(found[:_MOST])


def _apart(written: str) -> list[str]:
    """A figure whose blanks part its thousands, else what stands between them."""
    if not re.search(r"[\u00a0\u202f ]", written) or re.fullmatch(r"\d{1,3}(?:[\u00a0\u202f ]\d{3})+(?:[.,]\d+)?", written):
        return [written]
    return re.split(r"[\u00a0\u202f ]", written)


def whole(text: str) -> str | None:
    """The figure of a text that is one, with or without its currency or unit."""
    match = _WHOLE.fullmatch(text) if len(text) <= 40 else None
    return match["figure"] if match is not None else None


def readings(written: str) -> frozenset[float]:
    """What a figure may be: one number, or two where its one separator has three digits behind it."""
    bare = _BLANKS.sub("", written)
    commas, points = bare.count(","), bare.count(".")
    if commas and points:
        decimal = "," if bare.rindex(",") > bare.rindex(".") else "."
        other = "." if decimal == "," else ","
        if bare.count(decimal) > 1:
            return frozenset()
        return frozenset([float(bare.replace(other, "").replace(decimal, "."))])
    if commas + points > 1:
        return frozenset([float(bare.replace(",", "").replace(".", ""))])
    if commas + points == 0:
        return frozenset([float(bare)])
    head, tail = re.split(r"[.,]", bare)
    parted = float(f"{head}.{tail}")
    thousands = len(tail) == 3 and len(head) <= 3 and not head.startswith("0")
    return frozenset([parted, float(head + tail)]) if thousands else frozenset([parted])


def misread(written: str) -> frozenset[float]:
    """What code makes of a figure that it reads by the rules of another place, or up to where it no longer understands it; not what it is, nor that in
    hundredths."""
    right = readings(written)
    if len(right) != 1:
        return frozenset()
    found: set[float] = set()
    for begun in (re.match(r"\d+", written), re.match(r"\d+(?:[.]\d+)?", written), re.match(r"\d+(?:[,]\d+)?", written)):
        if begun is not None:
            found.add(float(begun.group().replace(",", ".")))
    for drop in (",", "."):
        left = _BLANKS.sub("", written).replace(drop, "")
        if left.count(".") + left.count(",") <= 1:
            found.add(float(left.replace(",", ".")))
    (value,) = right
    return frozenset(one for one in found if not any(abs(one - value * by) < 1e-6 for by in (1, 100)))

"""What share of a text is covered by which passages: long pieces that both have, letter by letter, longest first where they overlap.

Linear: of what came before, every sixth place is looked at, and of the text every place, so that no common piece of eleven characters of
skeleton or more is missed; what is found is made as long as it goes.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .textforms import skeleton

if TYPE_CHECKING:
    from collections.abc import Callable

    from .haystack import Haystack

GRAM = 6
#: A common piece of whole words counts from this length of skeleton on; fewer letters are in common by chance ("make sure that").
SHORTEST = 12
#: Skeleton of a text that is looked at.
MOST = 100_000
_MOST_PLACES = 4
_NO_WORDS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Cover:
    """A piece of a text: ``begin`` to ``end`` of its skeleton are ``at`` the skeleton of a passage (of one of its forms, where ``how`` says one)."""

    begin: int
    end: int
    index: int
    how: tuple[str, ...]
    at: int

    @property
    def length(self) -> int:
        return self.end - self.begin


def cover(haystack: Haystack, text: str, upto: int, allowed: Callable[[int], bool], *, shortest: int = SHORTEST) -> list[Cover]:
    """The pieces of a text that allowed passages before number ``upto`` have, in the order of the text. Of equally long ones the earliest counts."""
    bones = skeleton(text)[:MOST]
    wanted = min(shortest, max(len(bones) * 3 // 4, GRAM * 2 - 1))
    if len(bones) < wanted:
        return []
    grams = {bones[at : at + GRAM] for at in range(len(bones) - GRAM + 1)}
    sides = []
    for joined, bare in ((haystack.direct, False), (haystack.bared, True)):
        end = len(joined.whole) if bare or upto >= len(joined.starts) else joined.starts[upto]
        sides.append((joined, bare, _places(joined.whole, end, grams)))
    edges = _edges(text, len(bones))
    found: list[Cover] = []
    at = done = 0
    while at + GRAM <= len(bones):
        best: Cover | None = None
        gram = bones[at : at + GRAM]
        for joined, bare, places in sides:
            for place in places.get(gram, ()):
                number = bisect.bisect_right(joined.starts, place) - 1
                index, how = haystack.forms[number][:2] if bare else (number, ())
                if index >= upto or not allowed(index):
                    continue
                begin, end, start = _extended(joined.whole, bones, at, place, done)
                trimmed = bisect.bisect_left(edges, begin), bisect.bisect_right(edges, end) - 1
                if trimmed[0] >= trimmed[1]:
                    continue
                start += edges[trimmed[0]] - begin
                begin, end = edges[trimmed[0]], edges[trimmed[1]]
                if end - begin >= wanted and (best is None or end - begin > best.length):
                    best = Cover(begin, end, index, how, start - joined.starts[number])
        if best is not None:
            found.append(best)
            at = done = best.end
        else:
            at += 1
    return found


def _edges(text: str, size: int) -> list[int]:
    """The places in the skeleton of a text at which words begin, and its end."""
    found, at = [0], 0
    for part in _NO_WORDS.split(text):
        if part and at != found[-1]:
            found.append(at)
        at += len(skeleton(part))
        if at >= size:
            break
    return [*found, size] if found[-1] != size else found


def _places(whole: str, end: int, grams: set[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at in range(0, end - GRAM + 1, GRAM):
        gram = whole[at : at + GRAM]
        if gram in grams:
            places = found.setdefault(gram, [])
            if len(places) < _MOST_PLACES:
                places.append(at)
    return found


def _extended(whole: str, bones: str, at: int, place: int, floor: int) -> tuple[int, int, int]:
    """(begin, end, begin in ``whole``) of the piece around a place that both have, as long as it is the same."""
    begin, start = at, place
    while begin > floor and start > 0 and bones[begin - 1] == whole[start - 1]:
        begin, start = begin - 1, start - 1
    end, stop = at + GRAM, place + GRAM
    step = 64
    while step:
        if end + step <= len(bones) and bones[end : end + step] == whole[stop : stop + step]:
            end, stop = end + step, stop + step
        else:
            step //= 2
    return begin, end, start

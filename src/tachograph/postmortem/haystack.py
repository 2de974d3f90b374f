"""All passages of a session as one text to search in: verbatim, and by skeleton in every form.

The skeletons of all passages stand behind each other in one string, so that one search of the interpreter's own goes over the whole session.
Passages of which something can be taken off (base64, escapes, the beginnings of a patch's lines) stand there several times, once in each form.
Positions in a skeleton are led back to the passage only where something was found.
"""

from __future__ import annotations

import bisect
import itertools
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from .textforms import forms, plain_numbers, skeleton, spots

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from .passages import Passage

#: Places of a needle within one passage that are looked at for one that stands between words.
MOST_TRIES = 24
#: A needle with a skeleton shorter than this is found between words only, never within one.
SHORT = 12
#: Passages with a needle that are told apart; a text that is in more is in all of them. Passages whose numbers are put another way.
MOST_HITS, MOST_NUMBERED = 2000, 500
#: Words of which it is kept which passages have them.
MOST_KEPT = 64
_END = "\x00"


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a passage has a text. ``how``: layers that were taken off the passage. ``begin``, ``end``: in the text of that form. ``bounded``: it stands
    between words."""

    index: int
    how: tuple[str, ...]
    text: str
    begin: int
    end: int
    bounded: bool

    @property
    def said(self) -> str:
        """The words that were found, as they stand there."""
        return self.text[self.begin : self.end]


class Joined:
    """Texts behind each other."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = list(texts)
        lengths = (len(text) + 1 for text in self.texts)
        self.starts = [0, *itertools.accumulate(lengths)][: len(self.texts)]
        self.whole = _END.join(self.texts)

    def find(self, needle: str, tries: int = MOST_TRIES) -> Iterator[tuple[int, int]]:
        """(number of the text, offset in it) of the places of a needle, the first few of each text."""
        at = self.whole.find(needle)
        tried, before = 0, -1
        while at >= 0:
            number = bisect.bisect_right(self.starts, at) - 1
            tried = tried + 1 if number == before else 1
            before = number
            if at - self.starts[number] + len(needle) <= self.length(number):
                yield number, at - self.starts[number]
            if tried < tries:
                at = self.whole.find(needle, at + 1)
            elif number + 1 < len(self.starts):
                at = self.whole.find(needle, self.starts[number + 1])
            else:
                return

    def length(self, number: int) -> int:
        """Of one text."""
        return len(self.texts[number])

    def having(self, needle: str) -> list[int]:
        """The texts with a needle, in their order. Of a needle that many have, quicker than its places."""
        return [number for number, text in enumerate(self.texts) if needle in text]


class Haystack:
    """The passages of a session, and what else is to be searched with them."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self._having: dict[str, list[int]] = {}

    @cached_property
    def _verbatim(self) -> Joined:
        return Joined(one.text for one in self.passages)

    @cached_property
    def forms(self) -> list[tuple[int, tuple[str, ...], str]]:
        """(passage, what was taken off, text) of every form but the passages themselves."""
        found: list[tuple[int, tuple[str, ...], str]] = []
        known: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for index, one in enumerate(self.passages):
            if one.text not in known:  # results are told twice where something happened in them
                known[one.text] = list(forms(one.text))
            found += [(index, how, text) for how, text in known[one.text]]
        return found

    @cached_property
    def direct(self) -> Joined:
        """Skeletons of the passages themselves, in their order."""
        return Joined(skeleton(one.text) for one in self.passages)

    @cached_property
    def bared(self) -> Joined:
        """Skeletons of the forms that something was taken off; ``forms`` says of which passage."""
        return Joined(skeleton(text) for _, _, text in self.forms)

    def verbatim(self, needle: str) -> dict[int, Hit]:
        """By passage, where it has the needle exactly: the first place between words, else the first."""
        found: dict[int, Hit] = {}
        if needle:
            for index, at in self._verbatim.find(needle):
                text = self.passages[index].text
                _keep(found, Hit(index, (), text, at, at + len(needle), between(text, at, at + len(needle))))
                if len(found) >= MOST_HITS:
                    break
        return found

    def alike(self, bones: str, known: Container[int] = ()) -> dict[int, Hit]:
        """By passage, where a form of it has this skeleton. ``known``: passages that need not be looked at."""
        found: dict[int, Hit] = {}
        if not bones:
            return found
        for joined, bare in ((self.direct, False), (self.bared, True)):
            mapped: tuple[int, list[int]] = (-1, [])
            looked = 0
            for number, at in joined.find(bones):
                index, how, text = self.forms[number] if bare else (number, (), self.passages[number].text)
                if index in known or (index in found and found[index].bounded):
                    continue
                if mapped[0] != number:
                    mapped = number, spots(text)
                    looked += 1
                    if looked > MOST_HITS:
                        break
                begin, end = mapped[1][at], mapped[1][at + len(bones) - 1] + 1
                hit = Hit(index, how, text, begin, end, between(text, begin, end))
                if hit.bounded or len(bones) >= SHORT:
                    _keep(found, hit)
        return found

    def numbered(self, text: str) -> dict[int, Hit]:
        """By passage, where it has the text with its numbers written in another way."""
        bones = skeleton(plain_numbers(text))
        words = max(re.split(r"[0-9]+", skeleton(text)), key=len)
        candidates: list[int] = []
        if len(words) >= 4:
            candidates = self.having_one(words)
        elif digits := max(re.findall(r"[0-9]+", bones), key=len, default=""):
            written = re.compile("[.,'’_\u00a0\u202f ]?".join(digits[:15]))
            places = (bisect.bisect_right(self._verbatim.starts, match.start()) - 1 for match in written.finditer(self._verbatim.whole))
            candidates = list(dict.fromkeys(itertools.islice(places, MOST_HITS)))
        found: dict[int, Hit] = {}
        for index in candidates[:MOST_NUMBERED]:
            plain = plain_numbers(self.passages[index].text)
            bare = skeleton(plain)
            at = bare.find(bones)
            places_of = spots(plain) if at >= 0 else []
            for _ in range(MOST_TRIES):
                if at < 0:
                    break
                begin, end = places_of[at], places_of[at + len(bones) - 1] + 1
                if between(plain, begin, end):
                    found[index] = Hit(index, (), plain, begin, end, True)
                    break
                at = bare.find(bones, at + 1)
        return found

    def having_one(self, bones: str) -> list[int]:
        """The passages of which any form has this skeleton, anywhere; in no order."""
        found = self._having.get(bones)
        if found is None:  # the parts of an event have many words in common, and each is asked for several times
            if len(self._having) >= MOST_KEPT:
                self._having.clear()
            bare = (self.forms[number][0] for number in self.bared.having(bones))
            found = self._having[bones] = list(dict.fromkeys([*self.direct.having(bones), *bare]))
        return found


def _keep(found: dict[int, Hit], hit: Hit) -> None:
    """The first hit of each passage that stands between words, else the first; of the same, the form with the fewest layers taken off."""
    known = found.get(hit.index)
    if known is None or (hit.bounded, -len(hit.how)) > (known.bounded, -len(known.how)):
        found[hit.index] = hit


def between(text: str, begin: int, end: int) -> bool:
    """Whether a piece stands between words: no letter or digit goes on before or behind it (a hump of ``camelCase`` begins a word)."""
    first, last = text[begin], text[end - 1]
    before = text[begin - 1] if begin else " "
    behind = text[end] if end < len(text) else " "
    mixed = end - begin >= 6  # letters and digits change often in hashes: something short is in many of them by chance
    return _parted(before, first, mixed) and _parted(last, behind, mixed)


def _parted(one: str, other: str, mixed: bool) -> bool:
    """Whether a word ends between these two characters."""
    if not one.isalnum() or not other.isalnum():
        return True
    return (one.islower() and other.isupper()) or (mixed and one.isalpha() != other.isalpha())

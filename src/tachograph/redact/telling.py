"""Which stems of names in a text are worth a look: most are in words that say nothing, such as ``keyword``, ``passed`` and ``key`` alone.

What finders go by is said by a name, or by the words of a header or a sentence. Of these, the word with the stem decides, and the one
before it can only add to it: ``key``, ``api key``. So a place is passed over where the whole word around the stem says nothing, also behind
the word before it. Where it is not plain what the word is, the place is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tachograph.redact.finders.assignments import STEMS, Place
from tachograph.redact.lazy import expression
from tachograph.redact.names import Voice, voice, words

_NAME_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$"
_REST = expression(r"[A-Za-z0-9_.$]{0,64}")
#: What may be between two words of one name.
_JOINTS = " \t/():*`-."
#: What is around a name that may begin or end elsewhere: behind a backslash the letter of an escape, beside a dash a part of it.
_UNSURE = frozenset("\\-")
_BUILT_IN = frozenset(STEMS) - {"cookie"}  # cookies have names of their own
#: Characters of a name before its stem, and of a word before a name.
_REACH = 64
_BEFORE = 32


class Telling(NamedTuple):
    """Places that are worth a look, sorted, by who may find something there."""

    assigned: list[Place]
    below: list[Place]  #: below a header of a table
    nested: list[Place]
    paired: list[Place]
    told: list[Place]


#: By the character behind a name, to whom alone it matters, as numbers in ``Telling``; other characters may matter to all.
_WHOSE = {
    **dict.fromkeys("=", (0, 2)),
    **dict.fromkeys(":", (0, 2, 3)),
    **dict.fromkeys("()*,", (0, 1, 4)),
    **dict.fromkeys("+@#%^{}[~", (0, 4)),
    **dict.fromkeys(";?!", (0, 1)),
    "\n": (0, 1, 3),
    "]": (0, 4),
}
_ALL = tuple(range(5))


def telling(text: str, places: Iterable[Place]) -> Telling:
    """The places that are worth a look. ``places``: sorted."""
    out = Telling([], [], [], [], [])
    judged = 0  # the end of the last name that says nothing
    for place in places:
        at, stem = place
        whose: tuple[int, ...] = _ALL
        if stem in _BUILT_IN:
            if at < judged:
                continue
            end = at + len(stem)
            stop = _REST.match(text, end).end()  # type: ignore[union-attr]  # matches nothing, too
            if stop - end < _REACH:
                if _nothing(text, at, stop):
                    judged = stop
                    continue
                whose = _WHOSE.get(text[stop : stop + 1], _ALL)
        for number in whose:
            out[number].append(place)
    return out


def _nothing(text: str, at: int, stop: int) -> bool:
    """Whether the word around a stem, up to ``stop``, says nothing."""
    if stop < len(text) and ((c := text[stop]) in _UNSURE or not c.isascii()):
        return False
    floor = max(0, at - _REACH)
    begin = floor + len(text[floor:at].rstrip(_NAME_CHARS))
    before = text[begin - 1] if begin else "\n"
    if before in _UNSURE or begin == floor > 0:
        return False
    name = text[begin:stop]
    said = voice(name)
    if said is not Voice.SECOND:
        return said is Voice.MUTE
    if before not in _JOINTS:
        return True
    earlier = text[max(0, begin - _BEFORE) : begin].rstrip(_JOINTS)
    if not earlier:
        return begin <= _BEFORE
    if not earlier[-1].isalnum():
        return True
    word = (words(earlier) or ("0",))[-1]
    return not word.isdigit() and voice(f"{word}_{name}") is not Voice.SPEAKS

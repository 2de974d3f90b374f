"""Whether a list of like names stops within its last one: ``PLT-2061``, ``PLT-2064``, ``PLT-2070``, ``PLT-20``.

By form alone: those before are all of one shape, and the text ends with the beginning of that shape. Numbers may well be of different lengths, so that this is
a sign only; who asks looks for a second one (how many were announced, what a result says of the last one alone).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tachograph.postmortem.language.tongues import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

_TAIL = 8000
_SPLIT = re.compile(r"[\s,;|]+")
_BULLET = re.compile(r"\A(?:[-*•]|\d{1,4}[.)])\Z")
#: Numbers as they are said in the languages that are told (folded), from four on.
_SAID = {
    word: number
    for number, words in enumerate(
        [
            "four vier cuatro quatre quattro quatro", "five funf cinco cinq cinque vijf", "six sechs seis sei zes", "seven sieben siete sept sette sete zeven",
            "eight acht ocho huit otto oito", "nine neun nueve neuf nove negen", "ten zehn diez dix dieci dez tien", "eleven elf once onze undici",
            "twelve zwolf doce douze dodici doze twaalf",
        ],
        4,
    )
    for word in words.split()
}  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.,:/-])(\d{1,3}|[^\W\d_]{3,8})(?= ([^\W\d_]{3,24})(?![\w-]))")
_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")
#: Whole names that make a shape, and characters that the last one has at least.
_LEAST, _SHORTEST = 3, 2


@dataclass(frozen=True, kw_only=True)
class CutList:
    """``whole``: the names before, in order; ``last``: what stands at the end; ``short``: characters that it lacks; ``announced``: how many there should be,
    where that is more than there are."""

    whole: tuple[str, ...]
    last: str
    short: int
    announced: tuple[int, str] | None


@lru_cache(maxsize=1024)
def cut_list(text: str) -> CutList | None:
    """The list at the end of a text, where its last name is the beginning of one like the others."""
    names = [name for name in _SPLIT.split(text[-_TAIL:].rstrip()) if name and not _BULLET.match(name)]
    if len(names) <= _LEAST or not (names[-1][-1].isalnum() or names[-1][-1] in "-_/"):
        return None
    *before, last = names
    shape = _shape(before[-1])
    if "9" not in shape or len(last) < _SHORTEST or len(last) >= len(shape) or not shape.startswith(_shape(last)):
        return None
    whole: list[str] = []
    for name in reversed(before):
        if _shape(name) != shape:
            break
        whole.insert(0, name)
    if len(whole) < _LEAST:
        return None
    count = len(whole) + 1
    head = text[: text.rindex(whole[0])][-2000:]
    told = next(((number, noun) for number, noun in _numbers(head) if count < number <= 20 * count), None)
    return CutList(whole=tuple(whole), last=last, short=len(shape) - len(last), announced=told)


def _numbers(head: str) -> Iterator[tuple[int, str]]:
    """The numbers that the line before a list says, each with the word behind it."""
    line = next((line for line in reversed(head.split("\n")) if line.strip(" -*•,;")), "")
    for match in _NUMBER.finditer(line):
        number = int(match[1]) if match[1].isdigit() else _SAID.get(fold(match[1]), 0)
        if number:
            yield number, match[2]


def _shape(name: str) -> str:
    return _DIGIT.sub("9", _LETTER.sub("a", name))

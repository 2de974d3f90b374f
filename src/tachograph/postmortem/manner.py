"""How a text stands where it was found: as it is, or with what is different, in words."""

from __future__ import annotations

import itertools
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .haystack import Hit

VERBATIM = "verbatim"
#: Longer texts are not compared in every way.
MOST_COMPARED = 20_000


def how(text: str, hit: Hit, taken: tuple[str, ...], more: tuple[str, ...]) -> str:
    """``verbatim``; else what is different: the layers of writing that the place has (``base64``) or that the text has (``base64 in the text asked
    for``), ``other case``, ``other white space``…"""
    words = [*hit.how, *(f"{layer} in the text asked for" for layer in taken), *more]
    if not taken and not more:
        words += _differences(text, hit.said)
    return ", ".join(dict.fromkeys(words)) or VERBATIM


def widened(text: str, hit: Hit) -> Hit:
    """The hit with the marks at the ends of the text that stand there too: a skeleton has letters and digits alone."""
    head = text[: next((index for index, char in enumerate(text) if char.isalnum()), 0)]
    tail = text[len(text) - next((index for index, char in enumerate(reversed(text)) if char.isalnum()), 0) :]
    begin, end = hit.begin, hit.end
    for mark in reversed(head):
        if begin and hit.text[begin - 1] == mark:
            begin -= 1
    for mark in tail:
        if end < len(hit.text) and hit.text[end] == mark:
            end += 1
    return replace(hit, begin=begin, end=end)


def _differences(text: str, said: str) -> list[str]:
    """The fewest kinds of difference that make two texts of one skeleton the same once they are left out of account."""
    if text == said:
        return []
    if len(text) > MOST_COMPARED:
        return ["written another way"]
    for count in range(1, len(_WAYS) + 1):
        for ways in itertools.combinations(_WAYS, count):
            one, other = text, said
            for _, without in ways:
                one, other = without(one), without(other)
            if one == other:
                names = [name for name, _ in ways]
                if _MARKS in names and not any(map(str.isspace, text + said)):
                    names[names.index(_MARKS)] = "another way of writing the name"
                return names
    return ["written another way"]


def _without_space(text: str) -> str:
    return "".join(text.split())


def _without_accents(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def _without_beginnings(text: str) -> str:
    return "\n".join(line.lstrip("+->#*|/ \t") for line in text.split("\n"))


def _without_marks(text: str) -> str:
    return "".join(char for char in text if char.isalnum() or char.isspace())


_MARKS = "other punctuation"
_WAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("other case", str.casefold),
    ("other white space", _without_space),
    ("other beginnings of lines", _without_beginnings),
    ("other characters", _without_accents),
    (_MARKS, _without_marks),
)

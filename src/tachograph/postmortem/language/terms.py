"""Telling words of a text: those by which two texts can be known to be about the same thing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .remembered import remembered

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Addresses, paths, identifiers, numbers with their decimals, words. In this order, the longest first.
_TERM = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s'\"<>)\]]+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:~|\.{1,2})?(?:/[\w.@%+-]+){2,}/?"
    r"|[^\W\d_][\w]*(?:[-_./:][\w]+)+"
    r"|[+-]?\d[\d,_]*(?:\.\d+)?%?"
    r"|\w+"
)
_COMMON = frozenset(
    ["a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "before", "but", "by", "can", "could", "did", "do", "does", "done", "for", "from", "get", "had", "has", "have", "he", "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "me", "more", "most", "my", "new", "no", "not", "now", "of", "on", "one", "only", "or", "other", "our", "out", "over", "please", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "under", "up", "us", "use", "very", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your"]
)  # fmt: skip

_NAME_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
#: A term without any of these names nothing; digits are also written in other scripts.
_NAMING = re.compile(r"[0-9@_/]|[^\x00-\x7f]")

Found = TypeVar("Found")
#: Pieces that are remembered, and the length of the longest of them.
_MOST_PIECES, _LONGEST_PIECE = 1 << 17, 64


class Pieces(dict[str, Found], Generic[Found]):
    """What a function finds in each piece of a text between blanks, remembered: the same words stand in most texts of a session. For patterns in which
    no blank can stand, so that what is found in the pieces is what is found in the text."""

    def __init__(self, function: Callable[[str], Found]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, piece: str) -> Found:
        found = self._function(piece)
        if len(piece) <= _LONGEST_PIECE:
            if len(self) >= _MOST_PIECES:
                self.clear()
            self[piece] = found
        return found

    def of(self, text: str) -> Iterable[Found]:
        """Of each piece of a text, in order."""
        return map(self.__getitem__, text.split())


@remembered
def terms(text: str) -> tuple[str, ...]:
    """All terms in order, in lower case; numbers without their separators of thousands (``1,200.00`` is ``1200``)."""
    return tuple(chain.from_iterable(_TERMS.of(text)))


@remembered
def words(text: str) -> frozenset[str]:
    """The terms that are no common words."""
    return frozenset(chain.from_iterable(_WORDS.of(text)))


@remembered
def identifiers(text: str) -> frozenset[str]:
    """The terms that name one thing: with a digit and at least three characters, addresses, paths, and joined words. No plain words, no small
    numbers."""
    return frozenset(chain.from_iterable(_NAMES.of(text))) if _NAMING.search(text) else frozenset()


@lru_cache(maxsize=65536)
def names_one(term: str) -> bool:
    """Whether a term names one thing."""
    if "@" in term or "://" in term:
        return True
    digits = sum(character.isdigit() for character in term)
    if digits and digits == len(term.strip("+-%.").replace(".", "")):
        return digits >= 3
    return len(term) >= 4 and (digits > 0 or any(mark in term for mark in "_/"))


_TERMS = Pieces(lambda piece: tuple(_normal(found) for found in _TERM.findall(piece)))
_WORDS = Pieces(lambda piece: tuple(term for term in _TERMS[piece] if term not in _COMMON and len(term) > 1))
_NAMES = Pieces(lambda piece: tuple(term for term in _TERMS[piece] if names_one(term)))


def values(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of a JSON value as (path, text); ``a.b[0]``. Empty ones, truth values and null are left out."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from values(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from values(item, f"{path}[{place}]")
    elif isinstance(value, str):
        if value.strip():
            yield path, value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, str(value)


def _normal(term: str) -> str:
    term = term.lower()
    if term[:1] in "+-" or term[:1].isdigit():
        number = term.replace(",", "").replace("_", "").rstrip("%")
        try:
            found = float(number)
        except ValueError:
            return term
        return str(int(found)) if found.is_integer() and abs(found) < 1e15 else repr(found)
    return term.rstrip(".:/-")


def words_of(name: str) -> list[str]:
    """The words of an identifier, in lower case: ``sendInvoice``, ``send-invoice`` and ``send_invoice`` are alike."""
    return [word.lower() for word in _NAME_WORDS.findall(name)]

"""Telling words of a text: those by which two texts can be known to be about the same thing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

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


@lru_cache(maxsize=4096)
def terms(text: str) -> tuple[str, ...]:
    """All terms in order, in lower case; numbers without their separators of thousands (``1,200.00`` is ``1200``)."""
    return tuple(_normal(found) for found in _TERM.findall(text))


@lru_cache(maxsize=4096)
def words(text: str) -> frozenset[str]:
    """The terms that are no common words."""
    return frozenset(term for term in terms(text) if term not in _COMMON and len(term) > 1)


@lru_cache(maxsize=4096)
def identifiers(text: str) -> frozenset[str]:
    """The terms that name one thing: with a digit and at least three characters, addresses, paths, and joined words. No plain words, no small
    numbers."""
    return frozenset(term for term in terms(text) if names_one(term))


@lru_cache(maxsize=65536)
def names_one(term: str) -> bool:
    """Whether a term names one thing."""
    if "@" in term or "://" in term:
        return True
    digits = sum(character.isdigit() for character in term)
    if digits and digits == len(term.strip("+-%.").replace(".", "")):
        return digits >= 3
    return len(term) >= 4 and (digits > 0 or any(mark in term for mark in "_/"))


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

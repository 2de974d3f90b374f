"""Tables of words, written as text."""

from __future__ import annotations


def table(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())

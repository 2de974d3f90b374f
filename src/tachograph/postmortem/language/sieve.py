"""A pattern that most texts of a session cannot match, told without searching for it.

A search of a long alternation tries each of its branches at each character of a text. Whether a text has any of the words without which nothing
matches is told a hundred times faster, and most texts have none of them. Of the words, each match of the pattern has at least one
(``tests/postmortem/test_postmortem_sieve.py`` reads that off the patterns themselves): what is found is what the pattern finds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Sieve:
    """As a compiled pattern. ``words``: in lower case, in ASCII; several of them with ``|`` between."""

    def __init__(self, pattern: re.Pattern[str], words: str) -> None:
        self.pattern = pattern
        self.words = tuple(words.split("|"))

    def may(self, text: str) -> bool:
        """Whether a text has any of the words; nothing is found in one that has none."""
        lowered = text.lower()
        if not lowered.isascii():  # what else the pattern takes for these letters, regardless of case
            lowered = lowered.replace("ſ", "s").replace("ı", "i").replace("i\u0307", "i")  # the last is what İ is in lower case
        for word in self.words:  # noqa: SIM110 - a generator would take twice as long
            if word in lowered:
                return True
        return False

    def search(self, text: str) -> re.Match[str] | None:
        return self.pattern.search(text) if self.may(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.pattern.finditer(text) if self.may(text) else iter(())

"""What is found in a text is found once, however many analyses ask for it and in however many calls and sessions the text stands again.

By the text itself, so that it is the same wherever it is asked from; up to so many characters of texts, then it is forgotten and begun anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Found = TypeVar("Found")
#: Characters of the texts of which what one function found is remembered.
_MOST = 1 << 25


class Remembered(dict[str, Found], Generic[Found]):
    """What a function finds in texts."""

    def __init__(self, function: Callable[[str], Found], most: int = _MOST) -> None:
        super().__init__()
        self._function, self._most, self._kept = function, most, 0

    def __missing__(self, text: str) -> Found:
        found = self._function(text)
        self._kept += len(text) + 64  # what any entry takes
        if self._kept > self._most:
            self.clear()
            self._kept = len(text) + 64
        self[text] = found
        return found


def remembered(function: Callable[[str], Found]) -> Callable[[str], Found]:
    """The function, asked once for each text."""
    return Remembered(function).__getitem__

"""Regular expressions that are compiled when they are first used.

There are some hundred of them, and compiling them all would be most of the start-up time of ``tacho record``; a session uses a few.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("match", "search", "fullmatch", "finditer", "findall", "split", "sub", "subn", "groups", "groupindex", "scanner")


class _Lazy:
    """Stands for a compiled expression. The first use puts the real methods in its own place, so a later one costs what it always did."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags
        self.flags = flags | (0 if isinstance(pattern, bytes) or flags & re.ASCII else int(re.UNICODE))

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        for each in _METHODS:
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


def expression(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``, later. A pattern that does not compile is found out by the tests, not here."""
    return cast("re.Pattern[str]", _Lazy(pattern, int(flags)))


def raw_expression(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """The same for bytes."""
    return cast("re.Pattern[bytes]", _Lazy(pattern, int(flags)))

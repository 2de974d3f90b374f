"""What is searched for: a text or a regular expression, and what every place that holds it must hold in any case.

Contents lie as nodes (``docs/format/v1.md``, section 5.2): long strings as they are, short ones within JSON, with its escapes. ``may_hold`` looks at the
raw bytes of many nodes at once, and lets through too much, never too little; ``find`` decides, on the strings themselves. The texts in
``required`` are in each match, so a filter that lacks one of them rules a session out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import UsageError

#: Characters that stand for themselves in a string and in JSON, in either of its spellings.
_PLAIN = re.compile(r"[ !#-\[\]-~]+")
#: Letters that others than their own two cases match when case is ignored (the Kelvin sign, the long s, the dotted and the dotless i).
_STRANGE = re.compile(r"[kKsSiI]")
_MOST = 10_000


@dataclass(frozen=True)
class Needle:
    """Made by ``needle``."""

    pattern: re.Pattern[str]
    required: tuple[str, ...]
    ignore_case: bool
    _run: bytes = b""
    _wide: tuple[bytes, ...] = ()
    _folded: re.Pattern[bytes] | None = field(default=None, compare=False)

    def may_hold(self, data: bytes) -> bool:
        """Whether nodes in these bytes may hold it."""
        if self._folded is not None:
            return self._folded.search(data) is not None
        if self._run:
            return self._run in data
        return not self._wide or any(each in data for each in self._wide)

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Its places in a string."""
        for match in self.pattern.finditer(text):
            yield match.span()


def needle(said: str, *, regex: bool = False, ignore_case: bool = False) -> Needle:
    """Raises ``UsageError`` for what cannot be searched for."""
    if not said or len(said) > _MOST:
        raise UsageError(f"a search for nothing, or for more than {_MOST} characters; say what to look for")
    try:
        pattern = re.compile(said if regex else re.escape(said), re.IGNORECASE if ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"not a regular expression, {said[:60]!r}: {error}; without --regex it is taken as it stands") from None
    if pattern.match(""):
        raise UsageError(f"{said[:60]!r} matches where nothing is; search for something that has to be there")
    ignored = bool(pattern.flags & re.IGNORECASE)
    required = tuple(_required(said, pattern.flags)) if regex else (said,)
    if ignored:
        # Only what has no case that is not ASCII's: a filter folds that one.
        runs = [part for text in required for part in _STRANGE.split(text)]
        required = tuple(part for run in runs for part in _PLAIN.findall(run))
    run = max((part for text in required for part in _PLAIN.findall(text)), key=len, default="")
    folded = re.compile(re.escape(run.encode()), re.IGNORECASE) if ignored and run else None
    wide: tuple[bytes, ...] = ()
    if not run and required and not ignored:
        wide = (max(required, key=len).encode("utf-8", "surrogatepass"), b"\\")  # as it is, or with escapes
    return Needle(pattern, required, ignored, run.encode() if folded is None else b"", wide, folded)


def _required(pattern: str, flags: int) -> list[str]:
    """Texts that are in each match of a regular expression: runs of characters that stand beside each other at its outermost level."""
    parser: Any = re._parser  # type: ignore[attr-defined]
    runs, current = [], []

    def walk(items: Any) -> None:
        for operation, argument in items:
            name = str(operation)
            if name == "LITERAL":
                current.append(chr(argument))
            elif name == "AT":
                continue  # takes no room
            elif name == "SUBPATTERN" and not argument[1] and not argument[2]:
                walk(argument[3])
            elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[0] >= 1:
                cut()
                walk(argument[2])
                cut()
            else:
                cut()

    def cut() -> None:
        if current:
            runs.append("".join(current))
            current.clear()

    walk(parser.parse(pattern, flags))
    cut()
    return runs

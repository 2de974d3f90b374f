"""Recorded text inside Markdown (GitHub's flavour) that stays text.

A tracker turns ``@name`` into a notification, ``#7`` into a link to another issue and a bare address into something
to click; none of these may come out of a recording. What stands in running text is escaped and such words are broken
by a word joiner (U+2060); code spans and fences are made longer than any run of backticks in them (CommonMark 0.31,
sections 4.5 and 6.1).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .values import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPECIAL = re.compile(r"[\\`*\[\]<>|~&]|(?<!\w)_|_(?!\w)")
_LIVE = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=\w)|(?<=#)(?=\d)", re.IGNORECASE)
_BLOCK_START = re.compile(r"\A(\s*)(#{1,6}\s|[-+=]|\d+[.)])")
_CITATION = re.compile(r" ?\[#(s?\d+)\]")


def words(content: str, limit: int = 400) -> str:
    """Recorded text as running text on one line."""
    escaped = _SPECIAL.sub(lambda match: "\\" + match.group(), visible(one_line(content, limit)))
    return _BLOCK_START.sub(lambda match: match.group(1) + "\\" + match.group(2), _LIVE.sub("\u2060", escaped))


def code(content: str, limit: int = 200) -> str:
    """Recorded text as a code span on one line, also within a table."""
    shown = visible(one_line(content, limit)).replace("|", "\\|")
    if not shown:
        return ""
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", shown)), default=0) + 1)
    pad = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fence(content: str, language: str = "") -> str:
    """Recorded text as a code block."""
    shown = visible(content)
    ticks = "`" * max(max((len(run) for run in re.findall(r"`+", shown)), default=0) + 1, 3)
    return f"{ticks}{language}\n{shown}\n{ticks}"


def cited(answer: str) -> str:
    """An answer's sentences: recorded words in it are escaped, citations become code spans, which no tracker links."""
    pieces: list[str] = []
    at = 0
    for match in _CITATION.finditer(answer):
        pieces += [_sentences(answer[at : match.start()]), f" `#{match.group(1)}`"]
        at = match.end()
    return "".join([*pieces, _sentences(answer[at:])])


def _sentences(content: str) -> str:
    escaped = _SPECIAL.sub(lambda match: "\\" + match.group(), visible(content).replace("\n", " "))
    return _LIVE.sub("\u2060", escaped)


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table; the cells are Markdown already."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])

"""Terminal pages: lines of styled text of a known width. Colour only ever repeats what marks and words already say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells
from rich.text import Text

from .values import clip, clip_ends, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STYLES = {
    "title": "bold",
    "turn": "bold",
    "step": "bold blue",
    "dim": "dim",
    "seq": "dim cyan",
    "user": "cyan",
    "reply": "green",
    "assistant": "green",
    "tool": "yellow",
    "bad": "bold red",
    "warn": "bold yellow",
    "added": "green",
    "removed": "red",
    "thinking": "dim italic",
    "": "",
}

Piece = tuple[str, str]
"""Text and the name of its style."""


class Page:
    """Lines under construction. Text handed in is made ``visible``; nothing recorded reaches the terminal as it is."""

    def __init__(self, width: int) -> None:
        self.width = max(width, 40)
        self.lines: list[Text] = []

    def blank(self) -> None:
        """An empty line, never two."""
        if self.lines and self.lines[-1].plain:
            self.lines.append(Text())

    def line(self, *pieces: Piece, right: str = "") -> None:
        """One line; ``right`` stands at the right edge where there is room, else directly behind. Longer text is cut
        with ``…``."""
        room = self.width - (cells(right) + 1 if right else 0)
        text = Text()
        for content, style in pieces:
            text.append(visible(content).replace("\n", " ").replace("\t", " "), STYLES.get(style, style))
        if cells(text.plain) > room:
            text.truncate(room, overflow="ellipsis")
        if right:
            text.append(" " * max(self.width - cells(text.plain) - cells(right), 1))
            text.append(right, STYLES["seq"])
        text.rstrip()
        self.lines.append(text)

    def wrapped(
        self,
        content: str,
        *,
        indent: str = "",
        style: str = "",
        lines: int | None = None,
        prose: bool = True,
        ends: bool = False,
        first: str | None = None,
    ) -> None:
        """Text over as many lines as it needs; at most ``lines`` with a count of the rest, which is taken from the middle where
        ``ends`` says that the end matters. ``first``: what stands before the first line in the place of ``indent``, as wide as it."""
        folded = "\n".join(fold(visible(content).rstrip("\n"), self.width - cells(indent), prose=prose))
        shown, more, rest = folded.split("\n"), 0, list[str]()
        if lines is not None and ends:
            shown, more, rest = clip_ends(folded, lines)
        elif lines is not None:
            shown, more = clip(folded, lines)
        for number, one in enumerate(shown):
            self._indented(first if first is not None and not number else indent, one, style)
        if more:
            self._indented(indent, f"… {more:,} more lines …" if rest else f"… {more:,} more lines", "dim")
        for one in rest:
            self._indented(indent, one, style)

    def facts(self, facts: Sequence[str], *, indent: str = "", style: str = "") -> None:
        """Short facts with ``·`` between them, over as many lines as they need; one is broken only where it is longer than a line."""
        room, line = self.width - cells(indent), ""
        for fact in filter(None, facts):
            longer = f"{line} · {fact}" if line else fact
            if line and cells(visible(longer)) > room:
                self.wrapped(line, indent=indent, style=style)
                longer = fact
            line = longer
        self.wrapped(line, indent=indent, style=style)

    def diff(self, hunks: list[str], *, indent: str, lines: int) -> None:
        """Lines of a unified diff."""
        shown, more = clip("\n".join(visible(line).replace("\n", " ") for line in hunks), lines)
        for one in shown:
            style = {"+": "added", "-": "removed", "@": "dim"}.get(one[:1], "")
            for piece in fold(one, self.width - cells(indent), prose=False):
                self._indented(indent, piece, style)
        if more:
            self._indented(indent, f"… {more:,} more lines", "dim")

    def _indented(self, indent: str, content: str, style: str) -> None:
        text = Text(indent, STYLES["dim"])
        text.append(content, STYLES.get(style, style))
        text.rstrip()
        self.lines.append(text)


def fold(content: str, width: int, *, prose: bool) -> Iterator[str]:
    """The text in lines of at most ``width`` cells: prose is broken between words, anything else anywhere. A wide letter
    (East Asian scripts, emoji) counts two."""
    width = max(width, 8)
    for line in content.expandtabs(4).split("\n"):
        if cells(line) <= width:
            yield line
        elif prose:
            yield from _between_words(line, width)
        else:
            yield from chop_cells(line, width)


def _between_words(line: str, width: int) -> Iterator[str]:
    current, used = "", 0
    size_of = len if _plain(line) else cell_len
    for word in line.split(" "):
        size = size_of(word)
        if current and used + 1 + size > width:
            yield current
            current, used = "", 0
        if size > width:
            *full, word = chop_cells((current + " " + word) if current else word, width)
            yield from full
            current, used = word, cells(word)
            continue
        current, used = (current + " " + word, used + 1 + size) if current else (word, size)
    yield current


def cells(text: str) -> int:
    """How wide a text is."""
    return len(text) if _plain(text) else cell_len(text)


def _plain(text: str) -> bool:
    """Whether each character is one cell wide, which most texts need no table for."""
    return text.isascii() and text.isprintable()

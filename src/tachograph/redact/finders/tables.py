"""Secrets in the columns of tables: ``password`` above a column of what ``psql``, ``mysql`` and ``sqlite3`` print, in CSV, in Markdown, in HTML.

The header says what its column holds, as a name beside a value does. Each kind of table has its own proof that a line is a header:

- bars: a line of dashes below (or, of ``sqlite3``'s lists, the same number of bars in the next line);
- separated values: a line of names alone, and the same number of cells in the next line;
- columns by blanks: a line of dashes below, or a header in capitals;
- HTML: ``<th>``;
- a record per block (``\\x`` of ``psql``): the line above it.

Every line is read at most twice, so a text costs in proportion to its size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tachograph.redact import shapes
from tachograph.redact.finders.assignments import Place, everywhere
from tachograph.redact.lazy import expression
from tachograph.redact.names import Named
from tachograph.redact.names import named as builtin
from tachograph.redact.prefilter.trigger import Trigger
from tachograph.redact.spans import Found

_BARS = "|│┃║"
_BAR = expression(rf"[{_BARS}]")
#: A line between rows: of dashes, with or without corners.
_DRAWN = "-+|:=─━═┼╪╋├┤┝┥╞╡╟╢╠╣┌┐└┘┬┴╔╗╚╝╤╧╦╩│┃║╭╮╰╯┡┩╇┏┓┗┛┳┻"
_RULE = expression(rf"[ \t]{{0,64}}[{_DRAWN} \t]{{2,4096}}\r?\Z")
#: What parts two names, or a name alone over a line of dashes, or (code apart from it has other signs) a line of names.
_HEADER = expression(rf"[{_BARS}\t,;]|  |\A[\w .-]{{0,200}}\Z")
_PLAIN = expression(rf"[\w .,;\t\"'`*()/{_BARS}-]{{1,2000}}\Z")
_DASHES = expression(r"[-─━═=]{2}")
_NAME = expression(r"[^\W\d][\w .()/-]{0,62}\Z|\"[^\W\d][\w .-]{0,62}\"\Z|[*_`]{1,3}[^\W\d][\w .-]{0,62}[*_`]{1,3}\Z")
#: A cell by ``sqlite3`` and ``kubectl``: words that one blank parts.
_WIDE = expression(r"\S+(?: \S+){0,8}")
_EXPANDED = expression(r"^[ ]?([^\W\d][\w ]{0,62}?)[ ]{0,62}[|│] ([^\n]{4,4096})$", re.MULTILINE)
_TAG = expression(r"<(/?)(table|tr|th|td)\b[^<>]{0,400}>", re.IGNORECASE)
_MARKUP = expression(r"<[^<>]{0,200}>|\s")

#: Characters. Longer lines are no header, and longer rows no rows of a table that anybody prints.
_LONGEST_HEADER, _LONGEST_ROW = 2000, 65536
_MOST_COLUMNS = 200
#: Rows in a row that do not fit: there the table ends.
_STRAY = 3
_QUOTES = "\"'`*"


class Column(NamedTuple):
    """Which column holds a secret: its number, what it is called and what that says."""

    number: int
    name: str
    said: Named


class Line(NamedTuple):
    """A line without its break."""

    start: int
    text: str


Cells = list[tuple[int, int]]


#: What must be in a text for ``marked``.
TRIGGERS = (Trigger(("<th", "<TH"), r"<th[^A-Za-z0-9_]", re.IGNORECASE), Trigger(("-[ RECORD ",)))

#: A line that may be a header by itself, and what parts its names; and the beginning of a line that makes any line above it one.
_PLAIN_LINE = expression(rf"[\w .,;\t\"'`*()/{_BARS}-]{{1,2000}}\r?\n")
_SIGNS = "," + _BARS + "\t;"
_RULED = expression(rf"[ \t]{{0,4096}}[{_DRAWN}][{_DRAWN} \t]")


def find(text: str, places: Iterable[Place] | None = None, *, named: Callable[[str], Named] = builtin) -> list[Found]:
    """Secrets of all tables whose header is a line. ``places``: where the stems of names are, sorted; None: they are looked for."""
    out: list[Found] = []
    done = 0
    for at, _ in everywhere(text) if places is None else places:
        if at < done:
            continue
        start = text.rfind("\n", 0, at) + 1
        done = text.find("\n", at) + 1
        if not done:
            break  # nothing is below
        if _RULED.match(text, done) or (_PLAIN_LINE.match(text, start) and _parted(text, start, done)):
            line = _line(text, start)
            if len(line.text) <= _LONGEST_HEADER:
                found, end = _below(text, line, named)
                out += found
                done = max(done, end)
    return out


def _parted(text: str, start: int, below: int) -> bool:
    """Whether a line is in capitals, or what parts its names also parts the line below it."""
    line = text[start:below]
    end = text.find("\n", below)
    return line.upper() == line or any(sign in line and text.find(sign, below, end if end >= 0 else len(text)) >= 0 for sign in _SIGNS)


def marked(text: str, *, named: Callable[[str], Named] = builtin) -> list[Found]:
    """Secrets of all tables whose header is marked as one."""
    out: list[Found] = []
    if "<th" in text or "<TH" in text:
        out += _html(text, named)
    if "-[ RECORD " in text:
        out += _expanded(text, named)
    return out


def _line(text: str, start: int) -> Line:
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if end > start and text[end - 1] == "\r":
        end -= 1
    return Line(start, text[start : min(end, start + _LONGEST_ROW + 1)])


def _lines(text: str, start: int) -> Iterator[Line]:
    while start < len(text):
        line = _line(text, start)
        yield line
        start = _next(text, line)


def _next(text: str, line: Line) -> int:
    """Where the line below one begins."""
    end = text.find("\n", line.start + len(line.text))
    return end + 1 if end >= 0 else len(text)


def _said(name: str, named: Callable[[str], Named]) -> Named:
    """What a header says; ``API Key`` is ``api_key``."""
    return named(re.sub(r"[ /()]+", "_", name.strip(" \t" + _QUOTES)).strip("_"))


def _columns(header: Line, cells: Cells, named: Callable[[str], Named]) -> list[Column]:
    if not 1 <= len(cells) <= _MOST_COLUMNS:
        return []
    out = []
    for number, (start, end) in enumerate(cells):
        name = header.text[start:end].strip()
        if _NAME.match(name):
            said = _said(name, named)
            if said.strength and said.kind != "authorization":
                out.append(Column(number, name.strip(_QUOTES), said))
    return out


def _cell(line: Line, cell: tuple[int, int], column: Column, *, sure: bool) -> Found | None:
    """``sure``: it is data, so a word may be a password, as in ``NAME=value``."""
    start, end = cell
    quoted = False
    while start < end and line.text[start] in " \t" + _QUOTES:
        quoted = quoted or line.text[start] in "\"'`"
        start += 1
    while end > start and line.text[end - 1] in " \t" + (_QUOTES if quoted else "*"):
        end -= 1
    value = line.text[start:end]
    if not value or (not sure and not quoted and any(c.isspace() for c in value)):
        return None
    if value.isalpha() and column.name.lower().startswith(value.lower()):
        return None  # the header once more
    if shapes.secret(value, column.said, quoted=sure or quoted):
        return Found(line.start + start, line.start + end, column.said.kind, f"column:{column.name[:64]}")
    return None


def _below(text: str, header: Line, named: Callable[[str], Named]) -> tuple[list[Found], int]:
    """The secrets of the table whose header a line is, and where the table ends."""
    if not _HEADER.search(header.text):
        return [], 0
    after = text.find("\n", header.start + len(header.text))
    if after < 0:
        return [], 0
    second = _line(text, after + 1)
    ruled = _RULE.match(second.text) is not None and _DASHES.search(second.text) is not None
    if not ruled and not _PLAIN.match(header.text):
        return [], 0
    if _BAR.search(header.text):
        return _barred(text, header, second, ruled, named)
    for sign in "\t,;":
        if sign in header.text:
            found, end = _separated(text, header, second, sign, named)
            if end:
                return found, end
    return _spaced(text, header, second, ruled, named)


# -- bars ----------------------------------------------------------------------------------------------------------------------


def _between(line: str, bars: Sequence[int]) -> Cells:
    """The cells that bars part; without those outside of a bar at the beginning and at the end."""
    places = [-1, *bars, len(line)]
    cells = [(a + 1, b) for a, b in pairwise(places)]
    if bars and not line[: bars[0]].strip():
        cells = cells[1:]
    if bars and len(cells) > 1 and not line[bars[-1] + 1 :].strip():
        cells = cells[:-1]
    return cells


def _bars(line: str) -> list[int]:
    return [match.start() for match in _BAR.finditer(line)]


def _barred(text: str, header: Line, second: Line, ruled: bool, named: Callable[[str], Named]) -> tuple[list[Found], int]:
    bars = _bars(header.text)
    cells = _between(header.text, bars)
    columns = _columns(header, cells, named)
    listed = not ruled and len(_bars(second.text)) == len(bars) and all(_NAME.match(header.text[a:b]) for a, b in cells)
    if not columns or not (ruled or listed):
        return [], 0
    # A line of dashes and bars alone is Markdown, where a cell may hold prose about a password.
    sure = "|" not in second.text or "+" in second.text
    last = second if ruled else header
    end = last.start + len(last.text)
    out: list[Found] = []
    for line in _lines(text, _next(text, last)):
        if not line.text.strip() or len(line.text) > _LONGEST_ROW:
            break
        if _RULE.match(line.text):
            end = line.start + len(line.text)
            continue
        its = _bars(line.text)
        if not its:
            break
        end = line.start + len(line.text)
        if len(its) != len(bars):
            # A bar inside of a value: those of the header part it, where the table is aligned.
            if not all(place < len(line.text) and line.text[place] in _BARS for place in bars):
                continue
            its = bars
        row = _between(line.text, its) if len(its) == len(bars) else []
        out += [found for column in columns if column.number < len(row) and (found := _cell(line, row[column.number], column, sure=sure))]
    return out, end


# -- separated values ----------------------------------------------------------------------------------------------------------


def _split(line: str, sign: str) -> Cells:
    """The cells of a line of separated values; quotes around a cell hide what separates."""
    out: Cells = []
    at = 0
    while len(out) <= _MOST_COLUMNS:
        blank = at
        while blank < len(line) and line[blank] == " ":
            blank += 1
        end = -1
        if line.startswith('"', blank):
            close = line.find('"', blank + 1)
            while close >= 0 and line.startswith('"', close + 1):
                close = line.find('"', close + 2)
            end = line.find(sign, close + 1) if close >= 0 else -1
            if close < 0:
                end = line.find(sign, at)
        else:
            end = line.find(sign, at)
        out.append((at, end if end >= 0 else len(line)))
        if end < 0:
            return out
        at = end + 1
    return out


def _separated(text: str, header: Line, second: Line, sign: str, named: Callable[[str], Named]) -> tuple[list[Found], int]:
    cells = _split(header.text, sign)
    if len(cells) < 2 or not all(_NAME.match(header.text[a:b].strip()) for a, b in cells) or len(_split(second.text, sign)) != len(cells):
        return [], 0
    columns = _columns(header, cells, named)
    if not columns:
        return [], 0
    # Names with blanks around them may be the arguments of a call, and so may what stands below.
    sure = header.text[:1] not in " \t" and sign + " " not in header.text
    out: list[Found] = []
    end = header.start + len(header.text)
    stray = 0
    for line in _lines(text, second.start):
        if not line.text.strip() or len(line.text) > _LONGEST_ROW or stray > _STRAY:
            break
        row = _split(line.text, sign)
        if len(row) != len(cells):
            stray += 1
            continue
        stray = 0
        end = line.start + len(line.text)
        out += [found for column in columns if (found := _cell(line, row[column.number], column, sure=sure))]
    return out, end


# -- columns by blanks ---------------------------------------------------------------------------------------------------------


def _spaced(text: str, header: Line, second: Line, ruled: bool, named: Callable[[str], Named]) -> tuple[list[Found], int]:
    cells = [match.span() for match in _WIDE.finditer(header.text)]
    if len(cells) < 2 and not ruled:
        return [], 0
    if not ruled and (header.text.upper() != header.text or not all(_NAME.match(header.text[a:b]) for a, b in cells)):
        return [], 0
    starts = [start for start, _ in cells]
    if ruled and [match.start() for match in _WIDE.finditer(second.text)] != starts:
        return [], 0
    columns = _columns(header, cells, named)
    if not columns:
        return [], 0
    out: list[Found] = []
    end = header.start + len(header.text)
    for line in _lines(text, _next(text, second if ruled else header)):
        if not line.text.strip() or len(line.text) > _LONGEST_ROW:
            break
        end = line.start + len(line.text)
        for column in columns:
            low = starts[column.number]
            if low >= len(line.text) or (low and line.text[low - 1] != " ") or line.text[low] == " ":
                continue
            word = _WIDE.match(line.text, low)
            found = _cell(line, word.span(), column, sure=ruled) if word is not None else None
            if found is not None:
                out.append(found)
    return out, end


# -- others --------------------------------------------------------------------------------------------------------------------


def _expanded(text: str, named: Callable[[str], Named]) -> Iterator[Found]:
    """``-[ RECORD 1 ]---`` and a line per column below it."""
    for match in _EXPANDED.finditer(text, text.find("-[ RECORD ")):
        said = _said(match.group(1), named)
        if said.strength:
            line = Line(match.start(), match.group())
            start, end = match.span(2)
            found = _cell(line, (start - line.start, end - line.start), Column(0, match.group(1), said), sure=True)
            if found is not None:
                yield found


def _html(text: str, named: Callable[[str], Named]) -> Iterator[Found]:
    """The cells below ``<th>password</th>``, and the one beside it in a row of its own."""
    columns: dict[int, Column] = {}
    number = -1
    opened: tuple[int, bool] | None = None  # where a cell's content begins, and whether it is a header
    row: Column | None = None
    for tag in _TAG.finditer(text):
        closing, name = bool(tag.group(1)), tag.group(2).lower()
        if opened is not None:
            start, head = opened
            opened = None
            if head:
                title = _MARKUP.sub(" ", text[start : min(tag.start(), start + 400)]).strip()
                said = _said(title, named) if _NAME.match(title) else None
                if said is not None and said.strength:
                    row = columns[number] = Column(number, title, said)
                else:
                    columns.pop(number, None)
            else:
                column = columns.get(number) or row
                if column is not None and tag.start() - start <= 4096:
                    yield from _content(text, start, tag.start(), column)
        if name == "table" and not closing:
            columns, number, row = {}, -1, None
        elif name == "tr" and not closing:
            number, row = -1, None
        elif name in ("th", "td") and not closing:
            number += 1
            opened = tag.end(), name == "th"


def _content(text: str, start: int, end: int, column: Column) -> Iterator[Found]:
    """The text of a cell, without the markup around it."""
    while (markup := _MARKUP.match(text, start, end)) is not None:
        start = markup.end()
    stop = text.find("<", start, end)
    end = stop if stop >= 0 else end
    found = _cell(Line(start, text[start:end].rstrip()), (0, len(text[start:end].rstrip())), column, sure=False)
    if found is not None:
        yield found

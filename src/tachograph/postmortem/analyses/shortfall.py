"""Whether a text that somebody gave is less than it says, or breaks off: a table that stops within a row, fewer entries than are announced, a block that is
empty or not closed.

By its form alone. An excerpt that says that it is one falls short of nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.tongues import gloss

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 400_000
#: Lines of a table or a list that make it one.
_LEAST = 3
_EXCERPT = re.compile(
    r"\b(?:sample|excerpt|extract|preview|example|e\.g|first|last|top|some of|part of|beginning|snippet|shortened|abridged|and so on|etc)\b",
    re.IGNORECASE,
)
_NUMBER_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_COUNT = rf"(?P<count>\d{{1,6}}|{'|'.join(_NUMBER_WORDS)})"
#: What is counted that no line stands for.
_UNITS = re.compile(
    r"\A(?:days?|hours?|minutes?|seconds?|weeks?|months?|years?|euros?|dollars?|pounds|cents|bytes|times|points?|percent|degrees|units?|pieces?|meters|metres|"
    r"grams|litres|liters|tokens?|words|characters|steps?|ways|reasons|questions|sentences|paragraphs|columns|fields|people|persons|is|as|this|its|copies|less|plus|was|has)\Z"
)
_ANNOUNCED = (
    re.compile(rf"\b(?:all|every|the|these|those|following|attached|enclosed)(?: of)?(?: the| our| my| your| these| following)? {_COUNT} (?:[a-z-]{{2,16}} ){{0,2}}?(?P<noun>[a-z]{{2,20}}s)\b", re.IGNORECASE),
    re.compile(rf"\b{_COUNT} (?:[a-z-]{{2,16}} ){{0,2}}?(?P<noun>[a-z]{{2,20}}s)\b(?: (?:are|were|in total|which are|as))? ?(?:attached|enclosed|below|following|follow|listed|in total|in all|given)\b", re.IGNORECASE),
)  # fmt: skip
_ATTACHED = re.compile(r"\A(?:attachments?|files|documents|appendices|annexes|scans|images|pages|sections)\Z", re.IGNORECASE)
_SECTION = re.compile(r"^(?:(?:-{2,}|={2,}|#{1,3})\s{0,3}\S.{0,100}|(?:attachment|file|document|appendix|annex|scan|image|page|section) \d{1,3}\b.{0,100}|<(?:document|file|attachment)\b.{0,200})$", re.IGNORECASE | re.MULTILINE)  # fmt: skip
_ITEM = re.compile(r"^\s{0,8}(?:[-*•]|\d{1,5}[.)])\s+\S", re.MULTILINE)
_FENCE = re.compile(r"^\s{0,3}```", re.MULTILINE)
#: A block that something was to stand in, with the line before it.
_EMPTY = re.compile(
    r"(?P<head>[^\n]{1,200}:)[ \t]*\n\s{0,3}```[\w.-]{0,20}[ \t]*\n?\s{0,3}```"
    r"|(?P<mark>^-{3,}\s?[^\n]{1,100}?\s?-{3,})\s*(?:\Z|^-{3,}\s?(?:end|eof)\b)"
    r"|<(?P<tag>document|file|attachment|content|data|report|input|upload|text|body)\b[^<>\n]{0,200}>\s*</(?P=tag)>",
    re.IGNORECASE | re.MULTILINE,
)
_OPENED = re.compile(r"^<(?P<tag>document|file|attachment|content|data|report|input|upload|text|body)\b[^<>\n]{0,200}(?<!/)>", re.IGNORECASE | re.MULTILINE)  # fmt: skip


@lru_cache(maxsize=1024)
def shortfall(text: str) -> tuple[str, str] | None:
    """What a text lacks, as a clause (``breaks off within a row of a table``), and the place or the number that shows it. ``None``: nothing is seen to be
    missing."""
    text = text[:_LONGEST].rstrip()
    empty = _EMPTY.search(text)
    if empty is not None:
        return "holds an empty block", (empty["head"] or empty["mark"] or empty["tag"]).strip()[-80:]
    table = _table(text)
    if table and _breaks_off(table):
        return "breaks off within a row of a table", "|".join(table[-1])[-60:]
    if len(_FENCE.findall(text)) % 2:
        return "has a block that is not closed", text[-40:].strip()
    opened = _OPENED.findall(text)
    for tag in sorted(set(opened)):
        if opened.count(tag) > len(re.findall(rf"</{tag}\s?>", text, re.IGNORECASE)):
            return f"has a <{tag}> that is not closed", text[-40:].strip()
    return _too_few(text, table)


def announced(text: str) -> Iterator[tuple[int, str]]:
    """The counts that a text says of what it brings along, each with what is counted."""
    for line in gloss(text[:20_000]).split("\n"):
        if len(line) > 600 or _EXCERPT.search(line):
            continue
        for pattern in _ANNOUNCED:
            for match in pattern.finditer(line):
                if not _UNITS.match(match["noun"].lower()):
                    yield _NUMBER_WORDS.get(match["count"].lower()) or int(match["count"]), match["noun"].lower()


def _too_few(text: str, table: list[list[str]]) -> tuple[str, str] | None:
    for count, noun in announced(text):
        there = len(_SECTION.findall(text)) if _ATTACHED.match(noun) else len(table) or len(_ITEM.findall(text)) or _elements(text)
        least = 1 if _ATTACHED.match(noun) else _LEAST
        if least <= there < count:
            return f"is said to hold {count} {noun}, and holds {there}", str(count)
    return None


def _elements(text: str) -> int:
    begin = re.search(r"^\s*\[\s*[\[{\"\d]", text, re.MULTILINE)
    found: Any = parsed(text[begin.start() :]) if begin is not None else None
    return len(found) if isinstance(found, list) else 0


def _table(text: str) -> list[list[str]]:
    """The rows of a text's last table, its head among them, where nothing but a table stands at its end."""
    rows: list[str] = []
    for line in reversed(text.split("\n")):
        if line.strip() in ("```", "") and not rows:
            continue
        if not line.strip() or line.strip().startswith("```"):
            break
        rows.append(line.strip())
    rows.reverse()
    for mark in ("\t", "|", ";", ","):
        cells = [[cell.strip() for cell in row.strip("|").split(mark)] for row in rows]
        # What stands above the table without an empty line is none of it.
        width = len(cells[-2]) if len(cells) > 1 else 1
        begin = next((place for place in range(len(cells) - 2, -1, -1) if len(cells[place]) != width), -1) + 1
        body = [row for row in cells[begin:] if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
        if mark in ",;" and not any(all(re.search(r"\d", row[place]) for row in body[1:-1]) for place in range(width)):
            continue  # prose has commas, too
        if width >= 2 and len(body) >= _LEAST and max(len(cell.split()) for row in body for cell in row) <= 8:
            return body
    return []


def _breaks_off(table: list[list[str]]) -> bool:
    """Whether the last row is less than every other one."""
    *others, last = table
    if len(others) < _LEAST:
        return False
    if len(last) < len(others[0]):
        return True
    column = [row[-1] for row in others[1:]]
    if not last[-1]:
        return all(column)
    if last[-1].count('"') % 2:
        return all(cell.count('"') % 2 == 0 for cell in column)
    return last[-1].endswith((".", ",", "-")) and not any(cell.endswith(last[-1][-1]) for cell in column)

"""What results say of things: records (an order, a row, a line) with what they are called and the values that they hold.

A JSON object that holds plain values is a record; so is a line of a table or of text. Two records are of the same thing where they share an
identifier under the same name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tachograph.postmortem.language.parsing import parsed
from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.terms import identifiers, terms

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Records of one result that are looked at, and lines.
_MOST = 400
#: Fields of what a record is within that are kept with it.
_MOST_OUTER = 24


@dataclass(frozen=True, kw_only=True)
class Record:
    """``fields``: its plain values by their names (lower case); ``terms``: all its terms; ``outer``: the fields of what it is within, and the name
    under which it is there; ``listed``: the plain values of its lists by the lists' names, and the name under which it is there itself (by no name)."""

    fields: tuple[tuple[str, str], ...]
    terms: frozenset[str]
    outer: tuple[tuple[str, str], ...] = ()
    listed: tuple[tuple[str, str], ...] = ()

    def get(self, key: str) -> str | None:
        """The value under a name."""
        return next((value for name, value in self.fields if name == key), None)


@remembered
def records(text: str) -> tuple[Record, ...]:
    """The records of a result, the outer ones first."""
    value = parsed(text[:200_000])
    if isinstance(value, dict | list):
        return tuple(found for found, _ in zip(_of_value(value, 0, ()), range(_MOST), strict=False))
    return tuple(_of_lines(text[:100_000]))


def _of_value(value: Any, depth: int, outer: tuple[tuple[str, str], ...]) -> Iterator[Record]:
    if depth > 12:
        return
    if isinstance(value, dict):
        plain = tuple(
            (str(key).lower(), str(item).strip())
            for key, item in value.items()
            if isinstance(item, str | int | float) and not isinstance(item, bool) and str(item).strip()
        )
        if plain:
            listed = tuple(
                (str(key).lower(), str(one).strip())
                for key, item in value.items()
                if isinstance(item, list)
                for one in item[:_MOST_OUTER]
                if isinstance(one, str | int) and not isinstance(one, bool)
            )
            of = frozenset(term for _, text in plain for term in terms(text[:2000]))
            yield Record(fields=plain, terms=of, outer=outer, listed=listed + outer[-1:] * (outer[-1:] != () and not outer[-1][0]))
        for key, item in value.items():
            if isinstance(item, dict | list):
                yield from _of_value(item, depth + 1, (*outer, *plain, ("", str(key)))[-_MOST_OUTER:])
    elif isinstance(value, list):
        for item in value:
            yield from _of_value(item, depth + 1, outer)


@remembered
def empty_fields(text: str) -> tuple[str, ...]:
    """The names under which a result has nothing: null, or an empty text."""
    found: list[str] = []
    waiting = [(parsed(text[:200_000]), 0)]
    while waiting and len(found) < _MOST:
        value, depth = waiting.pop()
        if depth > 12:
            continue
        if isinstance(value, dict):
            found += [str(key) for key, item in value.items() if item is None or (isinstance(item, str) and not item.strip())]
            waiting += [(item, depth + 1) for item in value.values() if isinstance(item, dict | list)]
        elif isinstance(value, list):
            waiting += [(item, depth + 1) for item in value[:_MOST] if isinstance(item, dict | list)]
    return tuple(found)


_CELLS, _MAY_PART = re.compile(r"\t|\||,(?! )|;"), re.compile(r"[\t|,;]")
_PAIR = re.compile(r"([A-Za-z][\w ]{0,24}?)\s*[:=]\s*([^,;|\n=:]{1,80})")


def _of_lines(text: str) -> Iterator[Record]:
    lines = [line.strip() for line in text.split("\n") if line.strip()][:_MOST]
    heads: list[str] = []
    for place, line in enumerate(lines):
        cells = [cell.strip() for cell in _CELLS.split(line.strip("| "))] if _MAY_PART.search(line) else [line]
        if len(cells) >= 2 and place + 1 < len(lines) and not heads and not any(character.isdigit() for character in line):
            heads = [cell.lower().replace(" ", "_") for cell in cells]
            continue
        if heads and len(cells) == len(heads):
            fields = tuple((head, cell) for head, cell in zip(heads, cells, strict=True) if cell)
        else:
            pairs = _PAIR.findall(line) if ":" in line or "=" in line else ()
            fields = tuple((key.strip().lower().replace(" ", "_"), value.strip()) for key, value in pairs)
        if fields or identifiers(line[:2000]):
            yield Record(fields=fields, terms=frozenset(terms(line[:2000])))

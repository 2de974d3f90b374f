"""A JSON text whose strings and numbers know where they stand.

Rewriting a JSON text by parsing and printing it again would change its spacing, its escapes and its numbers. Instead the text is parsed
into ordinary values whose leaves carry their offsets, and only the characters that must go are replaced.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import Any

from tachograph.redact.lazy import expression

#: Deeper nesting is scanned as text. Below what ``document`` walks.
MAX_DEPTH = 150

_STRING = expression(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER = expression(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_BLANK = expression(r"[ \t\r\n]*")
_ESCAPE = expression(r"\\(?:u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)")
_CONSTANTS = {"true": True, "false": False, "null": None}


class Located(str):
    """A string of a JSON text; ``start`` and ``end`` enclose what is between its quotes."""

    __slots__ = ("end", "escapes", "start")
    start: int
    end: int
    escapes: tuple[list[int], list[int]] | None

    def place(self, index: int, raw: str) -> int:
        """The offset in the JSON text of the character ``index`` of this string."""
        if self.escapes is None:
            decoded, shifts = [], []
            shift = 0
            for escape in _ESCAPE.finditer(raw, self.start, self.end):
                decoded.append(escape.start() - self.start - shift)
                shift += len(escape.group()) - 1
                shifts.append(shift)
            self.escapes = (decoded, shifts)
        decoded, shifts = self.escapes
        before = bisect_right(decoded, index - 1)
        return self.start + index + (shifts[before - 1] if before else 0)


class LocatedInt(int):
    """A whole number of a JSON text."""

    start: int
    end: int


class LocatedFloat(float):
    """Another number of a JSON text."""

    start: int
    end: int


def loads(text: str) -> Any:
    """The value of a JSON text, quickly and without places. Raises ValueError for what is not JSON, has a key twice in one object, or
    is nested beyond sense: two readers must not see two different values in one text."""
    try:
        value = json.loads(text, object_pairs_hook=_no_doubles, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _nesting(value) > MAX_DEPTH:
        raise ValueError("JSON nested too deeply")
    return value


def _nesting(value: Any) -> int:
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, (dict, list))]:
        depth += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key twice in one object")
    return out


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def parse(text: str) -> Any:
    """The value of a JSON text, its strings and numbers located. Raises ValueError for what is not JSON or nested too deeply."""
    value, at = _value(text, _skip(text, 0), 0)
    if _skip(text, at) != len(text):
        raise ValueError("JSON with something behind it")
    return value


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if depth > MAX_DEPTH:
        raise ValueError("JSON nested too deeply")
    first = text[at : at + 1]
    if first == '"':
        return _string(text, at)
    if first == "{":
        return _object(text, at, depth)
    if first == "[":
        return _array(text, at, depth)
    number = _NUMBER.match(text, at)
    if number is not None:
        raw = number.group()
        kind = LocatedInt if number.group(1) is None and number.group(2) is None and len(raw) < 4000 else LocatedFloat
        found = kind(raw)
        found.start, found.end = number.span()
        return found, number.end()
    for word, constant in _CONSTANTS.items():
        if text.startswith(word, at):
            return constant, at + len(word)
    raise ValueError(f"not JSON at character {at}")


def _string(text: str, at: int) -> tuple[Located, int]:
    match = _STRING.match(text, at)
    if match is None:
        raise ValueError(f"no JSON string at character {at}")
    raw = match.group()
    found = Located(json.loads(raw) if "\\" in raw else raw[1:-1])
    found.start, found.end = match.start() + 1, match.end() - 1
    found.escapes = None if "\\" in raw else ([], [])
    return found, match.end()


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    out: dict[str, Any] = {}
    at = _skip(text, at + 1)
    if text.startswith("}", at):
        return out, at + 1
    while True:
        key, at = _string(text, at)
        if key in out:
            raise ValueError("a key twice in one object")
        at = _skip(text, at)
        if not text.startswith(":", at):
            raise ValueError(f"no colon at character {at}")
        out[key], at = _value(text, _skip(text, at + 1), depth + 1)
        at = _skip(text, at)
        if text.startswith("}", at):
            return out, at + 1
        if not text.startswith(",", at):
            raise ValueError(f"no comma at character {at}")
        at = _skip(text, at + 1)


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    out: list[Any] = []
    at = _skip(text, at + 1)
    if text.startswith("]", at):
        return out, at + 1
    while True:
        value, at = _value(text, at, depth + 1)
        out.append(value)
        at = _skip(text, at)
        if text.startswith("]", at):
            return out, at + 1
        if not text.startswith(",", at):
            raise ValueError(f"no comma at character {at}")
        at = _skip(text, at + 1)

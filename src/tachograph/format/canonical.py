"""Canonical JSON: one byte string per value (sorted keys, no spaces, UTF-8), and a parser that does not guess.

orjson writes what RFC 8785 asks for in all cases that occur here except the spelling of extreme floats, at 50 times the speed of the
``rfc8785`` package. Lone surrogates and integers beyond 64 bits, which orjson refuses, are written by the standard library with ASCII
escapes: still one byte string per value. What JSON has no word for (NaN, infinity) is ``null`` in both.
"""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import orjson

#: Deeper JSON is kept as text: recursion over hostile input must end.
MAX_DEPTH = 200
#: Deeper JSON is not read at all: whatever walks a value by recursion must come through it on Python's default stack.
MAX_NESTING = 300
#: Of a line, which holds values that were read, a few levels down.
MAX_LINE_NESTING = 400


def dumps(value: Any) -> bytes:
    """Canonical bytes of a JSON value (dict keys must be strings)."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, orjson.JSONEncodeError):
        return _escaped(value, sort_keys=True)


def dumps_ordered(value: Any) -> bytes:
    """As ``dumps``, but keys stay in the order they have."""
    try:
        return orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError):
        return _escaped(value, sort_keys=False)


def _escaped(value: Any, *, sort_keys: bool) -> bytes:
    try:
        text = json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), sort_keys=sort_keys, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def loads(data: bytes | str) -> Any:
    """A JSON value. Raises ``ValueError`` for anything that is not JSON in UTF-8, and for JSON nested deeper than ``MAX_NESTING``."""
    # msgspec keeps integers of any size exact; orjson reads those beyond 64 bits as floats.
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        try:
            # Lone surrogates, NaN, huge floats: JSON as agents write it. Decoded here, since json would guess at UTF-16 and UTF-32.
            value = json.loads(data if isinstance(data, str) else data.decode("utf-8"))
        except RecursionError:
            raise ValueError("JSON nested too deeply") from None
    return _checked(data, value, MAX_NESTING)


def _checked(data: bytes | str, value: Any, most: int) -> Any:
    if len(data) <= most:
        return value
    opened = data.count("[") + data.count("{") if isinstance(data, str) else data.count(b"[") + data.count(b"{")
    if opened > most and _nesting(value) > most:
        raise ValueError("JSON nested too deeply")
    return value


def _nesting(value: Any) -> int:
    depth, level = 0, [value]
    while level := [item for item in level if type(item) is dict or type(item) is list]:
        depth += 1
        level = [inner for item in level for inner in (item.values() if type(item) is dict else item)]
    return depth


def loads_strict(data: bytes) -> Any:
    """As ``loads`` (down to ``MAX_LINE_NESTING``), and refuses duplicate keys, NaN and infinity: two readers must never see two different objects in one line."""
    try:
        # Ten times as fast, and true of nearly all lines: what is written of it is what was read, so nothing stands there twice.
        value = msgspec.json.decode(data)
        if orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE) == data:
            return _checked(data, value, MAX_LINE_NESTING)
    except (ValueError, TypeError, RecursionError):
        pass  # the standard library's parser says what is wrong, if anything is
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    return _checked(data, value, MAX_LINE_NESTING)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("duplicate key in an object")
    return out


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")

"""JSON Lines as they are found: torn, spliced, padded. Bytes → pieces; nothing raises and no byte is dropped.

Rules:

- A line ends at LF and nowhere else: U+2028, U+0085 and friends are text (``str.splitlines`` would cut records in two). White
  space around a piece and a byte order mark at the start of the file belong to no piece; every other byte belongs to exactly one.
- A line that is one JSON value is one piece. Bytes that are not UTF-8 do not spoil a record: they become U+DC80 to U+DCFF
  (PEP 383), from which they can be had back. Lone surrogates stay what they are.
- A line that is not is searched for records. Writers that share a file without locking leave two on one line (``}{``), or half of
  one with a whole one behind it; file systems leave runs of NUL after a power cut. Each record found is a piece, and so is each
  stretch between them, unreadable.
- In the midst of damage an object counts as a record only if ``is_record`` says so and nothing but the end of the line, white
  space, NUL or another object follows: the objects nested inside a torn record are not records.
- What two readers could read differently is not readable: duplicate keys, ``NaN``, numbers beyond a double, nesting deeper than
  the content tree takes.

>>> [(p.line, p.offset, p.value) for p in pieces(b'{"a":1}{"a":2}\\n{"a":', is_record=lambda value: "a" in value)]
[(1, 0, {'a': 1}), (1, 7, {'a': 2}), (2, 15, None)]
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

from tachograph.format import canonical

_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"
#: How many times the length of a damaged line may be spent on looking for records in it.
_EFFORT = 8
_DECODER = json.JSONDecoder()

IsRecord = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """``raw`` stands at ``offset`` (bytes from the start of the file), in line ``line`` (from 1). ``value`` is its JSON value
    where ``readable``, else None."""

    offset: int
    line: int
    raw: bytes
    readable: bool
    value: Any = None

    @property
    def text(self) -> str | bytes:
        """The raw piece as text, or as bytes where it is not UTF-8."""
        try:
            return self.raw.decode()
        except UnicodeDecodeError:
            return self.raw


def pieces(data: bytes, *, is_record: IsRecord) -> Iterator[Piece]:
    """All pieces of a file, in order."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    line = 0
    while start < len(data):
        line += 1
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield from _pieces_of(data[start:end], start, line, is_record)
        start = end + 1


def _pieces_of(raw: bytes, offset: int, line: int, is_record: IsRecord) -> Iterator[Piece]:
    whole = raw.strip(_SPACE)
    if not whole:
        return
    offset += len(raw) - len(raw.lstrip(_SPACE))
    try:
        yield Piece(offset=offset, line=line, raw=whole, readable=True, value=loads(whole))
    except ValueError:
        for start, end, value in _recover(whole, is_record):
            raw = whole[start:end]
            yield Piece(offset=offset + start, line=line, raw=raw, readable=value is not None, value=value)


def _recover(line: bytes, is_record: IsRecord) -> Iterator[tuple[int, int, dict[str, Any] | None]]:
    """Spans that cover the line but for white space between them; None where there is no record."""
    # As Latin-1 a character is a byte, and JSON's own signs are the same: positions found here are positions in the line.
    text = line.decode("latin-1")
    torn = at = 0
    budget = _EFFORT * len(line) + (1 << 20)
    while budget > 0 and (at := text.find('{"', at)) >= 0:
        try:
            _, end = _DECODER.raw_decode(text, at)
        except RecursionError:
            budget -= len(line)
            at += 2
            continue
        except json.JSONDecodeError as error:
            # A string without an end is reported at its start; and each report costs a walk over all that stands before it.
            reach = len(text) if error.msg.startswith("Unterminated") else error.pos
            budget -= reach - at + reach // 16
            at += 2
            continue
        if text[end : end + 1] in ("", "{", "\0", " ", "\t", "\r"):
            value = _object(line[at:end])
            if value is not None and (at == torn or is_record(value)):
                yield from _stretch(line, torn, at)
                yield at, end, value
                torn = end
                while text[torn : torn + 1] in (" ", "\t", "\r"):
                    torn += 1
        at = end
    yield from _stretch(line, torn, len(line))


def _stretch(line: bytes, start: int, end: int) -> Iterator[tuple[int, int, None]]:
    stripped = line[start:end].strip(_SPACE)
    if stripped:
        start += len(line[start:end]) - len(line[start:end].lstrip(_SPACE))
        yield start, start + len(stripped), None


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = loads(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def loads(raw: bytes) -> Any:
    """The JSON value of ``raw``. Raises ``ValueError`` where the module's rules say it cannot be read."""
    try:
        value = orjson.loads(raw)
        # Most writers write what orjson writes; then nothing was lost on the way, and that is cheaper to see than to prove.
        exact = orjson.dumps(value) == raw
    except (orjson.JSONDecodeError, TypeError):
        exact = False
    if not exact:
        try:
            value = json.loads(
                raw.decode("utf-8", "surrogateescape"),
                object_pairs_hook=_without_duplicates,
                parse_constant=_refuse,
                parse_float=_finite,
            )
        except RecursionError:
            raise ValueError("JSON nested too deeply") from None
    if _too_deep(raw, value):
        raise ValueError("JSON nested too deeply")
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("duplicate key in an object")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number beyond a double")
    return number


def _too_deep(raw: bytes, value: Any) -> bool:
    if raw.count(b"{") + raw.count(b"[") <= canonical.MAX_DEPTH:
        return False
    level = [value]
    for _ in range(canonical.MAX_DEPTH + 1):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [item for item in value.values() if isinstance(item, (dict, list))]
    if isinstance(value, list):
        return [item for item in value if isinstance(item, (dict, list))]
    return []

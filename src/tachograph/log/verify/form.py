"""Step 2, the form of a line: a JSON object without duplicate keys that begins with its stamp.

Two readers must never see two different objects in one line, so the standard library's parser, told to refuse duplicate keys, decides. It
takes longer than all the rest together. Most lines need not be asked about: where a faster parser reads a line, and writing what it has
read gives the same bytes again, the line has no duplicate key (no written object has one), nothing that is not JSON, and one meaning.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import orjson

MAX_LINE = 4 << 20
_STAMP = ["v", "seq", "ts", "session_id", "type"]
_TS = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z"
_decode = msgspec.json.Decoder().decode
_WHEN = re.compile(_TS + r"\Z")


def parsed(raw: bytes) -> dict[str, Any] | None:
    """The fields of a line, with or without its line feed; None for anything but a JSON object without duplicate keys."""
    if len(raw) > MAX_LINE or raw[:1] != b"{":
        return None
    try:
        fields: dict[str, Any] = _decode(raw)
        if orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE) == raw:
            return fields
    except (ValueError, TypeError, RecursionError):
        pass  # what it does not read, or write, is for the other one to refuse
    return strictly_parsed(raw)


def strictly_parsed(raw: bytes) -> dict[str, Any] | None:
    """The same, slowly."""
    try:
        fields = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("duplicate key")
    return out


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def stamp(session_id: str) -> re.Pattern[bytes]:
    """Matches the bytes that a well-formed line of this session begins with; group 1 is ``seq``. A line that it does not match may be
    well-formed, too (JSON has several spellings): ``misfit`` says."""
    name = re.escape(json.dumps(session_id, ensure_ascii=False))
    return re.compile(f'\\{{"v":1,"seq":([1-9][0-9]*),"ts":"{_TS}","session_id":{name},"type":"'.encode())


def misfit(fields: dict[str, Any], session_id: str) -> str | None:
    """What is wrong with the stamp, besides ``seq``."""
    version = fields.get("v")
    if type(version) is int and version > 1:
        return f"written in version {str(version)[:20]} of the format; update tachograph to read it"
    if type(version) is not int or version != 1 or fields.get("session_id") != session_id:
        return "of another version or another session"
    if (
        list(fields)[:5] != _STAMP
        or not isinstance(fields["type"], str)
        or not isinstance(fields["ts"], str)
        or not _WHEN.match(fields["ts"])
    ):
        return "does not begin with v, seq, ts, session_id and type"
    return None

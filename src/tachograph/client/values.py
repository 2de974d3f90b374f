"""Python values as JSON, and back: what a declared tool was given and what it returned.

``encode`` says whether the value comes back *exactly*. Tuples, bytes, sets, dates, decimals, UUIDs and paths do, by a tag; a value of
any other class is described for people, and the call is marked: in a replay such a tool runs (under the guard) instead of being
answered. Nothing is ever pickled: a recording must not be able to run code.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import math
import pathlib
import uuid
from typing import Any, Callable, Dict, Tuple

_TAG = "$py"
_MAX_DEPTH = 60


def encode(value: Any) -> Tuple[Any, bool]:
    """(JSON value, exact?)."""
    state = [True]
    return _encode(value, state, 0), state[0]


def _encode(value: Any, state: Any, depth: int) -> Any:
    kind = type(value)
    if value is None or kind is bool or kind is str or kind is int:
        return value
    if kind is float:
        return value if math.isfinite(value) else {_TAG: "float", "v": repr(value)}
    if depth > _MAX_DEPTH:
        state[0] = False
        return _described(value)
    if kind is list:
        return [_encode(item, state, depth + 1) for item in value]
    if kind is dict:
        if all(type(key) is str for key in value) and _TAG not in value:
            return {key: _encode(item, state, depth + 1) for key, item in value.items()}
        return {_TAG: "dict", "v": [[_encode(k, state, depth + 1), _encode(v, state, depth + 1)] for k, v in value.items()]}
    if kind is tuple:
        return {_TAG: "tuple", "v": [_encode(item, state, depth + 1) for item in value]}
    if kind is bytes or kind is bytearray:
        return {_TAG: kind.__name__, "v": base64.b64encode(bytes(value)).decode("ascii")}
    if kind is set or kind is frozenset:
        try:
            items = sorted(value)
        except TypeError:
            items = sorted(value, key=repr)
        return {_TAG: kind.__name__, "v": [_encode(item, state, depth + 1) for item in items]}
    if kind in (datetime.datetime, datetime.date, datetime.time):
        if getattr(value, "tzinfo", None) is None or type(value.tzinfo) is datetime.timezone:
            return {_TAG: kind.__name__, "v": value.isoformat()}
    elif kind is datetime.timedelta:
        return {_TAG: "timedelta", "v": [value.days, value.seconds, value.microseconds]}
    elif kind is decimal.Decimal or kind is uuid.UUID:
        return {_TAG: kind.__name__, "v": str(value)}
    elif isinstance(value, pathlib.PurePath):
        return {_TAG: kind.__name__, "v": str(value)}
    elif kind is complex:
        return {_TAG: "complex", "v": [value.real, value.imag]}
    state[0] = False
    return _described(value)


def _described(value: Any) -> Any:
    """For people: a model's or dataclass's fields where it has them, else a repr without the address."""
    kind = type(value)
    out: Dict[str, Any] = {_TAG: "object", "class": "%s.%s" % (kind.__module__, kind.__qualname__)}
    try:
        fields = value.model_dump(mode="json") if hasattr(value, "model_dump") else vars(value)
        out["fields"] = {str(k): _encode(v, [True], _MAX_DEPTH) if not _plain(v) else v for k, v in fields.items()}
    except Exception:
        try:
            shown = repr(value)
        except Exception:
            shown = "<no repr>"
        out["repr"] = shown if " at 0x" not in shown else object.__repr__(value).split(" at 0x")[0] + ">"
    return out


def _plain(value: Any) -> bool:
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


_SCALARS: Dict[str, Callable[[Any], Any]] = {
    "float": float,
    "bytes": lambda v: base64.b64decode(v),
    "bytearray": lambda v: bytearray(base64.b64decode(v)),
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "timedelta": lambda v: datetime.timedelta(*v),
    "Decimal": decimal.Decimal,
    "UUID": uuid.UUID,
    "complex": lambda v: complex(*v),
}
_MANY: Dict[str, Callable[[Any], Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset}


def decode(value: Any) -> Any:
    """The value that ``encode`` was given, if it said exact."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    tag = value.get(_TAG)
    if tag is None:
        return {key: decode(item) for key, item in value.items()}
    if tag in _SCALARS:
        return _SCALARS[tag](value["v"])
    if tag in _MANY:
        return _MANY[tag](decode(item) for item in value["v"])
    if tag == "dict":
        return {decode(key): decode(item) for key, item in value["v"]}
    path = getattr(pathlib, str(tag), None)
    if isinstance(path, type) and issubclass(path, pathlib.PurePath):
        return path(value["v"])
    return value

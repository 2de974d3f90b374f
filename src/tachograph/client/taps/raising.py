"""Raise again what the recording raised: the same class with the same message, arguments and cause, built from data, never unpickled.

Only classes of modules that are loaded already are looked up, and no constructor written in Python is run: a recording cannot make a
replay import or execute something of its choice. The text of a rebuilt exception is always the recorded one, since agents show it to
their models.
"""

from __future__ import annotations

import sys
from typing import Any, Dict, List, Optional, Type

from .. import effects

_MAX_DEPTH = 4
_MAX_TEXT = 65536
_TAG = "$as"


def describe(error: BaseException) -> Dict[str, Any]:
    """``effects.describe`` and the arguments, file names and plain attributes: what ``except`` blocks look at."""
    return _describe(error, 0)


def _describe(error: BaseException, depth: int) -> Dict[str, Any]:
    out = effects.describe(error)
    cause = error.__cause__ or error.__context__
    if cause is not None and "cause" in out:
        out.pop("cause")
        if depth < _MAX_DEPTH:
            out["cause"] = _describe(cause, depth + 1)
            if error.__cause__ is None:
                out["implicit"] = True  # not "the direct cause", but "during handling of"
    out["args"] = [_encode(value, depth) for value in error.args]
    if isinstance(error, OSError) and error.filename is not None:
        out["filename"] = _encode(error.filename, depth)
    attributes = {}
    for name, value in list(getattr(error, "__dict__", {}).items()):
        if isinstance(name, str) and not name.startswith("__"):
            encoded = _encode(value, depth)
            if not (isinstance(encoded, dict) and encoded[_TAG] == "shown"):
                attributes[name] = encoded
    if attributes:
        out["attributes"] = attributes
    return out


def _encode(value: Any, depth: int) -> Any:
    if value is None or type(value) in (bool, int, float):
        return value
    if type(value) is str:
        return value[:_MAX_TEXT]
    if isinstance(value, bytes):
        return {_TAG: "bytes", "v": value[:_MAX_TEXT].decode("latin-1")}  # as text, so that redaction sees it
    if depth < _MAX_DEPTH:
        if isinstance(value, BaseException):
            return {_TAG: "error", "v": _describe(value, depth + 1)}
        if type(value) in (list, tuple):
            return {_TAG: type(value).__name__, "v": [_encode(item, depth + 1) for item in value[:100]]}
        if type(value) is dict and all(type(key) is str for key in value) and len(value) <= 100:
            return {_TAG: "dict", "v": {key: _encode(item, depth + 1) for key, item in value.items()}}
    try:
        return {_TAG: "shown", "v": repr(value)[:_MAX_TEXT]}
    except Exception:
        return {_TAG: "shown", "v": object.__repr__(value)}


class _Shown:
    """Stands for a value that is no data: it reads as the recorded one did, memory address included."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kind, found = value.get(_TAG), value.get("v")
    if kind == "bytes":
        return str(found).encode("latin-1", "replace")
    if kind == "error":
        return rebuild(found, Exception) if isinstance(found, dict) else Exception(str(found))
    if kind in ("list", "tuple") and isinstance(found, list):
        items = [_decode(item) for item in found]
        return items if kind == "list" else tuple(items)
    if kind == "dict" and isinstance(found, dict):
        return {key: _decode(item) for key, item in found.items()}
    return _Shown(str(found))


def rebuild(error: Dict[str, Any], fallback: Type[BaseException]) -> BaseException:
    """The exception of ``describe``'s (or ``effects.describe``'s) data. ``fallback`` is the library's general error, for a class that
    is no more."""
    message = str(error.get("message", ""))
    arguments = [_decode(value) for value in error["args"]] if isinstance(error.get("args"), list) else None
    out = _make(find(error) or fallback, error, message, arguments)
    attributes = error.get("attributes")
    if isinstance(attributes, dict):
        for name, value in attributes.items():
            _set(out, name, _decode(value))
    cause = error.get("cause")
    if isinstance(cause, dict):
        if error.get("implicit"):
            out.__context__ = rebuild(cause, Exception)
        else:
            out.__cause__ = rebuild(cause, Exception)
    return _saying(out, message)


def find(error: Dict[str, Any]) -> Optional[Type[BaseException]]:
    """The class that the data names, if its module is loaded and it is an exception."""
    module = sys.modules.get(str(error.get("module")))
    cls = getattr(module, str(error.get("type")), None)
    return cls if isinstance(cls, type) and issubclass(cls, BaseException) else None


def _make(cls: Type[BaseException], error: Dict[str, Any], message: str, arguments: Optional[List[Any]]) -> BaseException:
    given = [message] if arguments is None else arguments
    if issubclass(cls, OSError) and isinstance(error.get("errno"), int):
        # ``args`` leaves the file name out.
        system = [error["errno"], error.get("strerror")]
        if error.get("filename") is not None:
            system.append(_decode(error["filename"]))
        try:
            if _built_in(cls):
                return cls(*system)
            failed: Any = cls.__new__(cls)
            OSError.__init__(failed, *system)
            failed.args = tuple(system[:2] if arguments is None else given)
            return failed  # type: ignore[no-any-return]
        except Exception:
            given = [message]
    try:
        if _built_in(cls):
            return cls(*given)
        made = cls.__new__(cls, *given)
    except Exception:
        try:
            made = cls.__new__(cls)
        except Exception:
            return Exception(message)  # a class that wants what the record does not hold (a group without its members)
    made.args = tuple(given)
    return made


def _built_in(cls: Type[BaseException]) -> bool:
    """Whether constructing it runs no Python code."""
    return all(not hasattr(cls.__dict__.get(name), "__code__") for cls in cls.__mro__ for name in ("__init__", "__new__"))


def _set(out: BaseException, name: str, value: Any) -> None:
    if isinstance(name, str) and not name.startswith("__"):
        out.__dict__[name] = value


def _saying(out: BaseException, message: str) -> BaseException:
    try:
        if str(out) == message:
            return out
    except Exception:
        out.args = (message,)
    cls = type(out)
    body = {"__str__": lambda self: message, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
    try:
        out.__class__ = type(cls.__name__, (cls,), body)
    except TypeError:  # a built-in class cannot be swapped for its subclass
        out.args = (message,)
    return out

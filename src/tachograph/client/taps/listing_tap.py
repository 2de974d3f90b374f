"""os.listdir, os.scandir: which names a folder has, and in which order. ``os.walk``, ``glob`` and ``pathlib`` ask these.

The order of names is the file system's whim, so a replay gives the recorded one. ``scandir`` gives real entries in the recorded order:
what is gone is left out, what is new is not shown. What imports modules looks at what is there now.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any, Callable, Iterator, List

from .. import ambient
from .patching import wrap_builtin

#: Names of one folder that are kept. A larger one is looked at as it is now.
MOST = 4096
#: Who looks for code to run, and not for something to tell.
_IMPORTING = frozenset(("importlib", "importlib_metadata", "pkgutil", "pkg_resources", "setuptools", "site", "stevedore"))


def install(module: ModuleType) -> None:
    """Wrap the functions of ``os``."""
    if ambient.wants("listing"):
        wrap_builtin(module, "listdir", _listdir)
        wrap_builtin(module, "scandir", _scandir)


def _importing() -> bool:
    return str(sys._getframe(2).f_globals.get("__name__")).split(".", 1)[0] in _IMPORTING


def _told(look: Callable[[], List[Any]]) -> Any:
    """Names as text, ``{"error": [number, text]}``, or None for too many."""
    try:
        names = look()
    except OSError as error:
        return {"error": [error.errno, error.strerror]}
    return [os.fsdecode(name) for name in names] if len(names) <= MOST else None


def _raise(found: Any, path: Any) -> None:
    if isinstance(found, dict):
        number, text = found["error"]
        raise OSError(number, text, path)


def _listdir(original: Callable[..., List[Any]]) -> Callable[..., List[Any]]:
    def listdir(path: Any = None) -> List[Any]:
        if _importing():
            return original(path)
        seen: List[Any] = []

        def look() -> List[Any]:
            seen.extend(original(path))
            return seen

        found = ambient.read("listing.listdir", lambda: _told(look))
        _raise(found, path)
        if found is None:
            return seen or original(path)
        if seen:
            return seen
        return [os.fsencode(name) for name in found] if isinstance(path, bytes) else list(found)

    return listdir


class _Entries:
    """As ``os.scandir`` gives them: an iterator that can be closed."""

    def __init__(self, entries: List[Any]) -> None:
        self._entries: Iterator[Any] = iter(entries)

    def __iter__(self) -> "_Entries":
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def close(self) -> None:
        self._entries = iter(())

    def __enter__(self) -> "_Entries":  # noqa: PYI034 - Python 3.9 has no Self
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_Entries.__name__ = _Entries.__qualname__ = "ScandirIterator"


def _scandir(original: Callable[..., Any]) -> Callable[..., Any]:
    def scandir(path: Any = None) -> Any:
        if _importing():
            return original(path)
        seen: List[Any] = []

        def look() -> List[Any]:
            with original(path) as entries:
                seen.extend(entries)
            return [entry.name for entry in seen]

        found = ambient.read("listing.scandir", lambda: _told(look))
        _raise(found, path)
        if found is not None and not seen and found:
            with original(path) as entries:
                there = {os.fsdecode(entry.name): entry for entry in entries}
            seen = [there[name] for name in found if name in there]
        elif found is None and not seen:
            return original(path)
        return _Entries(seen)

    return scandir

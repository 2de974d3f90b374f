"""How a tap replaces a function or method of somebody else's: once, and so that it still looks like the original."""

from __future__ import annotations

import functools
from typing import Any, Callable

_MARK = "__tachograph__"


def wrap(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """``owner.name`` becomes ``make(original)``; for a class method, ``original`` is its function. Raises AttributeError where there is
    no such thing (another version of the library); does nothing where it is wrapped already (a module that was executed again)."""
    original = getattr(owner, name)
    of_class = isinstance(getattr(owner, "__dict__", {}).get(name), classmethod)
    if of_class:
        original = original.__func__
    if not getattr(original, _MARK, False):
        replacement = functools.wraps(original)(make(original))
        setattr(replacement, _MARK, True)
        setattr(owner, name, classmethod(replacement) if of_class else replacement)

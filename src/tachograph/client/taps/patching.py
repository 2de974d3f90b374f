"""How a tap replaces a function or method of somebody else's: once, and so that it still looks like the original."""

from __future__ import annotations

import functools
import sys
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


def mark(function: Any) -> None:
    """Say that this is one of ours."""
    setattr(function, _MARK, True)


def marked(function: Any) -> bool:
    """Whether it is one of ours."""
    return bool(getattr(function, _MARK, False))


class Builtin(staticmethod):  # type: ignore[type-arg]
    """A Python function in the place of one that is written in C: as an attribute of a class it does not become a method
    (``timer = time.perf_counter``), and it is pickled and copied by its name."""

    if sys.version_info < (3, 10):

        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            functools.update_wrapper(self, function)

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return self.__func__(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> "Builtin":
        return self

    def __reduce__(self) -> str:
        return str(self.__qualname__)

    def __repr__(self) -> str:
        return "<built-in function %s>" % (self.__name__,)


def wrap_builtin(module: Any, name: str, make: Callable[[Any], Any]) -> None:
    """As ``wrap``, for a function of a module that is written in C."""
    original = getattr(module, name)
    if not getattr(original, _MARK, False):
        replacement = functools.wraps(original)(make(original))
        setattr(replacement, _MARK, True)
        setattr(module, name, Builtin(replacement))

"""time, datetime: what the clock says.

The clock on the wall (kind ``clock``) and the ones that only measure (``monotonic``). The latter stay real where the standard library's
own waiting machinery reads them (``ambient.WAITING``): they say when an event loop goes on, and a loop whose clock stands never does.

``datetime.now`` and ``utcnow`` read the system's clock in C; they are replaced in the type's own dictionary, so that subclasses and
methods that somebody holds have the new ones, and ``type(x) is datetime`` stays true. ``today`` asks ``time.time`` and follows.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Callable, List

from .. import ambient
from ..real import time_ns
from .patching import mark, marked, wrap_builtin

_WALL = ("time", "time_ns")
_MEASURING = (
    "monotonic",
    "monotonic_ns",
    "perf_counter",
    "perf_counter_ns",
    "process_time",
    "process_time_ns",
    "thread_time",
    "thread_time_ns",
)
#: Methods that were replaced in C types. The interpreter remembers what it found there, without owning it.
_replaced: List[Any] = []
_UTCNOW = (
    "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. Use timezone-aware objects to represent "
    "datetimes in UTC: datetime.datetime.now(datetime.UTC)."
)


def install(module: ModuleType) -> None:
    """Wrap the clocks of ``time`` or ``datetime``."""
    if module.__name__ == "datetime":
        if ambient.wants("clock"):
            _install_datetime(module)
        return
    if ambient.wants("clock"):
        _install_broken_down(module)
    for kind, names in (("clock", _WALL), ("monotonic", _MEASURING)):
        if ambient.wants(kind):
            for name in names:
                if hasattr(module, name):
                    wrap_builtin(module, name, _reader("%s.%s" % (kind, name)))
    for name in ("clock_gettime", "clock_gettime_ns"):
        if hasattr(module, name):
            wrap_builtin(module, name, _by_number(module, name))


def _reader(kind: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def make(original: Callable[[], Any]) -> Callable[[], Any]:
        read = ambient.read

        def clock() -> Any:
            return read(kind, original)

        return clock

    return make


def _by_number(module: Any, name: str) -> Callable[[Callable[[int], Any]], Callable[[int], Any]]:
    wall = {getattr(module, clock) for clock in ("CLOCK_REALTIME", "CLOCK_TAI") if hasattr(module, clock)}

    def make(original: Callable[[int], Any]) -> Callable[[int], Any]:
        def clock_gettime(clk_id: int, /) -> Any:
            kind = "clock" if clk_id in wall else "monotonic"
            if not ambient.wants(kind) or not isinstance(clk_id, int):
                return original(clk_id)
            return ambient.read("%s.%s:%d" % (kind, name, clk_id), lambda: original(clk_id))

        return clock_gettime

    return make


def _install_broken_down(module: Any) -> None:
    """``localtime()`` and its like: without a moment they take the present one."""
    now = module.time if not marked(module.time) else module.time.__wrapped__
    local = module.localtime

    def of_moment(original: Callable[..., Any]) -> Callable[..., Any]:
        def broken_down(*args: Any) -> Any:
            if args and args[0] is not None:
                return original(*args)
            return original(ambient.read("clock.time", now), *args[1:])

        return broken_down

    def of_fields(original: Callable[..., Any]) -> Callable[..., Any]:
        def asctime(*args: Any) -> Any:
            return original(*args) if args else original(local(ambient.read("clock.time", now)))

        return asctime

    def formatted(original: Callable[..., Any]) -> Callable[..., Any]:
        def strftime(*args: Any) -> Any:
            return original(*args) if len(args) != 1 else original(args[0], local(ambient.read("clock.time", now)))

        return strftime

    for name in ("localtime", "gmtime", "ctime"):
        wrap_builtin(module, name, of_moment)
    wrap_builtin(module, "asctime", of_fields)
    wrap_builtin(module, "strftime", formatted)


def _install_datetime(module: Any) -> None:
    kind = module.datetime
    from_timestamp = kind.__dict__["fromtimestamp"]
    utc = module.timezone.utc

    def microseconds() -> int:
        return time_ns() // 1000

    def now(cls: Any, tz: Any = None) -> Any:
        return from_timestamp.__get__(None, cls)(ambient.read("clock.datetime", microseconds) / 1e6, tz)

    def utcnow(cls: Any) -> Any:
        if sys.version_info >= (3, 12):
            import warnings

            warnings.warn(_UTCNOW, DeprecationWarning, stacklevel=2)
        return from_timestamp.__get__(None, cls)(ambient.read("clock.datetime", microseconds) / 1e6, utc).replace(tzinfo=None)

    import gc

    if marked(getattr(kind.__dict__["now"], "__func__", None)):
        return
    fields = next((found for found in gc.get_referents(kind.__dict__) if isinstance(found, dict)), None)
    if sys.implementation.name != "cpython" or fields is None or "now" not in fields:
        raise RuntimeError("datetime.now cannot be replaced in this Python")
    for function in (now, utcnow):
        name = function.__name__
        function.__qualname__ = "datetime." + name
        function.__module__ = "datetime"
        function.__doc__ = fields[name].__doc__
        mark(function)
        _replaced.append(fields[name])
        fields[name] = classmethod(function)
    if not marked(getattr(kind.now, "__func__", None)):
        # Somebody has called it before, and the interpreter remembers what it found.
        import ctypes

        ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))

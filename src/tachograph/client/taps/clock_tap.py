"""time: what the clock says.

The clock on the wall (kind ``clock``) and the ones that only measure (``monotonic``). The latter stay real where the standard library's
own waiting machinery reads them (``ambient.WAITING``): they say when an event loop goes on, and a loop whose clock stands never does.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable

from .. import ambient
from .patching import wrap_builtin

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


def install(module: ModuleType) -> None:
    """Wrap the clocks of ``time``."""
    for kind, names in (("clock", _WALL), ("monotonic", _MEASURING)):
        if ambient.wants(kind):
            for name in names:
                if hasattr(module, name):
                    wrap_builtin(module, name, _reader("%s.%s" % (kind, name)))


def _reader(kind: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def make(original: Callable[[], Any]) -> Callable[[], Any]:
        read = ambient.read

        def clock() -> Any:
            return read(kind, original)

        return clock

    return make

"""Event loops: what ``lanes.install_asyncio`` leaves to do.

* An async generator that was not read to its end is closed by a task that the loop makes when the garbage is collected. When that is
  depends on timing, so these tasks are numbered where they shift nobody's numbers.
* uvloop has a ``create_task`` of its own.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable

from .. import lanes, sites
from .patching import wrap


def install(module: ModuleType) -> None:
    """Wrap the loop class of this module."""
    if module.__name__ == "uvloop":
        loop: Any = module.Loop
        wrap(loop, "create_task", _numbered)
    else:
        loop = module.base_events.BaseEventLoop
    wrap(loop, "_asyncgen_finalizer_hook", _aside)


def _aside(original: Callable[..., Any]) -> Callable[..., Any]:
    def asyncgen_finalizer_hook(self: Any, agen: Any) -> None:
        here = lanes.current()
        token = lanes.enter(lanes.Lane(here.path + "/agen", call=here.call, real=here.real))
        try:
            original(self, agen)
        finally:
            lanes.leave(token)

    return asyncgen_finalizer_hook


def _numbered(original: Callable[..., Any]) -> Callable[..., Any]:
    def create_task(self: Any, coro: Any, **kwargs: Any) -> Any:
        if kwargs.get("context") is not None:
            return lanes.in_its_own(original(self, coro, **kwargs))
        here = lanes.current()
        token = lanes.enter(here.child("task", None if here.real else sites.of_start(here.origin)))
        try:
            return lanes.numbered(original(self, coro, **kwargs))
        finally:
            lanes.leave(token)

    return create_task

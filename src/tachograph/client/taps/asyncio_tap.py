"""asyncio tasks get their lanes (``lanes.install_asyncio``) as soon as there is an asyncio, and sets of tasks an order.

A set of tasks is in the order of their addresses, which differs from run to run. Where asyncio itself hands one out or goes through one
(``wait``, ``as_completed``, ``all_tasks``, a ``TaskGroup`` that cancels), it is in the order in which the tasks were made. Sets that the agent makes
itself are its own.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable, Iterator

from .. import lanes, link
from .patching import wrap


def install(module: ModuleType) -> None:
    """Number tasks by their creation."""
    lanes.install_asyncio()
    tasks: Any = module.tasks
    for name, make in (("wait", _wait), ("as_completed", _as_completed), ("all_tasks", _all_tasks)):
        wrap(tasks, name, make)
        setattr(module, name, getattr(tasks, name))
    groups: Any = getattr(module, "taskgroups", None)
    if groups is not None:
        wrap(groups.TaskGroup, "__init__", _group)


class _InOrder(set):  # type: ignore[type-arg]
    """A set of tasks, in the order in which they were made."""

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(set.__iter__(self), key=lanes.task_number))


def _wait(original: Callable[..., Any]) -> Callable[..., Any]:
    async def wait(fs: Any, **more: Any) -> Any:
        done, pending = await original(fs, **more)
        return _InOrder(done), _InOrder(pending)

    return wait


class _Tasks:
    """Tasks of awaitables, made in the order of these when somebody goes through them. (A generator would count as a coroutine.)"""

    def __init__(self, awaitables: Any, made: Callable[[Any], Any]) -> None:
        self._awaitables = awaitables
        self._made = made

    def __iter__(self) -> Iterator[Any]:
        return iter([self._made(awaitable) for awaitable in dict.fromkeys(self._awaitables)])


def _as_completed(original: Callable[..., Any]) -> Callable[..., Any]:
    def as_completed(fs: Any, **more: Any) -> Any:
        import asyncio

        if link.get() is None or asyncio.isfuture(fs) or asyncio.iscoroutine(fs) or not hasattr(fs, "__iter__"):
            return original(fs, **more)
        return original(_Tasks(fs, asyncio.ensure_future), **more)

    return as_completed


def _all_tasks(original: Callable[..., Any]) -> Callable[..., Any]:
    def all_tasks(*args: Any, **kwargs: Any) -> Any:
        return _InOrder(original(*args, **kwargs))

    return all_tasks


def _group(original: Callable[..., Any]) -> Callable[..., Any]:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self._tasks = _InOrder(self._tasks)

    return init

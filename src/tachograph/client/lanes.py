"""Lanes: a name for every thread of control that is the same in every run.

A lane is a path: ``main``, ``main/thread-1``, ``main/task-2``, ``main/proc-1/main``. Children are numbered by their parent in the
order of creation, so the names do not depend on scheduling, pids or memory addresses.

While a *real* call runs (a socket is opened, an SDK starts helper tasks) its inner threads and tasks are numbered in a scope of
their own: they exist only while recording, and must not shift the numbers of the agent's own children in a replay.

``contextvars`` carry the lane into asyncio tasks; ``Thread`` and executors lose them, so ``install`` wraps these.
"""

from __future__ import annotations

import _thread
import contextvars
import functools
import itertools
import os
import sys
import threading
from typing import Any, Callable, Dict, Iterator, Optional


class Lane:
    """One thread of control. ``call`` is the number of the tapped call it is inside of, ``real`` whether that call runs for real."""

    __slots__ = ("_counts", "call", "path", "real")

    def __init__(self, path: str, *, call: Optional[int] = None, real: bool = False) -> None:
        self.path = path
        self.call = call
        self.real = real
        self._counts: Dict[str, Iterator[int]] = {}

    def child(self, kind: str) -> "Lane":
        """The next child lane of that kind. Inside a real call, children belong to that call and are not answered in a replay."""
        count = self._counts.setdefault(kind, itertools.count(1))
        return Lane("%s/%s-%d" % (self.path, kind, next(count)), call=self.call, real=self.real)

    def inside(self, call: int, *, real: bool) -> "Lane":
        """The same thread of control while it is inside a call. A tool's inside is still the agent (its children count on);
        the inside of a real exchange is not."""
        if not real:
            scope = Lane(self.path, call=call, real=self.real)
            scope._counts = self._counts
            return scope
        return Lane("%s/call-%d" % (self.path, call), call=call, real=True)


_current: "contextvars.ContextVar[Lane]" = contextvars.ContextVar("tachograph_lane")
_root = Lane(os.environ.get("TACHO_LANE") or "main")
#: Lanes of threads that were started without our knowing (C extensions, early threads), by thread ident.
_foreign = threading.local()


def current() -> Lane:
    """The lane of the running code."""
    try:
        return _current.get()
    except LookupError:
        if threading.current_thread() is threading.main_thread():
            return _root
        lane = getattr(_foreign, "lane", None)
        if lane is None:
            lane = _foreign.lane = _root.child("thread")
        return lane


#: Whether this process ever started one that is connected, or will be.
_company = False


def in_company() -> None:
    """This process starts another one."""
    global _company
    _company = True


def alone() -> bool:
    """Whether nothing else of this session can run while the running code waits: no other thread (but the one that reads from the host), no
    event loop around it, no child. Only for the replay, which need not look whether it does."""
    if _company or _thread._count() > 1:
        return False
    loops = sys.modules.get("asyncio.events")
    return loops is None or loops._get_running_loop() is None


def enter(lane: Lane) -> "contextvars.Token[Lane]":
    """Make ``lane`` current in this context; give the token to ``leave``."""
    return _current.set(lane)


def leave(token: "contextvars.Token[Lane]") -> None:
    """Undo ``enter``. A token of another context (an async generator closed elsewhere) cannot be undone there and need not be."""
    try:
        _current.reset(token)
    except ValueError:
        return


def root() -> Lane:
    """The process's own lane."""
    return _root


def rename_root(path: str) -> None:
    """A forked child is a lane of its own."""
    global _root
    _root = Lane(path)
    _current.set(_root)


def child_process_lane(kind: str = "proc") -> str:
    """The lane for a process that is about to be started from here."""
    return current().child(kind).path


def _in_lane(lane: Lane, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    token = _current.set(lane)
    try:
        return run(*args, **kwargs)
    finally:
        leave(token)


def install() -> None:
    """Carry lanes across ``Thread.start`` and ``ThreadPoolExecutor.submit``."""
    _current.set(_root)
    start = threading.Thread.start

    @functools.wraps(start)
    def start_in_lane(self: threading.Thread) -> None:
        lane = current().child("thread")
        run = self.run
        self.run = functools.partial(_in_lane, lane, run)  # type: ignore[method-assign]
        start(self)

    threading.Thread.start = start_in_lane  # type: ignore[method-assign]

    import concurrent.futures.thread as pool

    submit: Any = pool.ThreadPoolExecutor.submit

    @functools.wraps(submit)
    def submit_in_lane(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        # A pool's worker threads are shared: the lane belongs to the piece of work, not to the thread. Whether this submit
        # also starts a worker depends on timing, so the worker is numbered where it can shift nobody.
        here = current()
        work = functools.partial(_in_lane, here.child("work"), fn)
        return _in_lane(Lane(here.path + "/pool", call=here.call, real=here.real), submit, self, work, *args, **kwargs)

    pool.ThreadPoolExecutor.submit = submit_in_lane  # type: ignore[method-assign]


def install_asyncio() -> None:
    """Number asyncio tasks by creation (called when asyncio is first imported)."""
    import asyncio.base_events as base

    create_task = base.BaseEventLoop.create_task

    @functools.wraps(create_task)
    def create_task_in_lane(self: Any, coro: Any, **kwargs: Any) -> Any:
        if kwargs.get("context") is not None:
            return create_task(self, coro, **kwargs)  # the caller's own context, which is not ours to write into
        token = _current.set(current().child("task"))  # the task copies the context as it is now
        try:
            return create_task(self, coro, **kwargs)
        finally:
            leave(token)

    base.BaseEventLoop.create_task = create_task_in_lane  # type: ignore[method-assign]

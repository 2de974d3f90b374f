"""Lanes: a name for every thread of control that is the same in every run.

A lane is a path: ``main``, ``main/thread-1``, ``main/task-2``, ``main/proc-1/main``. Children are numbered by their parent in the
order of creation, so the names do not depend on scheduling, pids or memory addresses.

While a *real* call runs (a socket is opened, an SDK starts helper tasks) its inner threads and tasks are numbered in a scope of
their own: they exist only while recording, and must not shift the numbers of the agent's own children in a replay.

``contextvars`` carry the lane into asyncio tasks; ``Thread`` and executors lose them, so ``install`` wraps these.
"""

from __future__ import annotations

import _thread
import contextlib
import contextvars
import functools
import itertools
import os
import sys
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional

from . import holding, sites


class Lane:
    """One thread of control. ``call`` is the number of the tapped call it is inside of, ``real`` whether that call runs for real.
    ``base``: what its children and turns are named after. That is ``path``, but for the inside of a tool: a tool that is answered does not
    run, and what it would have started must not shift the numbers of what the agent starts. ``origin``: the agent's code that started it."""

    __slots__ = ("_counts", "base", "call", "origin", "parent", "path", "real")

    def __init__(
        self, path: str, *, base: Optional[str] = None, call: Optional[int] = None, real: bool = False, origin: Optional[str] = None
    ) -> None:
        self.path = path
        self.base = base or path
        self.call = call
        self.real = real
        self.origin = origin
        self.parent: Optional[Lane] = None
        self._counts: Dict[str, Iterator[int]] = {}

    def child(self, kind: str, origin: Optional[str] = None) -> "Lane":
        """The next child lane of that kind. Inside a real call, children belong to that call and are not answered in a replay."""
        return Lane("%s/%s-%d" % (self.base, kind, self.number(kind)), call=self.call, real=self.real, origin=origin)

    def thread(self, kind: str, origin: Optional[str]) -> "Lane":
        """As ``child``, for what runs in a thread of its own; it knows whose it is."""
        lane = self.child(kind, origin)
        lane.parent = self
        return lane

    def came_from(self, lane: "Lane") -> bool:
        """Whether that lane started this thread, or the one that started it, and so on."""
        above = self.parent
        while above is not None:
            if above is lane:
                return True
            above = above.parent
        return False

    def number(self, kind: str) -> int:
        """How many of that kind there were, with this one."""
        return next(self._counts.setdefault(kind, itertools.count(1)))

    def tool(self) -> str:
        """The base of the inside of the tool that is called next."""
        return "%s/tool-%d" % (self.base, self.number("tool"))

    def inside(self, call: int, *, real: bool, base: Optional[str] = None) -> "Lane":
        """The same thread of control while it is inside a call. A tool's inside (``base``, of ``tool``) is still the agent; the inside of a
        real exchange is not."""
        if not real:
            scope = Lane(self.path, base=base or self.base, call=call, real=self.real, origin=self.origin)
            scope.parent = self.parent
            return scope
        return Lane("%s/call-%d" % (self.path, call), call=call, real=True)


_current: "contextvars.ContextVar[Lane]" = contextvars.ContextVar("tachograph_lane")
_root = Lane(os.environ.get("TACHO_LANE") or "main")
#: Lanes of threads that were started without our knowing (C extensions, early threads), by thread ident.
_foreign = threading.local()
#: The lane that a thread, or the work that it does, was given.
_threads = threading.local()


def current() -> Lane:
    """The lane of the running code."""
    try:
        lane = _current.get()
        here: Optional[Lane] = (_task_lane() if _chosen else None) or getattr(_threads, "lane", None)
        # Work may bring along a copy of the context of who submitted it (LangChain's pools, ``asyncio.to_thread``): that is another thread's.
        return here if here is not None and here.came_from(lane) else lane
    except LookupError:
        if threading.current_thread() is threading.main_thread():
            return _root
        own: Optional[Lane] = getattr(_foreign, "lane", None)
        if own is None:
            own = _foreign.lane = _root.child("thread")
        return own


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


def rounds() -> Optional[int]:
    """The round of the event loop that runs here; None where none does."""
    loops = sys.modules.get("asyncio.events")
    if loops is None:
        return None
    loop = loops._get_running_loop()
    return None if loop is None else getattr(loop, "_tacho_round", None)


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


def _of_thread(lane: Lane, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    before = getattr(_threads, "lane", None)
    _threads.lane = lane
    try:
        return in_lane(lane, run, *args, **kwargs)
    finally:
        _threads.lane = before


def in_lane(lane: Lane, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call ``run`` as that lane."""
    token = _current.set(lane)
    try:
        return run(*args, **kwargs)
    finally:
        leave(token)


#: Told which piece of work is being submitted; gives what it was told before (``taps/work_tap``).
SUBMITTING: List[Callable[[Optional[str]], Optional[str]]] = []


@contextlib.contextmanager
def submitting(lane: Optional[str]) -> Iterator[None]:
    """A future that is made in here is that work's."""
    before = [tell(lane) for tell in SUBMITTING]
    try:
        yield
    finally:
        for tell, was in zip(SUBMITTING, before):
            tell(was)


def install() -> None:
    """Carry lanes across ``Thread.start`` and ``ThreadPoolExecutor.submit``."""
    _current.set(_root)
    start = threading.Thread.start

    @functools.wraps(start)
    def start_in_lane(self: threading.Thread) -> None:
        here = current()
        lane = here.thread("thread", None if here.real else sites.of_start(here.origin))
        run = self.run
        self.run = functools.partial(_of_thread, lane, run)  # type: ignore[method-assign]
        start(self)

    threading.Thread.start = start_in_lane  # type: ignore[method-assign]

    import concurrent.futures.thread as pool

    submit: Any = pool.ThreadPoolExecutor.submit

    @functools.wraps(submit)
    def submit_in_lane(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        # A pool's worker threads are shared: the lane belongs to the piece of work, not to the thread. Whether this submit
        # also starts a worker depends on timing, so the worker is numbered where it can shift nobody.
        here = current()
        lane = here.thread("work", None if here.real else sites.of_start(here.origin))
        work = functools.partial(_of_thread, lane, fn)
        with submitting(lane.path if not here.real else None):
            return in_lane(Lane(here.path + "/pool", call=here.call, real=here.real), submit, self, work, *args, **kwargs)

    pool.ThreadPoolExecutor.submit = submit_in_lane  # type: ignore[method-assign]


#: How many event loops have run in this process. Each counts its rounds from another number on, so that a round says whose it is.
_loops = itertools.count(1)
_ROUND_BITS = 32
#: More rounds than are told apart (``host/order.py``).
SLEPT = 1024
#: How many tasks there were in this process.
_tasks = itertools.count(1)


def numbered(task: Any) -> Any:
    """The task, which remembers when it was made."""
    try:
        task._tacho_number = next(_tasks)
    except AttributeError:
        return task  # somebody's own class, without room for it
    return task


#: Whether there ever was a task with a context of the caller's choice.
_chosen = False


def in_its_own(task: Any) -> Any:
    """A task that runs in a context of the caller's choice, which mostly is a copy of the caller's and says the caller's lane, is a lane all the
    same. Not the one that a loop is started with: who starts it waits for it."""
    global _chosen
    if sys.modules["asyncio.events"]._get_running_loop() is not None:
        here = current()
        try:
            task._tacho_lane = here.thread("task", None if here.real else sites.of_start(here.origin))
            _chosen = True
        except AttributeError:
            return task  # somebody's own class, without room for it
    return numbered(task)


def _task_lane() -> Optional[Lane]:
    loop = sys.modules["asyncio.events"]._get_running_loop()
    return None if loop is None else getattr(sys.modules["asyncio.tasks"].current_task(loop), "_tacho_lane", None)


def task_number(task: Any) -> int:
    """How many tasks there were when it was made; 0 for what is none of ours."""
    number = getattr(task, "_tacho_number", 0)
    return number if isinstance(number, int) else 0


def install_asyncio() -> None:
    """Number asyncio tasks by creation (called when asyncio is first imported)."""
    import asyncio.base_events as base

    create_task = base.BaseEventLoop.create_task

    @functools.wraps(create_task)
    def create_task_in_lane(self: Any, coro: Any, **kwargs: Any) -> Any:
        if kwargs.get("context") is not None:
            return in_its_own(create_task(self, coro, **kwargs))  # the caller's own context, which is not ours to write into
        here = current()
        lane = here.child("task", None if here.real else sites.of_start(here.origin))
        token = _current.set(lane)  # the task copies the context as it is now
        try:
            return numbered(create_task(self, coro, **kwargs))
        finally:
            leave(token)

    base.BaseEventLoop.create_task = create_task_in_lane  # type: ignore[method-assign]

    run_once: Any = base.BaseEventLoop._run_once  # type: ignore[attr-defined]

    @functools.wraps(run_once)
    def run_round(self: Any) -> None:
        # A loop that has nothing to do may sleep: what follows is far from what was before.
        inbox = self._tacho_inbox
        while inbox:
            self._ready.append(inbox.popleft())
        now = getattr(self, "_tacho_round", 0) or next(_loops) << _ROUND_BITS
        self._tacho_round = now + (1 if self._ready else SLEPT)
        if holding.HELD:
            holding.before_round(self)
        run_once(self)

    run_round._tacho_rounds = True  # type: ignore[attr-defined]
    base.BaseEventLoop._tacho_inbox = ()  # type: ignore[attr-defined]
    base.BaseEventLoop._run_once = run_round  # type: ignore[attr-defined]

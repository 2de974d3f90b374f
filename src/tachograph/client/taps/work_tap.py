"""Work that is done in the background: when it counts as done is a *turn* (``turns``), so that whoever waits for several pieces of work gets
them in the recorded order.

* Futures of an executor: to number one as done and to make it so must be one thing, or another one comes between. Both happen under one
  lock. It is let go before callbacks run. Where an event loop waits for one (``run_in_executor``), it is the loop that decides.
* Results of a ``multiprocessing.Pool``; what is put into a ``multiprocessing.Queue``.

In a replay, a worker thread waits for its turn. The threads that bring the results of processes must not wait, since the one whose turn it
is may come behind: there the result is set by a thread of ours.

A hash of a future is its number among those that its lane has submitted, not its address: sets of futures (``wait``, ``as_completed``) are in the
same order in every run.
"""

from __future__ import annotations

import _thread
import collections
import functools
import itertools
import sys
import threading
import zlib
from types import ModuleType
from typing import Any, Callable, Deque, List, Optional

from .. import forking, lanes, turns
from .patching import wrap


class _Here(threading.local):
    #: The lane of the work that this thread submits.
    submitting: Optional[str] = None
    #: An event loop submits it, and waits for it.
    loop = False
    #: This thread holds the order.
    holds = False


_here = _Here()
_order = threading.Lock()


def install(module: ModuleType) -> None:
    """Wrap what this module does with results."""
    if not turns.wanted():
        return
    if module.__name__ == "concurrent.futures._base":
        wrap(module.Future, "__init__", _init)
        wrap(module.Future, "set_result", _set)
        wrap(module.Future, "set_exception", _set)
        wrap(module.Future, "_invoke_callbacks", _callbacks)
        wrap(module.Future, "add_done_callback", _add_callback)
        module.Future.__hash__ = _hash
        wrap(module, "_yield_finished_futures", _in_finishing_order)
        wrap(module, "wait", _looked)
        package: Any = sys.modules["concurrent.futures"]
        if hasattr(package, "wait"):
            package.wait = module.wait  # it has been imported from there already
        if _submitting not in lanes.SUBMITTING:
            lanes.SUBMITTING.append(_submitting)
            forking.IN_CHILD.append(_in_child)
    elif module.__name__ in ("concurrent.futures.thread", "concurrent.futures.process"):
        executor = module.ThreadPoolExecutor if module.__name__.endswith("thread") else module.ProcessPoolExecutor
        wrap(executor, "shutdown", _quiet)
        if hasattr(module, "_ExecutorManagerThread"):
            wrap(module._ExecutorManagerThread, "run", _quiet)
    elif module.__name__ == "asyncio":
        wrap(module.base_events.BaseEventLoop, "run_in_executor", _run_in_executor)
    elif module.__name__ == "uvloop":
        wrap(module.Loop, "run_in_executor", _run_in_executor)
    elif module.__name__ == "multiprocessing.queues":
        wrap(module.Queue, "_start_thread", _feeding)
    else:
        for name in ("ApplyResult", "MapResult", "IMapIterator", "IMapUnorderedIterator"):
            wrap(getattr(module, name), "_set", _pool_set)


# -- futures -------------------------------------------------------------------------------------------------------------


def _submitting(lane: Optional[str]) -> Optional[str]:
    before, _here.submitting = _here.submitting, lane
    return before


def _init(original: Callable[..., Any]) -> Callable[..., Any]:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self._tacho_lane = _here.submitting
        self._tacho_loop = _here.loop and _here.submitting is not None

    return init


def _hash(future: Any) -> int:
    lane = getattr(future, "_tacho_lane", None)
    return object.__hash__(future) if lane is None else zlib.crc32(lane.encode("utf-8", "surrogatepass"))


def _set(original: Callable[..., Any]) -> Callable[..., Any]:
    def done(self: Any, value: Any) -> Any:
        self._tacho_done = next(_finished)
        lane = getattr(self, "_tacho_lane", None)
        if lane is None:
            return original(self, value)
        if self._tacho_loop:
            return _in_loop(lane, original, self, value)
        turn = turns.in_lane(lane, "work")
        if turn is None:
            return original(self, value)
        if not turn.replayed:
            return _in_order(turn, original, self, value)
        if not turn.happens:
            return original(self, value)
        if type(threading.current_thread()).__name__ in _BRINGERS:
            return _later(turn, functools.partial(original, self, value))
        turn.await_it()
        self._tacho_done = next(_finished)
        return original(self, value)

    return done


def _in_loop(lane: str, act: Callable[..., Any], *args: Any) -> Any:
    """Whoever waits is an event loop, which is told in here. When it hears is a turn (``timers_tap``), of this work."""
    before, turns.work.lane = turns.work.lane, lane
    try:
        return act(*args)
    finally:
        turns.work.lane = before


def _add_callback(original: Callable[..., Any]) -> Callable[..., Any]:
    def add_done_callback(self: Any, fn: Any) -> Any:
        lane = getattr(self, "_tacho_lane", None)
        if lane is None:
            return original(self, fn)
        if self._tacho_loop:
            return _in_loop(lane, original, self, fn)  # called at once, where it is done already
        # Whether it runs in the worker or here depends on whether the work is done by now; what it starts must not.
        self._tacho_callbacks = getattr(self, "_tacho_callbacks", 0) + 1
        done = lanes.Lane("%s/done-%d" % (lane, self._tacho_callbacks))
        return original(self, functools.partial(lanes.in_lane, done, fn))

    return add_done_callback


def _quiet(original: Callable[..., Any]) -> Callable[..., Any]:
    """What an executor waits for by itself, and how often, depends on timing (how many workers there are), and is none of the agent's waits."""

    def quiet(self: Any, *args: Any, **kwargs: Any) -> Any:
        with turns.quietly():
            return original(self, *args, **kwargs)

    return quiet


def _run_in_executor(original: Callable[..., Any]) -> Callable[..., Any]:
    def run_in_executor(self: Any, executor: Any, func: Any, *args: Any) -> Any:
        _here.loop = True
        try:
            return original(self, executor, func, *args)
        finally:
            _here.loop = False

    return run_in_executor


#: Threads that bring the results of several pieces of work, one after the other.
_BRINGERS = ("_ExecutorManagerThread",)


def _in_order(turn: turns.Turn, original: Callable[..., Any], future: Any, value: Any) -> Any:
    _order.acquire()
    _here.holds = True
    try:
        turn.tell()
        future._tacho_done = next(_finished)
        return original(future, value)
    finally:
        _let_go()


def _let_go() -> None:
    if _here.holds:
        _here.holds = False
        _order.release()


def _callbacks(original: Callable[..., Any]) -> Callable[..., Any]:
    def _invoke_callbacks(self: Any) -> Any:
        _let_go()
        return original(self)

    return _invoke_callbacks


def _in_child() -> None:
    """Who held the order is not here."""
    global _order
    _order = threading.Lock()
    _here.holds = False
    del _some[:]


#: How many futures were done.
_finished = itertools.count(1)


def _in_finishing_order(original: Callable[..., Any]) -> Callable[..., Any]:
    """``as_completed`` gives what was done already when it was called as a set has it: in the order in which they were done, then, so that it
    does not matter when that was. They are taken from the end."""

    def _yield_finished_futures(fs: Any, waiter: Any, ref_collect: Any) -> Any:
        fs.sort(key=lambda future: getattr(future, "_tacho_done", 0), reverse=True)
        return original(fs, waiter, ref_collect)

    return _yield_finished_futures


def _looked(original: Callable[..., Any]) -> Callable[..., Any]:
    """What ``wait`` finds done depends on when it looks. That is a turn, and to look is one with it: in a replay it need not even wait."""

    def wait(fs: Any, timeout: Any = None, return_when: Any = "ALL_COMPLETED") -> Any:
        turn = turns.turn("look")
        if turn is None or (turn.replayed and not turn.happens):
            return original(fs, timeout, return_when)
        every = set(fs)
        if turn.replayed:
            turn.await_it()
            return _found(original, every)
        with turns.quietly():
            original(every, timeout, return_when)
        with _order:
            turn.tell()
            return _found(original, every)

    return wait


def _found(original: Callable[..., Any], every: Any) -> Any:
    done = {future for future in every if future.done()}
    return original.__globals__["DoneAndNotDoneFutures"](done, every - done)


# -- pools of processes --------------------------------------------------------------------------------------------------


def _pool_set(original: Callable[..., Any]) -> Callable[..., Any]:
    def _set(self: Any, place: Any, value: Any) -> Any:
        turn = turns.in_lane("%s/job-%s-%s" % (lanes.root().path, self._job, place), "work")
        if turn is None:
            return original(self, place, value)
        if not turn.replayed:
            turn.tell()  # one thread does this, so nothing comes between
            return original(self, place, value)
        if not turn.happens:
            return original(self, place, value)
        return _later(turn, functools.partial(original, self, place, value))

    return _set


class _Written:
    """The lock that the writers of a pipe share. What is written into it under the lock is read in this order."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def acquire(self, *args: Any) -> Any:
        turn = turns.turn("put")
        if turn is not None and turn.happens:
            turn.await_it()
        got = self._lock.acquire(*args)
        if turn is not None and not turn.replayed:
            turn.tell()
        return got

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)


def _feeding(original: Callable[..., Any]) -> Callable[..., Any]:
    """A queue between processes is written by a thread in each."""

    def _start_thread(self: Any) -> Any:
        lock = self._wlock
        if lock is not None and type(self).__name__ == "Queue":  # an executor's own queue is none that anybody else writes
            self._wlock = _Written(lock)
        try:
            return original(self)
        finally:
            self._wlock = lock

    return _start_thread


# -- our own thread ------------------------------------------------------------------------------------------------------

_due: Deque[Callable[[], Any]] = collections.deque()
_some: List[Any] = []
_starting = threading.Lock()


def _later(turn: turns.Turn, act: Callable[[], Any]) -> None:
    """Do it when it is its turn."""
    with _starting:
        if not _some:
            _some.append(threading.Semaphore(0))
            _thread.start_new_thread(_act, (_some[0],))
    turn.ask(functools.partial(_released, act))


def _released(act: Callable[[], Any], header: Any, _: bytes) -> None:
    """On the thread that reads, which must not run what the agent may have hung there."""
    if header["m"] == "turn":
        _due.append(act)
        _some[0].release()


def _act(some: Any) -> None:
    while True:
        some.acquire()
        _due.popleft()()

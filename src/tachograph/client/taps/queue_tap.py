"""Queues between threads: who puts first, and who gets what, are *turns* (``turns``). What is made of the items may depend on either.

* ``queue.Queue``, ``LifoQueue``, ``PriorityQueue``: each is told while the queue's own lock is held.
* ``queue.SimpleQueue`` is written in C, and has no lock of its own that anybody else could hold. What is made of it while turns are kept is one of
  a class of ours, with the C one inside: those who put do so one after the other, and of those who get one waits and the others wait for it. The standard
  library's own (an executor's) stay as they are.

A queue of ``asyncio`` needs nothing: its loop's order is kept (``holding``).
"""

from __future__ import annotations

import sys
import threading
from types import ModuleType
from typing import Any, Callable, Dict, Optional

from .. import forking, link, turns
from ..real import monotonic
from .patching import wrap


def install(module: ModuleType) -> None:
    """Wrap the queues of this module."""
    if not turns.wanted():
        return
    queue: Any = module
    wrap(queue.Queue, "put", _put)
    wrap(queue.Queue, "get", _get)
    for kind in (queue.Queue, queue.LifoQueue, queue.PriorityQueue):
        wrap(kind, "_put", _entered)
        wrap(kind, "_get", _taken)
    if queue.SimpleQueue.__module__ == "_queue":
        queue.SimpleQueue = _simple(queue)
    if turns.replaying():
        queue.time = turns.clock
    if _in_child not in forking.IN_CHILD:
        forking.IN_CHILD.append(_in_child)


class _Here(threading.local):
    #: The turn of the ``Queue.get``, and of the ``Queue.put``, that this thread is in.
    getting: Optional[turns.Turn] = None
    putting: Optional[turns.Turn] = None


_here = _Here()


def _in_child() -> None:
    _here.getting = _here.putting = None


def _turn(what: str, timeout: Any) -> Optional[turns.Turn]:
    """None where nobody else is there, nothing is waited for, or this is a finalizer that came in the midst of a message."""
    try:
        if timeout is not None and not timeout > 0:
            return None
    except TypeError:
        return None
    at = link.get()
    return None if at is None or at.writing() else turns.turn(what)


def _alone() -> bool:
    """Nobody else is there who could put something, or get it, before. In a replay such a turn does not happen."""
    return len(threading._active) < 2  # type: ignore[attr-defined]


# -- Queue ---------------------------------------------------------------------------------------------------------------


def _put(original: Callable[..., Any]) -> Callable[..., Any]:
    def put(self: Any, item: Any, block: Any = True, timeout: Any = None) -> Any:
        turn = _turn("offer", timeout)
        if turn is None:
            return original(self, item, block, timeout)
        if not turn.replayed:
            before, _here.putting = _here.putting, turn
            try:
                with turns.quietly():
                    return original(self, item, block, timeout)
            except sys.modules["queue"].Full:
                if block:
                    turn.tell()
                raise
            finally:
                _here.putting = before
        if turn.happens:
            turn.await_it()
            turns.skip(timeout or 0)
            raise sys.modules["queue"].Full
        if turn.otherwise("put"):
            turn.await_it()
            with turns.quietly():
                return original(self, item, block)
        if not block and turn.later("put"):
            raise sys.modules["queue"].Full  # a later look found room
        return original(self, item, block, timeout)

    return put


def _entered(original: Callable[..., Any]) -> Callable[..., Any]:
    def _put(self: Any, item: Any) -> Any:
        turn = _here.putting
        if turn is not None:
            _here.putting = None
            if not _alone():
                turn.tell("put")  # under the queue's lock
        return original(self, item)

    return _put


def _get(original: Callable[..., Any]) -> Callable[..., Any]:
    """Who gets what depends on who comes first, also where nobody has to wait. So a thread gets something when it is its turn."""

    def get(self: Any, block: Any = True, timeout: Any = None) -> Any:
        turn = _turn("get", timeout)
        if turn is None:
            return original(self, block, timeout)
        if not turn.replayed:
            before, _here.getting = _here.getting, turn
            try:
                with turns.quietly():
                    return original(self, block, timeout)
            except sys.modules["queue"].Empty:
                if block:
                    turn.tell()
                raise
            finally:
                _here.getting = before
        _await_to_get(turn, block, timeout)
        with turns.quietly():
            return original(self, block)

    return get


def _await_to_get(turn: turns.Turn, block: Any, timeout: Any) -> None:
    """Replay: return when something may be got; raise ``Empty`` where there was nothing."""
    if turn.happens:
        turn.await_it()
        turns.skip(timeout or 0)
        raise sys.modules["queue"].Empty
    if turn.otherwise("got"):
        turn.await_it()
    elif not block and turn.later("got"):
        raise sys.modules["queue"].Empty  # a later look found something


def _taken(original: Callable[..., Any]) -> Callable[..., Any]:
    def _get(self: Any) -> Any:
        turn = _here.getting
        if turn is not None:
            _here.getting = None
            turn.tell("got")  # under the queue's lock
        return original(self)

    return _get


# -- SimpleQueue ---------------------------------------------------------------------------------------------------------


def _simple(queue: Any) -> Any:
    base = queue.SimpleQueue

    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made_by = str(sys._getframe(1).f_globals.get("__name__") or "")
        if cls is ours and (args or kwargs or made_by.split(".", 1)[0] in turns.MACHINERY):
            return base(*args, **kwargs)
        self = base.__new__(cls, *args, **kwargs)
        self._tacho_putting = threading.RLock()  # whoever puts may be interrupted by a finalizer that puts
        self._tacho_getting = threading.Lock()
        return self

    def put(self: Any, item: Any, block: Any = True, timeout: Any = None) -> Any:
        turn = _turn("offer", None)
        if turn is None:
            return base.put(self, item)
        if turn.replayed:
            if turn.otherwise("put"):
                turn.await_it()
            return base.put(self, item)
        if _alone():
            return base.put(self, item)
        with self._tacho_putting:
            turn.tell("put")
            return base.put(self, item)

    def put_nowait(self: Any, item: Any) -> Any:
        return put(self, item)

    def get(self: Any, block: Any = True, timeout: Any = None) -> Any:
        turn = _turn("get", timeout)
        if turn is None:
            return base.get(self, block, timeout)
        if turn.replayed:
            _await_to_get(turn, block, timeout)
            return base.get(self, block)
        try:
            return _next(base, self, turn, block, timeout)
        except queue.Empty:
            if block:
                turn.tell()
            raise

    def get_nowait(self: Any) -> Any:
        return get(self, False)

    members: Dict[str, Any] = {
        "__new__": new, "put": put, "put_nowait": put_nowait, "get": get, "get_nowait": get_nowait,
        "__module__": "_queue", "__doc__": base.__doc__,
    }  # fmt: skip
    ours: Any = type("SimpleQueue", (base,), members)
    return ours


def _next(base: Any, self: Any, turn: turns.Turn, block: Any, timeout: Any) -> Any:
    end = None if timeout is None or not block else monotonic() + timeout
    waiting = self._tacho_getting
    if not block:
        while not waiting.acquire(False):
            if base.empty(self):
                raise sys.modules["queue"].Empty
    elif not waiting.acquire(True, -1 if timeout is None else timeout):
        raise sys.modules["queue"].Empty
    try:
        item = base.get(self, block, None if end is None else max(0.0, end - monotonic()))
        turn.tell("got")
        return item
    finally:
        waiting.release()

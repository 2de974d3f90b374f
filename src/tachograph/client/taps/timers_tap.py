"""Sleeps, timers and timed waits: each is a *turn* (``turns``). In a replay they keep their order and take no time.

* ``time.sleep``;
* ``loop.call_later`` and ``call_at``, and so ``asyncio.sleep``, ``wait_for``, ``timeout``. In a replay such a timer is not in the loop's heap:
  the loop has nothing to wake for, and the host's word is one more callback from another thread;
* ``Condition.wait`` with a time-out, and so ``Event``, ``Semaphore``, ``Barrier``, ``Future.result``, ``wait``, ``as_completed``,
  ``threading.Timer``; ``Thread.join`` with one; ``multiprocessing.connection.wait``, and so its ``Queue.get`` and ``Process.join``.

Only a wait that timed out is a turn. In a replay it is deaf to being notified, as it was; one that did not time out has no time-out.
The loops of the standard library that wait for the rest of a time-out ask a clock of ours, which goes on by what was skipped.

Not seen: ``Lock.acquire`` with a time-out, ``select``, signals by the clock. They take their time, as they did.
"""

from __future__ import annotations

import _thread
import collections
import functools
import sys
import time
from types import ModuleType, SimpleNamespace
from typing import Any, Callable, List, Optional

from .. import ambient, holding, turns
from .patching import wrap


def install(module: ModuleType) -> None:
    """Wrap what waits in this module."""
    if not turns.wanted():
        return
    name = module.__name__
    replaying = turns.replaying()
    if name == "time":
        wrap(module, "sleep", _sleep)
    elif name == "threading":
        wrap(module.Condition, "wait", _condition_wait)
        wrap(module.Event, "wait", _event_wait)
        wrap(module.Thread, "join", _join)
        wrap(module.Thread, "start", _start)
        if replaying:
            module._time = turns.clock  # type: ignore[attr-defined]
    elif name == "concurrent.futures._base":
        wrap(module.Future, "result", _result)
        wrap(module.Future, "exception", _result)
        if replaying:
            module.time = SimpleNamespace(**{**vars(time), "monotonic": turns.clock})  # type: ignore[attr-defined]
    elif name == "multiprocessing.connection":
        wrap(module, "wait", _connection_wait)
    elif name == "uvloop":
        wrap(module.Loop, "call_later", _call_later)
        wrap(module.Loop, "call_at", _call_at)
        wrap(module.Loop, "call_soon_threadsafe", _call_soon_threadsafe)
    else:
        loop = module.base_events.BaseEventLoop
        wrap(loop, "call_at", _call_at)
        wrap(loop, "call_soon_threadsafe", _call_soon_threadsafe)
        wrap(loop, "time", _time)


# -- threads -------------------------------------------------------------------------------------------------------------


def _sleep(original: Callable[..., Any]) -> Callable[..., Any]:
    def sleep(seconds: Any, /) -> Any:
        turn = turns.turn("sleep") if _positive(seconds) else None
        if turn is None:
            return original(seconds)
        if turn.replayed:
            turn.await_it()
            turns.skip(seconds)
        else:
            original(seconds)
            turn.tell()
        return None

    return sleep


def _positive(seconds: Any) -> bool:
    try:
        return bool(seconds > 0)
    except TypeError:
        return False


def _condition_wait(original: Callable[..., Any]) -> Callable[..., Any]:
    def wait(self: Any, timeout: Any = None) -> Any:
        turn = turns.turn("wait") if timeout is None or _positive(timeout) else None
        if turn is None:
            return original(self, timeout)
        if not turn.replayed:
            got = original(self, timeout)
            turn.tell(None if not got else "woken")
            return got
        if turn.happens:
            return _time_out(self, turn, timeout)
        if turn.otherwise("woken"):
            return _be_woken(self, turn)
        return original(self)

    return wait


def _time_out(condition: Any, turn: turns.Turn, timeout: Any) -> bool:
    if not condition._is_owned():
        raise RuntimeError("cannot wait on un-acquired lock")
    saved = condition._release_save()
    try:
        turn.await_it()
        turns.skip(timeout)
    finally:
        condition._acquire_restore(saved)
    return False


def _be_woken(condition: Any, turn: turns.Turn) -> bool:
    """As ``Condition.wait``, but when it was notified, it waits for its turn to go on."""
    if not condition._is_owned():
        raise RuntimeError("cannot wait on un-acquired lock")
    waiter = _thread.allocate_lock()
    waiter.acquire()
    condition._waiters.append(waiter)
    saved = condition._release_save()
    woken = False
    try:
        waiter.acquire()
        woken = True
        turn.await_it()
    finally:
        condition._acquire_restore(saved)
        if not woken and waiter in condition._waiters:
            condition._waiters.remove(waiter)
    return True


def _start(original: Callable[..., Any]) -> Callable[..., Any]:
    def start(self: Any) -> Any:
        with turns.quietly():  # it waits until the new thread runs, or finds that it does: either is nothing
            return original(self)

    return start


def _join(original: Callable[..., Any]) -> Callable[..., Any]:
    def join(self: Any, timeout: Any = None) -> Any:
        turn = turns.turn("join") if timeout is None or _positive(timeout) else None
        if turn is None:
            return original(self, timeout)
        if not turn.replayed:
            alive = self.is_alive()
            original(self, timeout)
            if alive:
                turn.tell(None if self.is_alive() else "joined")
        elif turn.happens:
            turn.await_it()
            turns.skip(timeout)
        else:
            original(self)
            if turn.otherwise("joined"):
                turn.await_it()
        return None

    return join


def _event_wait(original: Callable[..., Any]) -> Callable[..., Any]:
    def wait(self: Any, timeout: Any = None) -> Any:
        turn = turns.turn("event") if timeout is None or _positive(timeout) else None
        if turn is None:
            return original(self, timeout)
        with turns.quietly():
            if not turn.replayed:
                before, got = self._flag, original(self, timeout)
                if not before:
                    turn.tell(None if not got else "set")
                return got
            if not turn.happens:
                got = original(self)
        if turn.happens or turn.otherwise("set"):
            timed_out = turn.what.startswith("event")
            turn.await_it()
            if timed_out:
                turns.skip(timeout)
                return False
        return got

    return wait


def _result(original: Callable[..., Any]) -> Callable[..., Any]:
    """``Future.result`` and ``Future.exception``."""

    def result(self: Any, timeout: Any = None) -> Any:
        turn = turns.turn("result") if timeout is None or _positive(timeout) else None
        if turn is None:
            return original(self, timeout)
        if not turn.replayed:
            before = self.done()
            try:
                with turns.quietly():
                    return original(self, timeout)
            finally:
                if not before:
                    turn.tell("done" if self.done() else None)
        if turn.happens:
            turn.await_it()
            turns.skip(timeout)
            raise sys.modules["concurrent.futures"].TimeoutError
        try:
            with turns.quietly():
                return original(self)
        finally:
            if turn.otherwise("done"):
                turn.await_it()

    return result


def _connection_wait(original: Callable[..., Any]) -> Callable[..., Any]:
    def wait(object_list: Any, timeout: Any = None) -> Any:
        turn = turns.turn("ready") if timeout is not None and _positive(timeout) else None
        if turn is None:
            return original(object_list, timeout)
        if not turn.replayed:
            ready = original(object_list, timeout)
            if not ready:
                turn.tell()
            return ready
        if not turn.happens:
            return original(object_list)
        turn.await_it()
        turns.skip(timeout)
        return []

    return wait


# -- event loops ---------------------------------------------------------------------------------------------------------


def _call_later(original: Callable[..., Any]) -> Callable[..., Any]:
    def call_later(self: Any, delay: Any, callback: Any, *args: Any, context: Any = None) -> Any:
        turn = turns.turn("timer") if delay is not None and _positive(delay) else None
        if turn is None:
            return original(self, delay, callback, *args, context=context)
        if turn.replayed:
            return _timer(self, turn, self.time() + delay, callback, args, context)
        return original(self, delay, _Told(turn, callback), *args, context=context)

    return call_later


def _call_at(original: Callable[..., Any]) -> Callable[..., Any]:
    def call_at(self: Any, when: Any, callback: Any, *args: Any, context: Any = None) -> Any:
        turn = turns.turn("timer") if when is not None and not self.is_closed() else None
        if turn is None:
            return original(self, when, callback, *args, context=context)
        if turn.replayed:
            return _timer(self, turn, when, callback, args, context)
        return original(self, when, _Told(turn, callback), *args, context=context)

    return call_at


def _call_soon_threadsafe(original: Callable[..., Any]) -> Callable[..., Any]:
    def call_soon_threadsafe(self: Any, callback: Any, *args: Any, context: Any = None) -> Any:
        of_work = turns.work.lane is not None
        turn = turns.in_lane(turns.work.lane, "soon") if turns.work.lane is not None else turns.turn("soon")
        if turn is None or (turn.replayed and not turn.happens):
            return original(self, callback, *args, context=context)
        if not of_work and getattr(self, "_thread_id", None) == _thread.get_ident():
            return original(self, callback, *args, context=context)  # by the loop itself: nothing that timing decides
        if not turn.replayed:
            if holding.in_rounds(self) and not self.get_debug():
                return _between_rounds(self, _Told(turn, callback), args, context)
            return original(self, _Told(turn, callback), *args, context=context)
        if self.is_closed():
            raise RuntimeError("Event loop is closed")
        return _held(_handles()[1](callback, list(args), self, context), self, turn)

    return call_soon_threadsafe


def _between_rounds(loop: Any, callback: Any, args: Any, context: Optional[Any]) -> Any:
    """As ``call_soon_threadsafe``, but it does not come among what the loop makes ready in the round that it is in: it comes behind all of that, as a
    timer does, so that which tasks run before it does not depend on timing (``holding``)."""
    loop._check_closed()
    handle = sys.modules["asyncio.events"].Handle(callback, args, loop, context)
    loop.__dict__.setdefault("_tacho_inbox", collections.deque()).append(handle)
    loop._write_to_self()
    return handle


def _time(original: Callable[..., Any]) -> Callable[..., Any]:
    """The loop's clock, as recorded, for whoever decides by it; the loop itself goes by the real one."""

    def loop_time(self: Any) -> Any:
        if sys._getframe(1).f_code.co_name in ("_run_once", "call_later", "run_round"):
            return original(self)
        return ambient.read("clock.loop", functools.partial(original, self))

    return loop_time


class _Told:
    """A timer's callback. To everybody who asks it for more, it is the callback itself."""

    __slots__ = ("__wrapped__", "_turn")

    def __init__(self, turn: turns.Turn, callback: Any) -> None:
        self._turn = turn
        self.__wrapped__ = callback

    def __call__(self, *args: Any) -> Any:
        self._turn.tell()
        return self.__wrapped__(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)


def _timer(loop: Any, turn: turns.Turn, when: Any, callback: Any, args: Any, context: Optional[Any]) -> Any:
    """A timer that the host fires; it is in no heap."""
    return _held(_handles()[0](when, callback, list(args), loop, context), loop, turn)


def _held(handle: Any, loop: Any, turn: turns.Turn) -> Any:
    if turn.happens:
        handle.turn = turn
        handle.asked = turn.ask(functools.partial(_fire, loop, handle))
    return handle


def _fire(loop: Any, handle: Any, header: Any, _: bytes) -> None:
    """On the thread that reads."""
    turn, handle.turn = handle.turn, None
    if turn is not None:
        turn.over(header["c"])
    holding.soon(loop, _run, loop, handle, header["m"])


def _run(loop: Any, handle: Any, kind: str) -> None:
    turns.raise_for(kind)
    loop.call_soon(_go, handle)  # as a task that was woken: in the next round


def _go(handle: Any) -> None:
    if not handle.cancelled():
        handle._run()


_made: List[Any] = []


def _handles() -> Any:
    """The classes of these handles; they are made when there is an asyncio to make them of."""
    if not _made:
        import asyncio.events

        for base in (asyncio.events.TimerHandle, asyncio.events.Handle):
            _made.append(type(base.__name__, (base,), {"turn": None, "asked": 0, "cancel": _cancel_of(base)}))
    return _made


def _cancel_of(base: Any) -> Callable[[Any], None]:
    def cancel(self: Any) -> None:
        turn, self.turn = self.turn, None
        base.cancel(self)
        if turn is not None:
            turn.withdraw(self.asked)

    return cancel

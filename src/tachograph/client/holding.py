"""Rounds of event loops: in a replay, what comes to a loop from outside comes in the recorded round.

What a task finds depends on what its loop was told by then: by other threads (``call_soon_threadsafe``), by timers, by answers. Where the loop slept
between two of these it does not matter when the second one comes; where it did not, it comes so many rounds later, and the loop is *held* there
until the host gives it: its thread waits, so that the threads go on that are to come before. A loop that is held and that nothing comes for goes on
when the host says so (``go``): the rest of the agent waits for it, then.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

#: What is to be called in an event loop: (rounds after the one before it, loop, function, arguments).
Entry = Tuple[int, Any, Callable[..., Any], Any]

#: Only while the thread that reads gathers.
_gathered: Optional[List[Entry]] = None
_apart = 0


class _Held:
    """A loop that is to stop before a round of its own, and does not go on until ``entries`` are there. ``ahead``: these come before what is ready."""

    __slots__ = ("ahead", "before", "entries", "hold", "loop", "waiting")

    def __init__(self, loop: Any, before: int, ahead: bool) -> None:
        self.loop = loop
        self.before = before
        self.ahead = ahead
        self.entries: Optional[List[Entry]] = None
        self.hold = 0
        self.waiting = threading.Lock()
        self.waiting.acquire()


#: By the loop's id.
HELD: Dict[int, _Held] = {}
_guard = threading.Lock()


def soon(loop: Any, act: Callable[..., Any], *args: Any) -> None:
    """Call it in the loop, from the thread that reads; with what comes from the host in one go, as many rounds apart as it was."""
    global _apart
    if _gathered is not None:
        _gathered.append((_apart, loop, act, args))
        _apart = 0
    elif HELD:
        _give([(0, loop, act, args)], 0)
    else:
        _call_in(loop, act, *args)


def gather(apart: int) -> None:
    """More comes that belongs together; what is next, so many rounds later."""
    global _gathered, _apart
    if _gathered is None:
        _gathered = []
    _apart += apart


def scatter(hold: int = 0) -> None:
    """That was all of it. ``hold``: something is to come to the loop of the last of it, which the loop must not miss: so many rounds later, with 1 for
    none."""
    global _gathered, _apart
    gathered, _gathered, _apart = _gathered, None, 0
    if not gathered:
        return
    loops: Dict[int, List[Entry]] = {}
    for entry in gathered:
        loops.setdefault(id(entry[1]), []).append(entry)
    last = id(gathered[-1][1])
    for key, entries in loops.items():
        _give(entries, hold if key == last else 0)


def in_rounds(loop: Any) -> bool:
    """Whether ``lanes`` sees the rounds of this loop: it has run, and nobody has replaced how it does (uvloop, nest_asyncio)."""
    return hasattr(loop, "_tacho_round") and getattr(getattr(loop, "_run_once", None), "_tacho_rounds", False)


def _give(entries: List[Entry], hold: int) -> None:
    loop = entries[0][1]
    with _guard:
        held = HELD.get(id(loop))
        if held is not None and held.loop is loop and held.entries is None:
            held.entries, held.hold = entries, hold
            held.waiting.release()
            return
    _call_in(loop, _all, entries, 0, 0, hold)


def _all(entries: List[Entry], at: int, waited: int, hold: int) -> None:
    """In the loop. What is called here has its effect in the round that follows."""
    while at < len(entries):
        apart, loop, act, args = entries[at]
        if apart > waited and at:
            if not in_rounds(loop):
                loop.call_soon(_all, entries, at, waited + 1, hold)
            else:
                _hold(loop, 1 + apart, entries[at:], hold)
            return
        act(*args)
        at, waited = at + 1, 0
    if hold:
        _hold(entries[0][1], hold)


def _hold(loop: Any, rounds: int, entries: Optional[List[Entry]] = None, hold: int = 0, *, ahead: bool = False) -> None:
    """Stop the loop so many rounds from now. ``entries``: what comes then, if that is known."""
    if in_rounds(loop):
        held = _Held(loop, loop._tacho_round + rounds, ahead)
        if entries is not None:
            held.entries, held.hold = entries, hold
            held.waiting.release()
        with _guard:
            HELD[id(loop)] = held


def hold_here(hold: int) -> None:
    """As ``scatter``'s, for what the thread of a loop was given while it waited in a task."""
    loops = sys.modules.get("asyncio.events")
    loop = loops._get_running_loop() if loops is not None and hold else None
    if loop is not None:
        _hold(loop, max(1, hold - 1), ahead=hold == 1)


def before_round(loop: Any) -> None:
    """In the loop's thread, before each of its rounds, where any is held: wait, if it is this round's turn. Rounds in which a loop would do nothing but
    sleep are none."""
    while True:
        held = HELD.get(id(loop))
        if held is None or held.loop is not loop or (loop._ready and loop._tacho_round < held.before):
            return
        held.waiting.acquire()
        with _guard:
            if HELD.get(id(loop)) is held:
                del HELD[id(loop)]
        if not held.entries:
            return
        _run_here(loop, held)


def _run_here(loop: Any, held: _Held) -> None:
    """What is called here has its effect in the round that begins."""
    entries: List[Entry] = held.entries or []
    before, at = len(loop._ready), 0
    while at < len(entries) and (not at or not entries[at][0]):
        _, _, act, args = entries[at]
        sys.modules["asyncio.events"].Handle(act, args, loop)._run()
        at += 1
    if at < len(entries):
        _hold(loop, entries[at][0], entries[at:], held.hold)
    elif held.hold:
        _hold(loop, held.hold - 1)
    if held.ahead:
        loop._ready.rotate(len(loop._ready) - before)


def go_on() -> None:
    """Nothing comes for the loops that are held (or the host is gone)."""
    with _guard:
        for held in list(HELD.values()):
            if held.entries is None:
                held.entries = []
                held.waiting.release()
        HELD.clear()


def _call_in(loop: Any, act: Callable[..., Any], *args: Any) -> None:
    call = getattr(type(loop).call_soon_threadsafe, "__wrapped__", None)  # not as the agent's own, which are told and held back
    try:
        if call is not None:
            call(loop, act, *args)
        else:
            loop.call_soon_threadsafe(act, *args)
    except RuntimeError:
        return  # the loop was closed meanwhile: nobody waits any more


def in_child() -> None:
    """A forked child holds no loop, and reads for itself."""
    global _guard, _gathered
    _guard = threading.Lock()
    _gathered = None
    HELD.clear()

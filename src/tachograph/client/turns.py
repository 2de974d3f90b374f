"""Turns: what happens without a call, and decides what comes next. A sleep is over, a timer fires, a wait times out, a piece of work is done.

While recording, each is told when it has happened, and gets a number among all pieces of all answers (a *mark* of the ambient messages).
In a replay it happens when the host says that it is its turn, and takes no time. What is recorded is only what did happen: a timer that
was cancelled, or a wait that was notified, is none, and in a replay it just never fires.

A turn is named like a call: by the lane that made it, what it is, the code that made it, and how many of that there were before. Inside of
a real call there are none.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Set, Tuple

from . import forking, holding, lanes, link
from .frames import pack
from .real import monotonic, monotonic_ns

#: Code of these makes waits for others: the site is whoever called it.
MACHINERY = ("asyncio", "threading", "queue", "concurrent", "multiprocessing", "uvloop", "_pydevd_bundle")
_PACKAGE = __package__ or ""
#: Code of ours through which the agent's own is called.
_THROUGH = frozenset(
    _PACKAGE + name for name in (".lanes", ".tool", ".taps.timers_tap", ".taps.queue_tap", ".taps.work_tap", ".taps.multiprocessing_tap")
)

_recording = False
_replaying = False
#: Replay: lane → what → the numbers of those that happened. Of the link that it was asked on.
_happened: Dict[str, Dict[str, FrozenSet[int]]] = {}
_asked: Optional["link.Link"] = None
_asking = threading.Lock()


def install(at: "link.Link") -> None:
    """Begin, as the host's welcome says."""
    global _recording, _replaying
    wanted = bool(at.settings.get("turns"))
    if wanted and _in_child not in forking.IN_CHILD:
        forking.IN_CHILD.append(_in_child)
    _recording = wanted and at.mode == "record"
    _replaying = wanted and at.mode == "replay"


def _in_child() -> None:
    """Who was asking is not here."""
    global _asking
    _asking = threading.Lock()
    holding.in_child()


def wanted() -> bool:
    """Whether turns are recorded or replayed in this process."""
    return _recording or _replaying


def replaying() -> bool:
    """Whether they are replayed."""
    return _replaying


class Turn:
    """One turn that may come. ``replayed``: it happens when the host says so, if ``happens``; else it happens by itself, and is told."""

    __slots__ = ("_link", "happens", "lane", "number", "replayed", "what")

    def __init__(self, at: "link.Link", lane: str, what: str, number: int) -> None:
        self._link = at
        self.lane = lane
        self.what = what
        self.number = number
        self.replayed = at.mode == "replay"
        self.happens = self.replayed and self._in(what)

    def _in(self, what: str) -> bool:
        return self.number in _table(self._link).get(self.lane, {}).get(what, ())

    def otherwise(self, what: str) -> bool:
        """Replay: whether it was ``what`` that came of it instead. Then it is that turn from now on."""
        name = "%s %s" % (what, self.what.partition(" ")[2])
        if not self._in(name):
            return False
        self.what, self.happens = name, True
        return True

    def later(self, what: str) -> bool:
        """Replay: whether ``what`` came of one of those that follow."""
        name = "%s %s" % (what, self.what.partition(" ")[2])
        return any(number > self.number for number in _table(self._link).get(self.lane, {}).get(name, ()))

    def tell(self, what: Optional[str] = None) -> None:
        """Recording: it has happened, now. ``what``: what came of it, if that is not what it is called."""
        if not self._link.lost:
            name = self.what if what is None else "%s %s" % (what, self.what.partition(" ")[2])
            header = {"m": "ambient", "c": 0, "marks": [[self.lane, name, self.number]], "t": monotonic_ns()}
            rounds = lanes.rounds()
            if rounds is not None:
                header["i"] = rounds
            self._link.send(pack(header))

    def await_it(self) -> None:
        """Replay: return when it is this turn. One that did not happen never comes: then this waits for ever, as it did."""
        released = threading.Lock()
        released.acquire()
        said: List[Dict[str, Any]] = []

        def deliver(header: Dict[str, Any], _: bytes) -> None:
            said.append(header)
            released.release()

        call = self.ask(deliver)
        try:
            released.acquire()
        except BaseException:
            self.withdraw(call)  # a signal handler has raised
            raise
        self.over(call)
        raise_for(said[0]["m"])
        if "hold" in said[0]:
            holding.hold_here(said[0]["hold"])

    def ask(self, deliver: Callable[[Dict[str, Any], bytes], None]) -> int:
        """Replay: have ``deliver`` called (on the thread that reads) when it is this turn. Returns what ``withdraw`` takes."""
        call = self._link.next_call()
        self._link.ahead.waits()
        self._link.expect(call, deliver)
        header = {"m": "turn", "c": call, "lane": self.lane, "what": self.what, "n": self.number}
        if lanes.alone():
            header["alone"] = 1
        self._link.send(pack(header))
        return call

    def over(self, call: int) -> None:
        """Replay: it has come."""
        self._link.forget(call)

    def withdraw(self, call: int) -> None:
        """Replay: it is not wanted any more."""
        self._link.forget(call)
        if not self._link.lost:
            self._link.send(pack({"m": "end", "c": call, "state": "cancelled"}))


def raise_for(kind: str) -> None:
    """What came instead of a turn."""
    if kind == "lost":
        raise link.HostLost("the tachograph host is gone; a replay cannot go on without it")
    if kind == "stop":
        raise link.Diverged("the recording does not hold this")


class _Quiet(threading.local):
    #: This thread waits for itself, or is in a wait that is a turn already.
    on = False


quiet = _Quiet()


class quietly:  # noqa: N801 - reads as a word
    """In here, nothing that this thread waits for is a turn."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before, quiet.on = quiet.on, True

    def __exit__(self, *_: object) -> None:
        quiet.on = self._before


class _Work(threading.local):
    #: The lane of the work that this thread is about to tell an event loop of.
    lane: Optional[str] = None


work = _Work()


def turn(what: str) -> Optional[Turn]:
    """The next turn of this kind that the agent makes here, or None where none is recorded. Its site is the innermost code outside of the
    standard library's machinery."""
    if not (_recording or _replaying):
        return None
    at = link.get()
    if at is None or at.lost or quiet.on:
        return None
    site = _site()
    if site is None:
        return None
    lane = lanes.current()
    if lane.real:
        return None
    name = "%s %s" % (what, site)
    return Turn(at, lane.base, name, lane.number(name))


def in_lane(lane: str, what: str) -> Optional[Turn]:
    """The turn of a piece of work in its own lane, where there is one."""
    at = link.get()
    if at is None or at.lost or not (_recording or _replaying):
        return None
    return Turn(at, lane, what, 1)


def _site() -> Optional[str]:
    """Whose turn it is, as ``module.function``; None where our own code waits."""
    frame: Any = sys._getframe(3)
    for _ in range(24):
        module = str(frame.f_globals.get("__name__") or "?")
        if module.startswith(_PACKAGE) and module not in _THROUGH:
            return None
        if (module.split(".", 1)[0] not in MACHINERY and not module.startswith(_PACKAGE)) or frame.f_back is None:
            break
        frame = frame.f_back
    return "%s.%s" % (frame.f_globals.get("__name__") or "?", frame.f_code.co_name)


def _table(at: "link.Link") -> Dict[str, Dict[str, FrozenSet[int]]]:
    global _asked, _happened
    if _asked is at:
        return _happened
    with _asking:
        if _asked is not at:
            _happened = _fetch(at)
            _asked = at
    return _happened


def _fetch(at: "link.Link") -> Dict[str, Dict[str, FrozenSet[int]]]:
    waiting = threading.Lock()
    waiting.acquire()
    found: Dict[str, Any] = {}

    def deliver(header: Dict[str, Any], _: bytes) -> None:
        found.update(header)
        waiting.release()

    number = at.next_call()
    at.expect(number, deliver)
    at.send(pack({"m": "turns", "c": number}))
    waiting.acquire()
    at.forget(number)
    raise_for(found.get("m", ""))
    table: Dict[Tuple[str, str], Set[int]] = {}
    for lane, what, numbers in found.get("turns") or ():
        table.setdefault((lane, what), set()).update(numbers)
    out: Dict[str, Dict[str, FrozenSet[int]]] = {}
    for (lane, what), every in table.items():
        out.setdefault(lane, {})[what] = frozenset(every)
    return out


class _Skipped(threading.local):
    #: Seconds that this thread's waits would have taken.
    seconds = 0.0


_skipped = _Skipped()


def skip(seconds: float) -> None:
    """Replay: this thread has waited for so long, in no time."""
    _skipped.seconds += seconds


def skipped() -> float:
    """Seconds that this thread has skipped. The waiting loops of the standard library look at a clock to see whether they are done."""
    return _skipped.seconds


def clock() -> float:
    """Replay: the clock for the loops of the standard library that wait."""
    return monotonic() + skipped()

"""Ambient reads: what the agent learns of the world without a call. The clock, entropy, names in a folder, the name of the machine.

They are many, small, and must cost nothing. So recording one is an append to the link's buffer; the buffer goes out as one frame in
front of the next message, so nothing that may depend on a read is ever told before it.

A replay asks the host once for all values of a lane, and answers from them, first in, first out, by (kind, site). The site is the module
and the function that reads, without the line: an edit elsewhere in a file shifts nothing. What was not recorded is read for real, and
told to the host, so that a divergence can name its cause.

    value = ambient.read("clock.time", time.time)

The real thing is run while recording, and where nothing is recorded: inside a real call, and in what a command of the agent's runs. For
a kind that a recording leaves out the tap is not even installed (``wants``).
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from typing import Any, Callable, Deque, Dict, Optional, Tuple

from . import link, sites
from .lanes import current

#: Waiting machinery of the standard library and of event loops: its clock decides when something happens, not what.
WAITING = frozenset(
    (
        "asyncio", "selectors", "threading", "queue", "concurrent", "multiprocessing", "subprocess", "socket", "ssl", "_pytest",
        "trio", "anyio", "uvloop", "gevent", "eventlet", "twisted", "tornado", "curio",
    )
)  # fmt: skip

#: The kinds of reads. Each can be left out of a recording, or read live in a replay (``tacho replay --live``).
KINDS = ("clock", "monotonic", "entropy", "random", "listing", "identity", "sqlite")

_CLOCKS = ("clock.", "monotonic.")

_recording = False
_replaying = False
#: Kinds that a recording leaves out, and a replay reads live.
_off: "frozenset[str]" = frozenset()

#: id of a code object → (the code, to keep the id its own; the site; whether it is waiting machinery).
_sites: Dict[int, Tuple[Any, str, bool]] = {}
#: Code that is made anew again and again must not fill the memory.
_MAX_SITES = 20_000

Key = Tuple[str, str]
#: Replay: lane → (kind, site) → the values that are left.
_values: Dict[str, Dict[Key, Deque[Any]]] = {}
_asking = threading.Lock()
#: Replay: (lane, kind) → what a clock said last, and what the real one said then. What follows the last recorded value goes on from there.
_last: Dict[Key, Tuple[Any, Any]] = {}


def install(at: "link.Link", lane: str) -> None:
    """Begin, as the host's welcome says. What a command of the agent's runs is answered whole in a replay, and not asked for."""
    global _recording, _replaying, _off
    wanted = bool(at.settings.get("reads")) and "/proc-" not in lane
    _off = frozenset(at.settings.get("live") or ())
    _recording = wanted and at.mode == "record"
    _replaying = wanted and at.mode == "replay"
    _values.clear()
    _last.clear()


def recording() -> bool:
    """Whether this process records (and does not replay) reads."""
    return _recording


def here() -> bool:
    """Whether reads of the running code are recorded or answered."""
    return link._link is not None and not current().real


def wants(kind: str) -> bool:
    """Whether reads of that kind are recorded or answered in this process. One that a replay reads live is told as unrecorded."""
    return _replaying or (_recording and kind not in _off)


def site_of(frame: Any) -> Tuple[Any, str, bool]:
    """``(code, "module.function", whether it is waiting machinery)``."""
    code = frame.f_code
    found = _sites.get(id(code))
    if found is None or found[0] is not code:
        module = str(frame.f_globals.get("__name__") or "?")
        if len(_sites) >= _MAX_SITES:
            _sites.clear()
        found = _sites[id(code)] = (code, "%s.%s" % (module, code.co_name), module.split(".", 1)[0] in WAITING)
    return found


def read(kind: str, real: Callable[[], Any], depth: int = 2) -> Any:
    """The value of a read that the caller's caller makes (``depth`` frames up). ``real`` gives a JSON value. ``kind``: one of ``KINDS``, a
    dot, what is read."""
    at = link._link
    if at is None:
        return real()
    lane = current()
    if lane.real:
        return real()
    frame = sys._getframe(depth)
    site = _sites.get(id(frame.f_code))
    if site is None or site[0] is not frame.f_code:
        site = site_of(frame)
    if site[2] and kind[0] == "m":
        return real()
    if _recording:
        try:
            value = real()
        except Exception as error:
            note(at, lane.path, kind, site[1], _raised(error))  # or the values that follow would each be given to the read before
            raise
        note(at, lane.path, kind, site[1], value)
        return value
    return answer(at, lane.path, kind, site[1], real)


def note(at: "link.Link", lane: str, kind: str, site: str, value: Any) -> None:
    """Recording: a read of ``kind`` in ``lane`` gave ``value``."""
    reads = at.reads
    reads.append((lane, kind, site, value))
    if len(reads) >= link.MAX_READS:
        at.flush()


def answer(at: "link.Link", lane: str, kind: str, site: str, real: Callable[[], Any]) -> Any:
    """Replay: the next recorded value, or what ``beyond`` makes of the live one."""
    left = recorded(at, lane, kind, site)
    if left:
        value = left.popleft()
        if isinstance(value, dict) and "raised" in value:
            return _raise(value["raised"], real)
        if kind.startswith(_CLOCKS):
            _last[lane, kind] = (value, real())
        return value
    return beyond(at, lane, kind, site, real)


def _raised(error: Exception) -> Dict[str, Any]:
    """What is kept of a read that raised. An error of the system can be made again, of any other there is only the name."""
    if isinstance(error, OSError) and error.errno is not None:
        return {"raised": [error.errno, error.strerror, os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else None]}
    return {"raised": [None, type(error).__name__, None]}


def _raise(raised: Any, real: Callable[[], Any]) -> Any:
    """Replay: the recorded error again, or what the real read does, where it can only be made by that."""
    number, text, name = raised
    if number is None:
        return real()
    raise OSError(number, text) if name is None else OSError(number, text, name)


def recorded(at: "link.Link", lane: str, kind: str, site: str) -> Optional[Deque[Any]]:
    """Replay: the values that are left for these reads (take from the left), or None where there never were any."""
    if kind.partition(".")[0] in _off:
        return None
    given = _values.get(lane)
    if given is None:
        given = _ask(at, lane)
    return given.get((kind, site))


def beyond(at: "link.Link", lane: str, kind: str, site: str, real: Callable[[], Any]) -> Any:
    """Replay: nothing (more) was recorded here. A clock goes on from what it said last; all else is live. The host is told."""
    unrecorded(at, kind, site)
    now = real()
    last = _last.get((lane, kind))
    return now if last is None else last[0] + (now - last[1])


def unrecorded(at: "link.Link", kind: str, site: str) -> None:
    """Replay: tell the host, with its next message, that a read had no recorded value."""
    key = (kind, sites.of_call(current().origin) or site)
    at.missing[key] = at.missing.get(key, 0) + 1


def _ask(at: "link.Link", lane: str) -> Dict[Key, Deque[Any]]:
    if at.lost or at.writing() or sys.is_finalizing():
        return {}  # nobody answers now, or this thread is in the middle of saying something: this one read is live
    with _asking:
        given = _values.get(lane)
        if given is None:
            given = _values[lane] = {(kind, site): deque(values) for kind, site, values in at.values(lane)}
    return given


def forget(at: "link.Link", lane: str) -> None:
    """A forked child is a lane of its own: nothing that its parent was given is its."""
    global _asking
    _asking = threading.Lock()
    install(at, lane)

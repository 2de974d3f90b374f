"""What this machine, user and process are called: host name, number of processors, process ids.

A process id that an agent has seen stands for a process that is another one in a replay. ``real_pid`` says which, for who signals or
awaits it.
"""

from __future__ import annotations

import threading
from types import ModuleType
from typing import Any, Callable, Dict

from .. import ambient, forking, lanes, link
from .patching import wrap_builtin

#: Replay: the id that the agent knows → the one that the process has, and back.
_real: Dict[int, int] = {}
_shown: Dict[int, int] = {}
#: Lane → the id of the process that runs (or ran) it.
_own: Dict[str, int] = {}
_first = threading.RLock()


def real_pid(pid: int) -> int:
    """The process that the agent means."""
    return _real.get(pid, pid)


def shown_pid(pid: int) -> int:
    """What the agent knows that process by."""
    return _shown.get(pid, pid)


def _same(shown: int, real: int) -> int:
    if shown != real:
        _real[shown], _shown[real] = real, shown
    return shown


def install(module: ModuleType) -> None:
    """Wrap what says who we are, in ``os``, ``socket``, ``uuid`` or ``getpass``."""
    if not ambient.wants("identity"):
        return
    name = module.__name__
    if name == "os":
        _install_os(module)
    elif name == "socket":
        wrap_builtin(module, "gethostname", _plain("identity.gethostname"))
        wrap_builtin(module, "getfqdn", _getfqdn)
    else:
        what = "getnode" if name == "uuid" else "getuser"
        wrap_builtin(module, what, _plain("identity." + what))


def _install_os(module: Any) -> None:
    for name in ("cpu_count", "process_cpu_count", "getlogin", "getppid"):
        if hasattr(module, name):
            wrap_builtin(module, name, _plain("identity." + name))
    if hasattr(module, "getloadavg"):
        wrap_builtin(module, "getloadavg", _tuple("identity.getloadavg", tuple))
    if hasattr(module, "uname"):
        wrap_builtin(module, "uname", _tuple("identity.uname", module.uname_result))
    if hasattr(module, "times"):
        wrap_builtin(module, "times", _tuple("identity.times", module.times_result))
    wrap_builtin(module, "getpid", _getpid)
    if hasattr(module, "fork"):
        wrap_builtin(module, "fork", started)
        forking.IN_CHILD.append(_forget)


def _forget() -> None:
    global _first
    _first = threading.RLock()
    _own.clear()


def _plain(kind: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def make(original: Callable[[], Any]) -> Callable[[], Any]:
        def look() -> Any:
            return ambient.read(kind, original)

        return look

    return make


def _tuple(kind: str, made: Callable[[Any], Any]) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def make(original: Callable[[], Any]) -> Callable[[], Any]:
        def look() -> Any:
            return made(ambient.read(kind, lambda: list(original())))

        return look

    return make


def _getfqdn(original: Callable[..., str]) -> Callable[..., str]:
    def getfqdn(name: str = "") -> str:
        found: str = ambient.read("identity.getfqdn", lambda: original(name))
        return found

    return getfqdn


def _getpid(original: Callable[[], int]) -> Callable[[], int]:
    def getpid() -> int:
        at = link._link
        if at is None:
            return original()
        here, own = lanes.current(), lanes.root().path
        if here.real:
            return original()
        # A process is one to all its lanes; a piece of work that another process handed over to a worker has the worker that it had.
        lane = own if here.path == own or here.path.startswith(own + "/") else here.path
        known = _own.get(lane)
        if known is None:
            with _first:  # once a process, whoever of its threads asks first
                known = _own.get(lane)
                if known is None:
                    known = _own[lane] = ask(at, lane)
        return known

    def ask(at: link.Link, lane: str) -> int:
        pid = original()
        if ambient.recording():
            ambient.note(at, lane, "identity.getpid", "process", pid)
            return pid
        return _same(ambient.answer(at, lane, "identity.getpid", "process", original), pid)

    return getpid


def started(original: Callable[..., int]) -> Callable[..., int]:
    """For what starts a process that runs the agent's code, and says which it is."""

    def fork(*args: Any) -> int:
        pid = original(*args)
        return shown(pid) if pid else 0

    return fork


def shown(pid: int) -> int:
    """What the agent is told of a process that its caller's caller has started."""
    return _same(ambient.read("identity.started", lambda: pid, 3), pid) if ambient.wants("identity") else pid

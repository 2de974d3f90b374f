"""What the process taps share: how a command is described, what its environment needs, and which commands are running.

A command is anything that replaces the agent's code by a program: in a replay it is answered from the record and nothing is executed.
A process that runs the agent's own code (``fork``, ``multiprocessing``) is not a command: it is the agent.
"""

from __future__ import annotations

import os
import shlex
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from tachograph.client import effects, lanes, link
from tachograph.client.real import getpid, getppid

#: The folder that makes a Python child one of ours.
BOOT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "boot")

_PATH = "PYTHONPATH"


def listening() -> bool:
    """Whether a command started here would be told to anybody."""
    return link.get() is not None and not lanes.current().real


# -- description ---------------------------------------------------------------------------------------------------------


def describe(
    args: Any, *, shell: bool, executable: Any = None, cwd: Any = None, env: Any = None, streams: Optional[Dict[str, str]] = None
) -> Tuple[str, Dict[str, Any]]:
    """(operation, request) of a command. The environment is given as its difference from the agent's own."""
    request: Dict[str, Any] = {}
    if isinstance(args, (str, bytes, os.PathLike)):
        words = [_text(args)]
    else:
        words = [_text(word) for word in args]
    if shell:
        operation = "sh -c"
        request["shell"] = words[0] if words else ""
        if len(words) > 1:
            request["args"] = words[1:]
    else:
        operation = os.path.basename(_text(executable) if executable is not None else words[0] if words else "")
        request["argv"] = words
    if executable is not None:
        request["executable"] = _text(executable)
    try:
        request["cwd"] = os.path.abspath(_text(cwd)) if cwd is not None else os.getcwd()
    except OSError:
        request["cwd"] = ""
    changed = _difference(env)
    if changed:
        request["env"] = changed
    request.update(streams or {})
    return operation, request


def _text(value: Any) -> str:
    try:
        return os.fsdecode(value)
    except TypeError:
        return str(value)


def _difference(env: Any) -> Dict[str, Optional[str]]:
    """Added and changed variables, and removed ones as None; ``{"*": None, …}`` where nothing much of the agent's own was kept."""
    if not isinstance(env, Mapping):
        return {}
    theirs = _plain(env)
    ours = _plain(os.environ)
    removed = [name for name in ours if name not in theirs]
    if len(removed) > len(ours) / 2:
        return {"*": None, **theirs}
    out: Dict[str, Optional[str]] = {name: value for name, value in theirs.items() if ours.get(name) != value}
    out.update((name, None) for name in removed)
    return out


def _plain(env: Mapping[Any, Any]) -> Dict[str, str]:
    out = {_text(name): _text(value) for name, value in env.items()}
    out = {name: value for name, value in out.items() if not name.startswith("TACHO_")}
    if _PATH in out:
        entries = [entry for entry in out[_PATH].split(os.pathsep) if entry != BOOT]
        out[_PATH] = os.pathsep.join(entries)
        if not any(entries):
            del out[_PATH]
    return out


# -- environment ---------------------------------------------------------------------------------------------------------


def environment(env: Any, lane: Optional[str]) -> Any:
    """A child's environment: what was asked for, and what brings a Python child into the session, in ``lane``. With None, the child
    belongs to a call that is recorded as a whole, and must not join."""
    if env is not None and not isinstance(env, Mapping):
        return env  # whoever starts it will say what is wrong with it
    out: Dict[Any, Any] = dict(os.environ if env is None else env)
    for name in [name for name in out if isinstance(name, bytes) and name.startswith(b"TACHO_")]:
        out[os.fsdecode(name)] = out.pop(name)
    if lane is None:
        # asyncio has given the child a lane of its own before it comes to this.
        if out.get("TACHO_LANE", "main") == os.environ.get("TACHO_LANE", "main"):
            out.pop("TACHO_SOCKET", None)
        return out
    out.update((name, value) for name, value in os.environ.items() if name.startswith("TACHO_"))
    out["TACHO_LANE"] = lane
    key: Any = os.fsencode(_PATH) if os.fsencode(_PATH) in out else _PATH
    entries = [entry for entry in _text(out.get(key, "")).split(os.pathsep) if entry and entry != BOOT]
    out[key] = os.pathsep.join([BOOT, *entries])
    return out


def shell_prefix(lane: Optional[str]) -> str:
    """The same for ``os.system``, which takes no environment."""
    if lane is None:
        return "unset TACHO_SOCKET; "
    return "export TACHO_LANE=%s; " % shlex.quote(lane)


def next_lane() -> str:
    """The lane of the next command that is started from here. Replays count too, though nothing runs there."""
    return lanes.child_process_lane("proc") + "/main"


# -- running commands ----------------------------------------------------------------------------------------------------


class Run:
    """A started command, whoever started it. ``tape`` plays it in a replay."""

    def __init__(self, call: effects.Call, pid: int, *, leads: bool, tape: Any = None) -> None:
        self.call = call
        self.pid = pid
        self.leads = leads
        self.tape = tape
        RUNNING[pid] = self
        if tape is not None:
            PLAYED.add(pid)

    def signal(self, number: int) -> None:
        """The agent signals the command. In a replay the command does not feel it, but what followed may follow now."""
        if self.tape is not None:
            self.tape.signal()
        elif number:
            self.call.tell_chunk(b"", signal=int(number))

    def ended(self, code: Optional[int], **more: Any) -> None:
        """The agent knows how the command ended; before it goes on, the host has looked at what the command changed."""
        if RUNNING.get(self.pid) is self:
            del RUNNING[self.pid]
        if self.tape is None:
            self.call.tell_end(effects.EOF, exit=code, **more)
            self.call.settle()


#: Commands whose end the agent does not know yet, by process id.
RUNNING: Dict[int, Run] = {}
#: Process ids that a replay has handed out: there are no such processes, and if there are, they are somebody else's.
PLAYED: Set[int] = set()


def invented_pid(recorded: Any) -> int:
    """A process id for a command that does not run: the recorded one, unless that is ours now."""
    pid = recorded if isinstance(recorded, int) and recorded > 1 else 1 << 22
    while pid in (getpid(), getppid()) or pid in RUNNING:
        pid += 1
    return pid


def streams(stdin: str, stdout: str, stderr: str) -> Dict[str, str]:
    """As a request has them: pipe, inherit, devnull, file, stdout."""
    return {"stdin": stdin, "stdout": stdout, "stderr": stderr}


def words_of(args: Any) -> List[str]:
    """Arguments as text."""
    return [_text(word) for word in args]

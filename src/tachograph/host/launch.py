"""Recording a command: a host beside it, the client on its path, and nothing of it changed.

    tacho record (this process, the launcher) ── forks ──► the host
          └── runs ──► the command ── its client ── unix socket ──► the host

The launcher only waits. It outlives both: when the host dies it acts as ``--on-host-loss`` says and declares the loss in the log; when
the launcher itself is killed, the host goes on until the command's clients are gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import secrets
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tachograph.core.errors import UsageError

#: After the command ended, wait this long for processes of it that still talk to the host. Seconds.
LINGER = 5.0

#: A command that was told to stop may tidy up for this long. Seconds.
GRACE = 2.0

#: ``TACHO_RECORDING`` is for the commit hook, which runs below commands that are recorded as a whole and have no ``TACHO_SOCKET``.
ENVIRONMENT = ("TACHO_SOCKET", "TACHO_TOKEN", "TACHO_MODE", "TACHO_ON_HOST_LOSS", "TACHO_LANE", "TACHO_RECORDING")


@dataclass
class Ended:
    """How the command ended, and what the host said last. ``host``: None when the host did not live to say anything. ``interrupted``: the signal
    that this process was sent meanwhile, if any: by somebody who wants it all to end."""

    exit_code: int | None
    signal: int | None
    seconds: float
    host: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)
    interrupted: int | None = None


class Meeting:
    """The private folder with the socket on which client and host meet; 0700, gone afterwards."""

    def __init__(self, base: str | None = None) -> None:
        base = base or os.environ.get("XDG_RUNTIME_DIR")
        self.folder = tempfile.mkdtemp(prefix="tacho-", dir=base if base and os.access(base, os.W_OK) else None)
        self.socket = os.path.join(self.folder, "host")
        self.token = secrets.token_hex(16)

    def environment(self, base: Mapping[str, str], *, mode: str, on_loss: str, session_id: str | None = None) -> dict[str, str]:
        """The command's environment: as it was, and what the client needs to find us."""
        return client_environment(base, socket=self.socket, token=self.token, mode=mode, on_loss=on_loss, session_id=session_id)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def client_environment(
    base: Mapping[str, str], *, socket: str, token: str, mode: str, on_loss: str, session_id: str | None = None
) -> dict[str, str]:
    """A command's environment: as it was, and what the client in it needs to find its host. ``session_id``: of one that is recorded."""
    boot = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "client", "boot")
    path = base.get("PYTHONPATH")
    return {
        **{key: value for key, value in base.items() if key not in ENVIRONMENT},
        "PYTHONPATH": boot + (os.pathsep + path if path else ""),
        "TACHO_SOCKET": socket,
        "TACHO_TOKEN": token,
        "TACHO_MODE": mode,
        "TACHO_ON_HOST_LOSS": on_loss,
        **({"TACHO_RECORDING": f"{session_id} {socket}"} if session_id is not None else {}),
    }


class Control(Protocol):
    """The launcher's end of its line to the host."""

    def fileno(self) -> int: ...

    def receive(self) -> bytes | None:
        """What the host said, as lines of JSON; None when it says nothing more. Waits where there is nothing yet."""
        ...

    def tell_exit(self, report: dict[str, Any]) -> None:
        """How the command ended: ``exit_code``, ``signal``, ``seconds``."""
        ...

    def over(self) -> None:
        """The host has said its last word."""
        ...


class Forked:
    """To a host that this process has forked."""

    def __init__(self, end: socket.socket, pid: int) -> None:
        self._end = end
        self._pid = pid

    def fileno(self) -> int:
        return self._end.fileno()

    def receive(self) -> bytes | None:
        try:
            return self._end.recv(1 << 20) or None
        except OSError:
            return None

    def tell_exit(self, report: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._end.sendall(json.dumps(report).encode() + b"\n")
            self._end.shutdown(socket.SHUT_WR)

    def over(self) -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def executable(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Where the command's program is. Raises ``UsageError`` before anything is recorded for one that cannot be run."""
    if not command:
        raise UsageError("no command to run; put it after --, as in tacho record -- python agent.py")
    name = command[0]
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found is not None:
        return found
    if os.sep in name and os.path.isdir(name):
        raise UsageError(f"cannot run {name}, it is a folder; name a program")
    if os.path.exists(name) and os.sep in name and not os.stat(name).st_mode & stat.S_IXUSR:
        raise UsageError(f"cannot run {name}, it is not executable; chmod +x it, or put its interpreter before it")
    raise UsageError(f"no such command, {name}; check the spelling and PATH")


def fork_host(serve: Callable[[socket.socket], Any]) -> Forked:
    """The line to a new host. ``serve`` runs in the child and gets the other end."""
    ours, theirs = socket.socketpair()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        theirs.close()
        return Forked(ours, pid)
    code = 70
    try:
        ours.close()
        become_host()
        serve(theirs)
        code = 0
    except BaseException as error:  # noqa: BLE001 - the last line of a process: it must end by itself, and say so
        with contextlib.suppress(OSError):
            theirs.sendall(json.dumps({"failure": f"{type(error).__name__} in the host; this is a defect of tachograph"}).encode())
            if os.environ.get("TACHO_DEBUG"):
                sys.excepthook(type(error), error, error.__traceback__)
    finally:
        os._exit(code)


def become_host() -> None:
    """Of a process that will see secrets: it ends by itself only, and cannot be looked into."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(name, signal.SIG_IGN)  # the host ends when there is nothing left to record, not when somebody is in a hurry
    close_memory(b"tacho-host")


def close_memory(name: bytes) -> None:
    """No core dump, no ptrace and no ``/proc/PID/mem`` of this process and what it forks, for its own user either."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.prctl(15, name, 0, 0, 0)  # PR_SET_NAME, for people who look at ps
        libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE off


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    control: Control,
    *,
    on_loss: str,
    before_exec: Callable[[], None] | None = None,
    cwd: str | None = None,
    stdout: Any = None,
) -> Ended:
    """Run the command to its end, with our own standard streams, and hear the host out. When the host says ``{"stop": why}`` and the
    command has not ended by itself ``GRACE`` seconds later, it is ended."""
    began = time.monotonic()
    notes: list[str] = []
    told: list[int] = []
    previous = {name: signal.signal(name, lambda number, _: told.append(number)) for name in (signal.SIGINT, signal.SIGQUIT)}
    child = subprocess.Popen(
        list(command), env=dict(environment), cwd=cwd, stdout=stdout, close_fds=True,
        preexec_fn=_child_setup(before_exec),  # noqa: PLW1509 - this process has a single thread by construction
    )  # fmt: skip

    def relay(number: int, _: Any) -> None:
        told.append(number)
        child.send_signal(number)

    relayed = {name: signal.signal(name, relay) for name in (signal.SIGTERM, signal.SIGHUP)}
    try:
        deadline: float | None = None
        said = b""
        poller = select.poll()
        poller.register(control, select.POLLIN | select.POLLHUP)
        ended = _watch(child.pid)
        if ended is not None:
            poller.register(ended, select.POLLIN)
        while child.poll() is None:
            ready = [fd for fd, _ in poller.poll(200 if ended is not None else 20)]
            if control.fileno() in ready:
                data = control.receive()
                said += data or b""
                if data and b'"stop"' in data:
                    deadline = time.monotonic() + GRACE
                if data is None:
                    poller.unregister(control)
                    notes.append("the host died while the command ran")
                    if on_loss == "stop":
                        _end(child)
            if deadline is not None and time.monotonic() > deadline:
                _end(child)
        seconds = time.monotonic() - began
        code = child.returncode
        killed = -code if code < 0 else None
        control.tell_exit({"exit_code": code if code >= 0 else None, "signal": killed, "seconds": seconds})
        while (data := control.receive()) is not None:
            said += data
        control.over()
        if ended is not None:
            os.close(ended)
    finally:
        for name, handler in {**previous, **relayed}.items():
            signal.signal(name, handler)
    return Ended(code if code >= 0 else None, killed, seconds, _last_words(said), notes, told[0] if told else None)


def _child_setup(before_exec: Callable[[], None] | None) -> Callable[[], None]:
    def setup() -> None:
        for name in (signal.SIGINT, signal.SIGQUIT):
            signal.signal(name, signal.SIG_DFL)
        if before_exec is not None:
            before_exec()

    return setup


def _watch(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends, where the system has such a thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        child.kill()


def _last_words(said: bytes) -> dict[str, Any] | None:
    for line in reversed(said.splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return None


def leave_as(ended: Ended) -> int:
    """Our own exit code: the command's. Killed by a signal? Then so are we, and the shell sees what it would have seen."""
    if ended.signal is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        with contextlib.suppress(OSError, ValueError):
            signal.signal(ended.signal, signal.SIG_DFL)
        os.kill(os.getpid(), ended.signal)
        return 128 + ended.signal
    return ended.exit_code or 0

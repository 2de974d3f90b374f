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
from typing import Any

from tachograph.core.errors import UsageError

#: After the command ended, wait this long for processes of it that still talk to the host. Seconds.
LINGER = 5.0

#: A command that was told to stop may tidy up for this long. Seconds.
GRACE = 2.0

ENVIRONMENT = ("TACHO_SOCKET", "TACHO_TOKEN", "TACHO_MODE", "TACHO_ON_HOST_LOSS", "TACHO_LANE")


@dataclass
class Ended:
    """How the command ended, and what the host said last. ``host``: None when the host did not live to say anything."""

    exit_code: int | None
    signal: int | None
    seconds: float
    host: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)


class Meeting:
    """The private folder with the socket on which client and host meet; 0700, gone afterwards."""

    def __init__(self, base: str | None = None) -> None:
        base = base or os.environ.get("XDG_RUNTIME_DIR")
        self.folder = tempfile.mkdtemp(prefix="tacho-", dir=base if base and os.access(base, os.W_OK) else None)
        self.socket = os.path.join(self.folder, "host")
        self.token = secrets.token_hex(16)

    def environment(self, base: Mapping[str, str], *, mode: str, on_loss: str) -> dict[str, str]:
        """The command's environment: as it was, and what the client needs to find us."""
        boot = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "client", "boot")
        path = base.get("PYTHONPATH")
        return {
            **{key: value for key, value in base.items() if key not in ENVIRONMENT},
            "PYTHONPATH": boot + (os.pathsep + path if path else ""),
            "TACHO_SOCKET": self.socket,
            "TACHO_TOKEN": self.token,
            "TACHO_MODE": mode,
            "TACHO_ON_HOST_LOSS": on_loss,
        }

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


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


def fork_host(serve: Callable[[socket.socket], None]) -> tuple[int, socket.socket]:
    """The host's process id, and the control socket to it. ``serve`` runs in the child and gets the other end."""
    ours, theirs = socket.socketpair()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        theirs.close()
        return pid, ours
    code = 70
    try:
        ours.close()
        _become_host()
        serve(theirs)
        code = 0
    except BaseException as error:  # noqa: BLE001 - the last line of a process: it must end by itself, and say so
        with contextlib.suppress(OSError):
            theirs.sendall(json.dumps({"failure": f"{type(error).__name__} in the host; this is a defect of tachograph"}).encode())
            if os.environ.get("TACHO_DEBUG"):
                sys.excepthook(type(error), error, error.__traceback__)
    finally:
        os._exit(code)


def _become_host() -> None:
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(name, signal.SIG_IGN)  # the host ends when there is nothing left to record, not when somebody is in a hurry
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.prctl(15, b"tacho-host", 0, 0, 0)  # PR_SET_NAME, for people who look at ps
        libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE off: no core dump, no ptrace, of a process that has seen secrets


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    control: socket.socket,
    host_pid: int,
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
    previous = {name: signal.signal(name, signal.SIG_IGN) for name in (signal.SIGINT, signal.SIGQUIT)}
    child = subprocess.Popen(
        list(command), env=dict(environment), cwd=cwd, stdout=stdout, close_fds=True,
        preexec_fn=_child_setup(before_exec),  # noqa: PLW1509 - this process has a single thread by construction
    )  # fmt: skip
    relayed = {name: signal.signal(name, lambda number, _: child.send_signal(number)) for name in (signal.SIGTERM, signal.SIGHUP)}
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
                data = _receive(control)
                said += data
                if data and b'"stop"' in data:
                    deadline = time.monotonic() + GRACE
                if not data:
                    poller.unregister(control)
                    notes.append("the host died while the command ran")
                    if on_loss == "stop":
                        _end(child)
            if deadline is not None and time.monotonic() > deadline:
                _end(child)
        seconds = time.monotonic() - began
        code = child.returncode
        killed = -code if code < 0 else None
        with contextlib.suppress(OSError):
            control.sendall(json.dumps({"exit_code": code if code >= 0 else None, "signal": killed, "seconds": seconds}).encode() + b"\n")
            control.shutdown(socket.SHUT_WR)
        while data := _receive(control):
            said += data
        with contextlib.suppress(ChildProcessError):
            os.waitpid(host_pid, 0)
        if ended is not None:
            os.close(ended)
    finally:
        for name, handler in {**previous, **relayed}.items():
            signal.signal(name, handler)
    return Ended(code if code >= 0 else None, killed, seconds, _last_words(said), notes)


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


def _receive(control: socket.socket) -> bytes:
    try:
        return control.recv(1 << 20)
    except OSError:
        return b""


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

"""The thread that names what a guarded agent tries: it reads each attempt that the filter reports, and answers it.

Rules:

1. What Landlock refuses is only *named* here: the supervisor says "go on" and the kernel decides. A path that is
   changed between our look and the kernel's can therefore cheat the report, never the guard.
2. What Landlock does not know (mode, owner, times, attributes, signals, unix sockets; everything on a kernel without
   it) is refused here. That leaves a window: a second thread may swap the path after the look. It is accepted, since
   where Landlock holds what gets through is a changed mode or time, not data; a program has to race for it on purpose;
   and each race it loses is in the report. Without Landlock data is behind the same window, which is why the report
   says what held.
3. Attempts that fail by themselves are not named: the agent would have got the same error without a guard.
4. The agent waits while we look, so an answer is sent before the report is written, and an error of ours is answered
   with EACCES.
5. Nobody is told twice: equal attempts are counted, and after ``MAX_NAMED`` different ones only counted.

If the supervisor's process dies, the kernel answers every reported call with ENOSYS: the guard fails closed.

Source: ``seccomp_unotify(2)``.
"""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import json
import os
import select
import socket
import stat
import struct
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from tachograph.replay.guard import kernel, paths
from tachograph.replay.guard import syscalls as table
from tachograph.replay.guard.paths import Place
from tachograph.replay.guard.plan import GuardError
from tachograph.replay.guard.seccomp import WRITE_FLAGS

if TYPE_CHECKING:
    from pathlib import Path

_RECEIVE, _SEND, _ID_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
#: Wake the agent on the processor where the answer was written: it waits for nothing else.
_SYNC_WAKE_UP: Final = 1
_CONTINUE: Final = 1
_NOTIFICATION: Final = struct.Struct("=QIIiIQ6Q")
_ANSWER: Final = struct.Struct("=QqiI")
_O_TMPFILE_BIT: Final = 0o20000000

MAX_NAMED: Final = 1000
MAX_GREETING: Final = 64 << 10

#: Errors with which a call fails by itself.
_NATURAL: Final = frozenset(
    (
        errno.ENOENT,
        errno.ENOTDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.EBADF,
        errno.EFAULT,
        errno.EIO,
        errno.EINVAL,
        errno.ESRCH,
    )
)

#: libc asks these for user names, and goes on without them.
_QUIET_SOCKETS: Final = ("/run/nscd/", "/run/systemd/userdb/")

_FAMILIES: Final = {int(f): f.name for f in socket.AddressFamily}
_KINDS: Final = {int(k): k.name for k in socket.SocketKind}

Report = Callable[[dict[str, Any]], None]


class _Seen(NamedTuple):
    """One reported system call (``struct seccomp_notif``)."""

    id: int
    task: int
    flags: int
    number: int
    arch: int
    instruction: int
    arguments: tuple[int, ...]

    def signed(self, index: int) -> int:
        """An argument that is an ``int``, such as a descriptor."""
        return ((self.arguments[index] & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


class _Refusal(NamedTuple):
    """An attempt that does not get through: ``error`` is 0 where the kernel refuses it; without ``what``, not named."""

    error: int
    what: str = ""
    where: str = ""


class Supervisor:
    """Names and answers what comes over a listener, in a daemon thread, until the last guarded process ends or
    ``close``.

    ``report`` gets ``{"what", "where", "by", "path", "program", "pid", "count"}`` once for each different (what, path,
    by, program), on the supervisor's thread, and must return soon. ``where`` is for people: path or address, program name, pid.
    ``attempts`` has the final counts.

    ``writable`` as the agent names it (``GuardPlan.writable``). ``landlock`` is the ABI that holds, 0 for none: what it
    does not cover is refused here. ``sockets`` as in the plan.
    """

    def __init__(
        self, fd: int, *, writable: Sequence[Path], report: Report, landlock: int = 0, sockets: Sequence[Path] | None = None
    ) -> None:
        self._fd = fd
        self._report = report
        self._landlock = landlock
        self._writable = [os.path.realpath(path) for path in writable]
        self._sockets = None if sockets is None else {os.path.realpath(path) for path in sockets}
        self._root: int | None = None
        self._filters = 0
        self._unnamed = 0
        self._named: dict[tuple[str, str, str, str], dict[str, Any]] = {}
        #: The first error of our own (or of ``report``), which is a defect: the call in question was refused.
        self.defect: Exception | None = None
        arch = table.ARCHES[kernel.MACHINE]
        self._arch = arch
        self._names = {number: name for name, number in arch.numbers.items()}
        with contextlib.suppress(OSError):  # only speed, and only from Linux 6.6 on
            fcntl.ioctl(fd, _SET_FLAGS, _SYNC_WAKE_UP)
        self._wake_read, self._wake = os.pipe()
        self._closing = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="tachograph-guard", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """All attempts so far, each with its count; the last one says how many more were not told apart."""
        found = [dict(entry) for entry in list(self._named.values())]
        if self._unnamed:
            where = f"{self._unnamed} more attempts at other places"
            found.append({"what": "other", "where": where, "by": "seccomp", "count": self._unnamed})
        return found

    def close(self) -> None:
        """Stop; a guarded process that still runs gets ENOSYS for whatever it tries from now on. May be called twice."""
        with self._closing:
            if self._wake < 0:
                return
            os.write(self._wake, b"x")
            self._thread.join()
            for fd in (self._wake, self._wake_read, *(() if self._root is None else (self._root,))):
                os.close(fd)
            self._wake = -1

    def wait(self, timeout: float | None = None) -> bool:
        """Wait (seconds) until the last guarded process has ended; gives whether it has."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._serve()
        except OSError as error:
            self.defect = self.defect or error
        finally:
            os.close(self._fd)  # whoever still waits for an answer gets ENOSYS now, rather than none for ever

    def _serve(self) -> None:
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        while True:
            for fd, event in poll.poll():
                if fd == self._wake_read:
                    return
                if event & select.POLLIN:
                    self._one()
                elif event & (select.POLLHUP | select.POLLERR):
                    return

    def _one(self) -> None:
        """Take one report, answer it, and write it down."""
        buffer = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(self._fd, _RECEIVE, buffer, True)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):  # the process died, or was interrupted, before we came
                return
            raise
        fields = _NOTIFICATION.unpack(buffer)
        seen = _Seen._make((*fields[:6], fields[6:]))
        try:
            refusal = self._judge(seen)
        except Exception as error:  # noqa: BLE001 - the agent waits for an answer, whatever went wrong here
            self.defect = self.defect or error
            refusal = _Refusal(errno.EACCES, "defect", type(error).__name__)
        # Read before the answer: afterwards the process may be gone.
        entry = self._entry(seen, refusal) if refusal and refusal.what and self._alive(seen) else None
        code, flags = (-refusal.error, 0) if refusal and refusal.error else (0, _CONTINUE)
        try:
            fcntl.ioctl(self._fd, _SEND, _ANSWER.pack(seen.id, 0, code, flags))
        except OSError as failure:
            if failure.errno != errno.ENOENT:  # it died meanwhile
                raise
        if entry:
            self._note(entry)

    def _alive(self, seen: _Seen) -> bool:
        """Is the call still waiting? (If not, its number may belong to another process by now.)"""
        try:
            fcntl.ioctl(self._fd, _ID_VALID, struct.pack("=Q", seen.id))
        except OSError:
            return False
        return True

    def _entry(self, seen: _Seen, refusal: _Refusal) -> dict[str, Any]:
        pid, program = _program(seen.task)
        where = refusal.where.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        return {
            "what": refusal.what,
            "where": f"{where} ({program}, pid {pid})",
            "by": "seccomp" if refusal.error else "landlock",
            "path": where,
            "program": program,
            "pid": pid,
            "count": 1,
        }

    def _note(self, entry: dict[str, Any]) -> None:
        key = (entry["what"], entry["path"], entry["by"], entry["program"])
        if known := self._named.get(key):
            known["count"] += 1
        elif len(self._named) >= MAX_NAMED:
            self._unnamed += 1
        else:
            self._named[key] = entry
            try:
                self._report(dict(entry))
            except Exception as error:  # noqa: BLE001 - the agent's next call needs this thread
                self.defect = self.defect or error

    # -- decisions: a refusal, or None for "go on"
    # ------------------------------------------------------------------------

    def _judge(self, seen: _Seen) -> _Refusal | None:
        name = self._names.get(seen.number, "") if seen.arch == self._arch.audit else ""
        if self._root is None:
            self._root = paths.open_root(seen.task)
            self._filters = _filters(seen.task)
        if not name:
            return _Refusal(errno.ENOSYS, "abi", f"system call {seen.number & 0x3FFFFFFF} of a foreign ABI")
        if name in table.OPENS:
            return self._judge_open(seen, name)
        if call := table.CHANGES.get(name) or table.ATTRIBUTES.get(name):
            return self._judge_change(seen, call)
        if name in table.SIGNALS:
            return self._judge_signal(seen, name)
        if name == "socket":
            family, kind = seen.signed(0), seen.signed(1) & 0xF
            return _Refusal(errno.EACCES, "socket", f"{_FAMILIES.get(family, family)} {_KINDS.get(kind, kind)}")
        if name in ("bind", "connect", "sendto"):
            return self._judge_address(seen, name)
        return _Refusal(errno.EPERM, name, "this machine")

    def _judge_open(self, seen: _Seen, name: str) -> _Refusal | None:
        operand, index = table.OPENS[name]
        if index < 0:
            flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
        elif name == "openat2":
            how = paths.read_memory(seen.task, seen.arguments[index], 8)
            flags = int.from_bytes(how, "little")
        else:
            flags = seen.signed(index)
        if flags & os.O_PATH or not flags & WRITE_FLAGS:
            return None
        exclusive = flags & os.O_CREAT and flags & os.O_EXCL
        found = self._find(seen, operand._replace(follow=not (exclusive or flags & os.O_NOFOLLOW)))
        if isinstance(found, Place):
            if found.keeps_nothing:
                return None
            mode = found.status.st_mode if found.status else 0
            if not mode and not flags & os.O_CREAT:
                return None  # nothing there
            if mode and exclusive:
                return None  # already there
            if (stat.S_ISDIR(mode) and not flags & _O_TMPFILE_BIT) or stat.S_ISLNK(mode):
                return None  # cannot be opened like this
            if mode and not flags & (os.O_WRONLY | os.O_RDWR | os.O_TRUNC):
                return None  # "make it if it is not there" changes nothing
        truncates_only = not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        return self._outside([found], "write", landlock=3 if truncates_only else 1)

    def _judge_change(self, seen: _Seen, call: table.Call) -> _Refusal | None:
        found = []
        for operand in call.operands:
            place = self._find(seen, operand)
            if place is None:
                return None
            if isinstance(place, Place) and operand.needs != "any" and (place.status is None) == (operand.needs == "there"):
                return None
            found.append(place)
        what = call.what
        if what == "unlink" and len(call.operands) == 1 and call.operands[0].at == 0 and seen.signed(2) & table.AT_REMOVEDIR:
            what = "rmdir"
        return self._outside(found, what, landlock=call.landlock)

    def _judge_address(self, seen: _Seen, name: str) -> _Refusal | None:
        """``bind`` makes a file, ``connect`` and ``sendto`` reach one; only unix sockets come here, others were never made."""
        address, size = (4, 5) if name == "sendto" else (1, 2)
        try:
            raw = paths.read_memory(seen.task, seen.arguments[address], min(seen.arguments[size], 128))
        except OSError as error:
            return None if error.errno in _NATURAL else _Refusal(errno.EACCES, name, "an address that cannot be read")
        if len(raw) < 2 or int.from_bytes(raw[:2], "little") == socket.AF_UNSPEC:
            return None
        if int.from_bytes(raw[:2], "little") != socket.AF_UNIX:
            return _Refusal(errno.EACCES, name, f"an address of family {int.from_bytes(raw[:2], 'little')}")
        path = raw[2:].split(b"\0", 1)[0]
        if not path:  # unnamed, or abstract: the latter do not leave a Landlock domain
            outside = name != "bind" and len(raw) > 2 and self._landlock < 6
            return _Refusal(errno.EACCES, name, "@" + os.fsdecode(raw[3:])) if outside else None
        found = self._look(seen, path, at=table.AT_FDCWD, follow=name != "bind")
        if name == "bind":
            return None if isinstance(found, Place) and found.status else self._outside([found], name, landlock=1)
        if self._sockets is None or not isinstance(found, Place) or not found.status or found.path in self._sockets:
            return None
        if self._inside(found):
            return None
        return _Refusal(errno.EACCES, "" if found.path.startswith(_QUIET_SOCKETS) else name, found.path)

    def _judge_signal(self, seen: _Seen, name: str) -> _Refusal | None:
        target = seen.signed(table.SIGNALS[name][0])
        if name == "pidfd_send_signal":
            target = _pid_of_descriptor(seen.task, target)
        if target == 0 or (target != -1 and self._is_guarded(abs(target))):
            return None
        where = "every process" if target == -1 else f"process {abs(target)}"
        return _Refusal(errno.EPERM, "kill", where)

    def _is_guarded(self, pid: int) -> bool:
        """Is a process under our filter? Filters are inherited and only added to, so one that has fewer is a stranger."""
        try:
            return _filters(pid) >= self._filters
        except FileNotFoundError:
            return True  # not there: the call fails by itself

    # -- files
    # ------------------------------------------------------------------------------------------------------------

    def _find(self, seen: _Seen, operand: table.Operand) -> Place | str | None:
        """What an operand leads to; a text where it is there but cannot be looked at; None where the call fails by itself."""
        at = seen.signed(operand.at) if operand.at >= 0 else table.AT_FDCWD
        follow = operand.follow
        if operand.flags >= 0:
            flags = seen.signed(operand.flags)
            follow = (follow or bool(flags & table.AT_SYMLINK_FOLLOW)) and not flags & table.AT_SYMLINK_NOFOLLOW
        try:
            path = b""
            if operand.path >= 0 and seen.arguments[operand.path]:
                path = paths.read_path(seen.task, seen.arguments[operand.path])
            if not path and at != table.AT_FDCWD:
                return paths.descriptor(seen.task, at)
        except OSError as error:
            return None if error.errno in _NATURAL else f"a path that cannot be read ({error.strerror})"
        return self._look(seen, path or b".", at=at, follow=follow)

    def _look(self, seen: _Seen, path: bytes, *, at: int, follow: bool) -> Place | str | None:
        text = os.fsdecode(path)
        try:
            text = paths.absolute(path, task=seen.task, at=at)
            assert self._root is not None
            return paths.resolve(text, task=seen.task, root=self._root, follow=follow)
        except OSError as error:
            return None if error.errno in _NATURAL else text

    def _outside(self, found: Sequence[Place | str | None], what: str, *, landlock: int) -> _Refusal | None:
        """The refusal if one of the places is outside; ``landlock`` is the ABI from which on the kernel sees to it."""
        if None in found or all(isinstance(place, Place) and self._inside(place) for place in found):
            return None
        names = [place.path if isinstance(place, Place) else str(place) for place in found]
        error = 0 if landlock and self._landlock >= landlock else errno.EPERM if not landlock else errno.EACCES
        if any("/__pycache__" in name for name in names):
            return _Refusal(error)  # the interpreter's cache, not the agent's doing; it goes on without
        return _Refusal(error, what, " -> ".join(names))

    def _inside(self, place: Place) -> bool:
        return not place.path or any(place.path == top or place.path.startswith(top + "/") for top in self._writable)


def _program(task: int) -> tuple[int, str]:
    """Process id and program name of a task."""
    try:
        pid = int(paths.status_of(task)["Tgid"])
        return pid, paths.status_of(pid)["Name"]
    except (OSError, KeyError):
        return task, "?"


def _filters(pid: int) -> int:
    """How many filters a process is under (Linux 5.9), or whether it is under any."""
    status = paths.status_of(pid)
    return int(status.get("Seccomp_filters", "0")) or int(status.get("Seccomp", "0") == "2")


def _pid_of_descriptor(task: int, fd: int) -> int:
    """The process that a task's pidfd stands for; 0 where it stands for none."""
    try:
        with open(f"/proc/{task}/fdinfo/{fd}", encoding="ascii") as file:
            fields = dict(line.split(":\t", 1) for line in file if ":\t" in line)
    except OSError:
        return 0
    return max(int(fields.get("Pid", "0")), 0)


def receive(channel: socket.socket) -> tuple[int | None, dict[str, Any]]:
    """The host's end of ``enter``: the listener (None where attempts cannot be named), and which guards hold.

    Blocks until the child has entered. Raises GuardError where it ended first.
    """
    fds = array.array("i")
    line = b""
    while not line.endswith(b"\n"):
        data, ancillary, _, _ = channel.recvmsg(MAX_GREETING, socket.CMSG_LEN(fds.itemsize), socket.MSG_CMSG_CLOEXEC)
        for level, kind, payload in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
        line += data
        if not data or len(line) > MAX_GREETING:
            raise GuardError("the agent's process ended before it was under guard; nothing was run")
    guards: dict[str, Any] = json.loads(line)
    return (fds[0] if fds else None), guards

"""``tacho host``: one recorder for many launchers, as a user of its own.

The first process listens, asks the kernel who connects, and forks one process for each session. It reads a request without looking into it,
holds no key, and opens no store; whatever a launcher or an agent sends is dealt with by the process of that session only. When such a process
dies, the first one has another declare what was lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import re
import resource
import selectors
import shutil
import signal
import socket
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import msgspec

from tachograph.client.frames import FrameError, Splitter, pack
from tachograph.core import ids
from tachograph.core.errors import ConflictError, NotFoundError, TachographError, UsageError
from tachograph.core.events import SessionEnd
from tachograph.format import layout
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.log.writer import Mark

from . import hosted, launch, record
from .caller import Caller
from .hosted import Hosting

#: Of one user: sessions at once, and connections that have not sent a whole request. The oldest of these makes room.
MAX_SESSIONS = 256
MAX_WAITING = 64
#: Seconds for a request to arrive, and its bytes; bytes of all that have not arrived yet.
PATIENCE = 10.0
MAX_REQUEST = 32 << 20
MAX_BUFFERED = 128 << 20
#: Seconds that sessions get to end when the host is told to, before they are killed and declared lost.
ENDING = 30.0
#: Bytes of address space in private memory that one session's process may take.
MEMORY = 8 << 30
#: Bytes of a unix socket's path.
MAX_PATH = 107

_SO_PEERGROUPS = 59
_ID = re.compile(r"ses_[0-9A-HJKMNP-TV-Z]{26}")
_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}


@dataclass(frozen=True)
class Allowed:
    """Who may record: users and groups by number. The host's own user always may."""

    users: frozenset[int] = frozenset()
    groups: frozenset[int] = frozenset()

    def permits(self, uid: int, groups: frozenset[int]) -> bool:
        return uid == os.geteuid() or uid in self.users or bool(self.groups & groups)

    @property
    def others(self) -> bool:
        return bool(self.users or self.groups)


@dataclass
class _Waiting:
    """A connection that has not sent its whole request."""

    end: socket.socket
    uid: int
    since: float
    splitter: Splitter = field(default_factory=Splitter)


@dataclass
class _Running:
    """The process of a session. ``words``: what it says to us at last."""

    session_id: str
    uid: int
    words: int


class Sidecar:
    """Serves until SIGTERM or SIGINT."""

    def __init__(self, path: str, hosting: Hosting, allowed: Allowed, *, say: Callable[[str], None]) -> None:
        self._path = os.path.abspath(path)
        self._hosting = hosting
        self._allowed = allowed
        self._say = say
        self._selector = selectors.DefaultSelector()
        self._waiting: dict[socket.socket, _Waiting] = {}
        self._running: dict[int, _Running] = {}
        self._declaring: set[int] = set()
        self._stopping = False
        self._listener: socket.socket | None = None

    def run(self) -> None:
        """Listen, serve, end. ``say`` is called with a line when launchers can come."""
        launch.close_memory(b"tacho-host")
        os.umask(0o077)
        listener = self._listener = listen(self._path, 0o666 if self._allowed.others else 0o600)
        wake, woken = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        for number in _SIGNALS:
            signal.signal(number, self._told)
        for number in (signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        self._selector.register(listener, selectors.EVENT_READ)
        self._selector.register(wake, selectors.EVENT_READ)
        for session_id in left_behind(self._hosting.folder):
            self._declare(session_id, b"")
        notify("READY=1")
        self._say(f"host listens at {self._path}")
        while not self._stopping:
            for key, _ in self._selector.select(1.0 if self._waiting else None):
                if key.fileobj is listener:
                    self._accept(listener)
                elif key.fileobj == wake:
                    with contextlib.suppress(BlockingIOError):
                        os.read(wake, 4096)
                elif isinstance(key.data, _Waiting) and key.data.end in self._waiting:
                    self._read(key.data)
            self._reap()
            late = time.monotonic() - PATIENCE
            for waiting in [waiting for waiting in self._waiting.values() if waiting.since < late]:
                self._refuse(waiting, "the request did not arrive in time")
        notify("STOPPING=1")
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        listener.close()
        for waiting in list(self._waiting.values()):
            self._refuse(waiting, "it is being stopped")
        self._end_all(wake)

    def _told(self, number: int, _: Any) -> None:
        if number != signal.SIGCHLD:
            self._stopping = True

    # -- connections -----------------------------------------------------------------------------------------------------

    def _accept(self, listener: socket.socket) -> None:
        try:
            end, _ = listener.accept()
        except OSError:
            time.sleep(0.01)  # out of descriptors: those that wait have a deadline
            return
        end.setblocking(False)
        uid, groups = peer(end)
        waiting = _Waiting(end, uid, time.monotonic())
        if not self._allowed.permits(uid, groups):
            self._refuse(waiting, f"user {uid} may not record here; tacho host --allow or --group says who may")
            return
        same = [other for other in self._waiting.values() if other.uid == uid]
        if len(same) >= MAX_WAITING:
            self._refuse(same[0], "too many connections of this user that ask for nothing")
        self._waiting[end] = waiting
        self._selector.register(end, selectors.EVENT_READ, waiting)

    def _read(self, waiting: _Waiting) -> None:
        try:
            data = waiting.end.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._forget(waiting)
            waiting.end.close()
            return
        waiting.splitter.feed(data)
        try:
            raw = hosted.request(waiting.splitter)
        except FrameError:
            self._refuse(waiting, "what it was sent is no request of tacho record --host")
            return
        if raw is None:
            if waiting.splitter.pending() > MAX_REQUEST:
                self._refuse(waiting, f"a request of more than {MAX_REQUEST >> 20} MiB")
            elif sum(other.splitter.pending() for other in self._waiting.values()) > MAX_BUFFERED:
                self._refuse(max(self._waiting.values(), key=lambda other: other.splitter.pending()), "too much is asked of it at once")
            return
        if sum(running.uid == waiting.uid for running in self._running.values()) >= MAX_SESSIONS:
            self._refuse(waiting, f"{MAX_SESSIONS} sessions of user {waiting.uid} are running; wait for one of them to end")
            return
        self._start(waiting, raw)

    def _refuse(self, waiting: _Waiting, why: str) -> None:
        self._forget(waiting)
        with contextlib.suppress(OSError):
            waiting.end.send(pack({"m": "refused", "why": why}))
        waiting.end.close()

    def _forget(self, waiting: _Waiting) -> None:
        if self._waiting.pop(waiting.end, None) is not None:
            self._selector.unregister(waiting.end)

    # -- processes -------------------------------------------------------------------------------------------------------

    def _start(self, waiting: _Waiting, raw: bytes) -> None:
        session_id = ids.session_id(self._hosting.clock.unix_ms(), self._hosting.entropy(10))
        try:
            ours, theirs = os.pipe()
        except OSError:
            self._refuse(waiting, "it has no room for another session")
            return
        pid = self._fork()
        if pid is None:
            os.close(ours)
            os.close(theirs)
            self._refuse(waiting, "it has no room for another session")
        elif pid:
            os.close(theirs)
            self._forget(waiting)
            waiting.end.close()
            self._running[pid] = _Running(session_id, waiting.uid, ours)
        else:
            os.close(ours)
            self._be_session(waiting, raw, session_id, theirs)

    def _fork(self) -> int | None:
        """As ``os.fork``; None where there is no room. The child starts deaf to our signals, and keeps nobody else's connection."""
        sys.stdout.flush()
        sys.stderr.flush()
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                if self._listener is not None:
                    self._listener.close()  # else the next host would find somebody listening, who answers nobody
                for number in _SIGNALS:
                    signal.signal(number, signal.SIG_DFL)
                launch.become_host()
        except OSError:
            return None
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        return pid

    def _be_session(self, waiting: _Waiting, raw: bytes, session_id: str, words: int) -> NoReturn:
        code = 70
        try:
            told: list[int] = []
            signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
            self._selector.close()
            for other in self._waiting.values():
                if other is not waiting:
                    other.end.close()
            for running in self._running.values():
                os.close(running.words)
            _limit()
            caller = Caller(waiting.end, waiting.splitter, lambda: bool(told))
            summary = hosted.host(self._hosting, caller, raw, session_id, waiting.uid, lambda: bool(told))
            code = 0
            if summary is not None and summary.get("failure") is not None:
                code = 3
                with contextlib.suppress(OSError):  # who forked us may be gone; the next one finds the session's folder
                    os.write(words, json.dumps({"mark": summary.get("mark")}).encode())
        except BaseException as error:  # noqa: BLE001 - the last line of a process: it must end by itself, and say so
            with contextlib.suppress(OSError):
                self._say(f"the host of {session_id} died of {type(error).__name__}; this is a defect of tachograph")
                if os.environ.get("TACHO_DEBUG"):
                    sys.excepthook(type(error), error, error.__traceback__)
        finally:
            os._exit(code)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            self._declaring.discard(pid)
            running = self._running.pop(pid, None)
            if running is None:
                continue
            with open(running.words, "rb") as file:
                said = file.read(1 << 16)
            if status:
                self._declare(running.session_id, said)

    def _declare(self, session_id: str, said: bytes) -> None:
        """In a process of its own: it opens the store."""
        pid = self._fork()
        if pid is None:
            self._say(f"{session_id} was cut short, and there is no room for a process that declares it")
        elif pid:
            self._declaring.add(pid)
        else:
            code = 70
            try:
                self._selector.close()
                lost(self._hosting, session_id, said)
                code = 0
            except Exception as error:  # noqa: BLE001 - the last line of a process; verify finds the log unsealed and says so
                self._say(f"the loss of {session_id} could not be declared, {type(error).__name__}")
            finally:
                os._exit(code)

    def _end_all(self, wake: int) -> None:
        """Have all sessions end, and wait for them and for those who declare what was lost."""
        until = time.monotonic() + ENDING
        while self._running or self._declaring:
            for pid in self._running:
                _kill(pid, signal.SIGTERM)  # again and again: one that was only just forked does not hear the first
            if self._running and time.monotonic() > until:
                for pid in self._running:
                    _kill(pid, signal.SIGKILL)
                until = time.monotonic() + ENDING
            for key, _ in self._selector.select(0.5):
                if key.fileobj == wake:
                    with contextlib.suppress(BlockingIOError):
                        os.read(wake, 4096)
            self._reap()


def left_behind(folder: str) -> list[str]:
    """Sessions whose folder is still there: they run on, or died with a host before this one."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if _ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def lost(hosting: Hosting, session_id: str, said: bytes) -> None:
    """Declare in a session's log that its host died, unless that one has ended it, or lives. ``said``: its last words, JSON, if it had any."""
    mark = json.loads(said).get("mark") if said else None
    opened = hosting.open_store()
    if mark is not None or _unfinished(opened, session_id):
        record.declare_loss(
            opened, session_id, launch.Ended(None, None, 0.0), msgspec.convert(mark, Mark) if mark is not None else None,
            clock=hosting.clock, entropy=hosting.entropy,
        )  # fmt: skip
    if not _alive(opened, session_id):
        shutil.rmtree(hosting.meeting(session_id), ignore_errors=True)


def _unfinished(opened: OpenStore, session_id: str) -> bool:
    """Whether there is something of which the log does not say how it ended."""
    try:
        entries = Recording(opened, session_id).entries
    except NotFoundError:
        return False
    return not entries or not isinstance(entries[-1].event, SessionEnd)


def _alive(opened: OpenStore, session_id: str) -> bool:
    """Whether a process records it."""
    if not opened.store.exists(layout.events(session_id, 1)):
        return False
    try:
        opened.store.lock(layout.lock(session_id)).release()
    except ConflictError:
        return True
    return False


def listen(path: str, mode: int) -> socket.socket:
    """A listening socket at ``path``. Raises ``UsageError``: where others could put theirs into its place, and where somebody listens already."""
    folder = os.path.dirname(path)
    try:
        found = os.stat(folder)
    except OSError as error:
        raise UsageError(f"cannot listen in {folder}, {error.strerror}; make the folder, and let those in who are to record") from None
    if found.st_uid not in (0, os.geteuid()) or (found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX):
        raise UsageError(
            f"others can write in {folder}, and put a socket of their own there; name one in a folder that is this user's alone"
        )
    longest = os.path.join(folder, ids.session_id(0, bytes(10)), "host")
    if max(len(os.fsencode(path)), len(os.fsencode(longest))) > MAX_PATH:
        raise UsageError(f"the path of the sockets would be too long below {folder}; name a shorter one with --listen")
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_dead(path)
        end.bind(path)
        os.chmod(path, mode)
        end.listen(512)
    except OSError as error:
        end.close()
        raise UsageError(f"cannot listen at {path}, {error.strerror}; name another socket with --listen") from None
    end.setblocking(False)
    return end


def _remove_dead(path: str) -> None:
    """Remove a socket on which nobody listens."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise UsageError(f"{path} is there, and no socket; name another place with --listen")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
    raise UsageError(f"a host listens at {path} already; name another socket with --listen")


def peer(end: socket.socket) -> tuple[int, frozenset[int]]:
    """User and groups of the process that connected, as the kernel knows them."""
    if not hasattr(socket, "SO_PEERCRED"):
        raise UsageError("tacho host needs to know who connects, which this system does not tell; record with a private host")
    _, uid, gid = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return uid, frozenset((gid, *_groups(end, uid, gid)))


def _groups(end: socket.socket, uid: int, gid: int) -> Iterable[int]:
    """The other groups of a peer; those that the machine's files say, where it has more than 256, or the kernel is older than 4.13."""
    try:
        found = end.getsockopt(socket.SOL_SOCKET, _SO_PEERGROUPS, 1024)  # more than that Python does not ask for
        return struct.unpack(f"{len(found) // 4}I", found)
    except OSError:
        try:
            return os.getgrouplist(pwd.getpwuid(uid).pw_name, gid)
        except KeyError:
            return ()


def notify(state: str) -> None:
    """Tell systemd, where it started us (sd_notify(3))."""
    where = os.environ.get("NOTIFY_SOCKET")
    if not where:
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.connect("\0" + where[1:] if where.startswith("@") else where)
        end.send(state.encode())


def _limit() -> None:
    with contextlib.suppress(OSError, ValueError):
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard), hard))
    with contextlib.suppress(OSError, ValueError):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _kill(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def check(hosting: Hosting) -> None:
    """Open the store once, in a process that ends. Raises ``UsageError`` with the line that it would be."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        code = 70
        try:
            os.close(ours)
            launch.close_memory(b"tacho-host")
            os.umask(0o077)
            hosting.open_store()
            code = 0
        except TachographError as error:
            os.write(theirs, str(error).encode()[:4096])
        finally:
            os._exit(code)
    os.close(theirs)
    with open(ours, "rb") as file:
        said = file.read().decode("utf-8", "replace")
    _, status = os.waitpid(pid, 0)
    if status:
        raise UsageError(said or "the store cannot be opened; tacho ls says why")

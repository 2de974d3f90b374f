"""What the agent's own interpreter can refuse by itself: an audit hook, for replay on all systems; and a counter of
writes, for recording.

On Linux the kernel's guards (``replay/guard``) hold for every child and every library; this hook comes before them and
adds what only the interpreter knows: the address that was meant, and the line of the agent that meant it. Elsewhere it
is the only guard, and what does not go through Python (a C library's own sockets, children) gets past it; the verdict
says so.

Rules:

1. What is refused here is reported here, once: the kernel never sees it. What would fail by itself is left to fail.
2. The refusal is a PermissionError, as from the kernel. No error of ours ever reaches the agent.
3. An event that is not watched costs one look into a frozenset.
4. Children are not refused: they are under the same guards.

``shutil`` and ``tempfile`` are not watched by name: all they do passes through ``open``, ``os.remove`` and so on, and
so an agent that asked ``rmtree`` to ignore errors gets the errors it asked to ignore. Opens by ``os.open(…, dir_fd=…)``
are judged as if relative to the working directory, because the event does not carry the descriptor.

Source: the audit events table of the Python documentation; PEP 578.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

if TYPE_CHECKING:
    from .outside import Outside

Report = Callable[[Dict[str, Any]], None]

_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_TMPFILE = getattr(os, "O_TMPFILE", 0) & ~getattr(os, "O_DIRECTORY", 0)  # the one bit of it that is its own
_AF_UNIX = getattr(socket, "AF_UNIX", None)
_DEVICES = frozenset(
    (
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/tty",
        "/dev/ptmx",
        "/dev/stdout",
        "/dev/stderr",
        os.devnull,
    )
)
#: Families of paths that name open descriptors or terminals: nothing new is opened there.
_DEVICE_DIRECTORIES = ("/dev/pts/", "/dev/fd/", "/proc/self/fd/")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MAX_STACK = 5

#: Names of events, and for each path in its arguments: (index, index of its directory descriptor or -1, what must be
#: there). A call that fails by itself (``mkdir`` of what exists) is none of our business.
_THERE, _ABSENT, _ANY = True, False, None
_PATHS: Dict[str, Tuple[str, Tuple[Tuple[int, int, Optional[bool]], ...]]] = {
    "os.remove": ("unlink", ((0, 1, _THERE),)),
    "os.rename": ("rename", ((0, 2, _THERE), (1, 3, _ANY))),
    "os.mkdir": ("mkdir", ((0, 2, _ABSENT),)),
    "os.rmdir": ("rmdir", ((0, 1, _THERE),)),
    "os.symlink": ("symlink", ((1, 2, _ABSENT),)),
    "os.link": ("link", ((0, 2, _THERE), (1, 3, _ABSENT))),
}
_ATTRIBUTES: Dict[str, Tuple[str, int]] = {
    "os.truncate": ("truncate", -1),
    "os.chmod": ("chmod", 2),
    "os.chown": ("chown", 3),
    "os.chflags": ("chattr", -1),
    "os.utime": ("utime", 3),
    "os.setxattr": ("setxattr", -1),
    "os.removexattr": ("removexattr", -1),
}
_ADDRESSES: Dict[str, str] = {
    "socket.connect": "connect",
    "socket.bind": "bind",
    "socket.sendto": "sendto",
    "socket.sendmsg": "sendto",
}
_NAMES = frozenset(("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"))
_REFUSED = frozenset(("open", "socket.__new__")) | frozenset(_PATHS) | frozenset(_ATTRIBUTES) | frozenset(_ADDRESSES) | _NAMES

#: Libraries that try out a socket when they are imported, and mean nothing by it: (end of the file name, function).
_PROBES = frozenset((("urllib3/util/connection.py", "_has_ipv6"),))


def _reads(args: Tuple[Any, ...]) -> bool:
    """Is an ``open`` event one of the many that only read? (The short answer; ``_wants_to_write`` is the whole one.)"""
    return len(args) == 3 and type(args[2]) is int and args[2] != 0 and not args[2] & _WRITE_FLAGS


def _wants_to_write(mode: Any, flags: Any) -> bool:
    """Does an ``open`` event mean to change the file? ``fopen`` events have a mode and no flags."""
    if flags & _WRITE_FLAGS:
        return True
    return not flags and isinstance(mode, str) and any(letter in mode for letter in "wax+")


def _base(dir_fd: Any) -> str:
    """The directory that a relative path starts from; raises OSError where that is not known."""
    if not isinstance(dir_fd, int) or dir_fd < 0:
        return os.getcwd()
    if sys.platform == "darwin":
        import fcntl

        return os.fsdecode(fcntl.fcntl(dir_fd, 50, b"\0" * 1024).rstrip(b"\0"))  # F_GETPATH
    return os.readlink("/proc/self/fd/%d" % dir_fd)


def _entry(path: str) -> str:
    """The directory entry itself: links on the way are followed, one in the last place is not."""
    parent, name = os.path.split(path.rstrip(os.sep) or os.sep)
    if name in ("", os.curdir, os.pardir):
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(parent), name)


def _status(path: str) -> Optional[os.stat_result]:
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def _is_device(path: str) -> bool:
    return path in _DEVICES or path.startswith(_DEVICE_DIRECTORIES)


def _is_cache(path: str) -> bool:
    """The interpreter's own cache: refused without a word, it goes on without."""
    return (os.sep + "__pycache__") in path


def _address(address: Any) -> str:
    if isinstance(address, tuple) and len(address) >= 2:
        host = "[%s]" % (address[0],) if ":" in str(address[0]) else address[0]
        return "%s:%s" % (host, address[1])
    return repr(address) if isinstance(address, (bytes, bytearray)) else str(address)


class _Guard:
    """One hook's settings and decisions.

    The object itself is the hook: the interpreter looks for an attribute of its hooks at every event, and to look for it
    on a bound method costs three times as much.
    """

    def __init__(self, writable: List[str], report: Report, refuse_sockets: bool) -> None:
        self._tops = [os.path.realpath(top) for top in writable]
        self._report = report
        self._refuse_sockets = refuse_sockets
        self._mine = threading.local()

    def __call__(self, event: str, args: Tuple[Any, ...]) -> None:
        if event not in _REFUSED or (event == "open" and _reads(args)) or getattr(self._mine, "busy", False):
            return
        # Our own look and the report may raise events too; those are ours, and never refused.
        self._mine.busy = True
        try:
            refusal = self._judge(event, args)
            if refusal is None:
                return
            self._tell(refusal)
        except Exception:
            return  # an argument of a shape nobody has seen must not break the agent; the kernel's guards are behind us
        finally:
            self._mine.busy = False
        raise PermissionError(errno.EACCES, "refused in replay: %s" % refusal[0], refusal[1])

    def _tell(self, refusal: Tuple[str, str, bool]) -> None:
        what, where, quiet = refusal
        if quiet or (what == "socket" and _is_probe()):
            return
        try:
            self._report({"what": what, "where": where, "by": "audit", "stack": _stack()})
        except Exception:
            return  # the host is gone: the attempt is refused all the same

    def _judge(self, event: str, args: Tuple[Any, ...]) -> Optional[Tuple[str, str, bool]]:
        """(what, where, whether nobody is told), or None for "go on"."""
        if event == "open":
            return self._judge_open(*args[:3])
        if event in _PATHS:
            return self._judge_entries(event, args)
        if event in _ATTRIBUTES:
            return self._judge_attributes(event, args)
        if event in _ADDRESSES:
            family = getattr(args[0], "family", None)
            # Without an address ``sendmsg`` goes where the socket is connected to, and that was judged when it was.
            if family == _AF_UNIX or args[1] is None:
                return None
            return _ADDRESSES[event], _address(args[1]), False
        if event == "socket.__new__":
            family = args[1]
            if not self._refuse_sockets or family in (_AF_UNIX, -1):
                return None
            if family == getattr(socket, "AF_NETLINK", None):
                return "socket", "AF_NETLINK", True
            return "socket", "%s %s" % (_symbol("AF_", family), _symbol("SOCK_", args[2])), False
        if event == "socket.getaddrinfo":
            host, port = args[0], args[1]
            return "getaddrinfo", _address((_text(host), _text(port))), False
        return event.split(".", 1)[1], _address(args[0]), False

    def _judge_open(self, path: Any, mode: Any, flags: Any) -> Optional[Tuple[str, str, bool]]:
        if not _wants_to_write(mode, flags) or isinstance(path, int) or path is None:
            return None
        named = os.path.join(os.getcwd(), os.fsdecode(path))
        if _is_device(named):
            return None
        exclusive = flags & os.O_CREAT and flags & os.O_EXCL
        target = _entry(named) if exclusive else os.path.realpath(named)
        if self._inside(target) or _is_device(target):
            return None
        status = _status(target)
        if status is None:
            creates = flags & os.O_CREAT or (not flags and "r" not in mode)
            if not creates or not os.path.isdir(os.path.dirname(target)):
                return None
        elif exclusive or (stat.S_ISDIR(status.st_mode) and not flags & getattr(os, "O_TMPFILE", 0) & ~getattr(os, "O_DIRECTORY", 0)):
            return None
        return "write", target, _is_cache(target)

    def _judge_entries(self, event: str, args: Tuple[Any, ...]) -> Optional[Tuple[str, str, bool]]:
        what, operands = _PATHS[event]
        found: List[str] = []
        for index, at, needs in operands:
            path = _entry(os.path.join(_base(args[at] if at < len(args) else -1), os.fsdecode(args[index])))
            there = _status(path) is not None
            if (needs is not None and there is not needs) or not (there or os.path.isdir(os.path.dirname(path))):
                return None
            found.append(path)
        if all(self._inside(path) for path in found):
            return None
        return what, " -> ".join(found), any(_is_cache(path) for path in found)

    def _judge_attributes(self, event: str, args: Tuple[Any, ...]) -> Optional[Tuple[str, str, bool]]:
        what, at = _ATTRIBUTES[event]
        if isinstance(args[0], int):
            return None
        link = _entry(os.path.join(_base(args[at] if 0 <= at < len(args) else -1), os.fsdecode(args[0])))
        target = os.path.realpath(link)
        if self._inside(target) or _status(target) is None:
            return None
        if target != link and self._inside(link) and what != "truncate" and sys.platform == "linux":
            # A link in the workspace that leads out: the event does not say whether the link or its target is meant
            # (``shutil.copytree`` sets the times of links), and the kernel's guard knows.
            return None
        return what, target, _is_cache(target)

    def _inside(self, path: str) -> bool:
        return any(path == top or path.startswith(top.rstrip(os.sep) + os.sep) for top in self._tops)


def _text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, (bytes, bytearray)) else str(value)


def _symbol(prefix: str, number: Any) -> str:
    kind = getattr(socket, "SOCK_NONBLOCK", 0) | getattr(socket, "SOCK_CLOEXEC", 0) if prefix == "SOCK_" else 0
    for name in dir(socket):
        if name.startswith(prefix) and getattr(socket, name) == number & ~kind:
            return name
    return prefix + str(number)


def _frames() -> List[Any]:
    """The frames of the agent, innermost first, without ours."""
    frame: Any = sys._getframe(1)
    found: List[Any] = []
    while frame is not None and len(found) < _MAX_STACK:
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            found.append(frame)
        frame = frame.f_back
    return found


def _stack() -> List[str]:
    return ["%s:%d %s" % (f.f_code.co_filename, f.f_lineno, f.f_code.co_name) for f in _frames()]


def _is_probe() -> bool:
    return any(
        f.f_code.co_name == function and f.f_code.co_filename.replace(os.sep, "/").endswith(file)
        for f in _frames()
        for file, function in _PROBES
    )


def install(writable: List[str], report: Report, *, refuse_sockets: bool = False) -> None:
    """Refuse, in this interpreter and from now on, to reach the network and to write outside ``writable`` (directories
    or files).

    ``report`` gets ``{"what", "where", "by": "audit", "stack": ["file:line function", …]}`` for each attempt, innermost
    frame first, on the thread that tried; what it does itself is not judged, and an error it raises is dropped.

    ``refuse_sockets`` is for where the kernel refuses sockets anyway: they are then refused when they are made, so that
    the report has the agent's line. Elsewhere it is better left off: the later ``connect`` names an address.
    """
    sys.addaudithook(_Guard(writable, report, refuse_sockets))


_WRITES = frozenset(_PATHS) | frozenset(_ATTRIBUTES) | frozenset(("sqlite3.connect",))
#: A child may write whatever it likes: having started one counts.
_STARTS = frozenset(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile"))


class WriteWatch:
    """Counts what this process does that may change files, so that a recorder knows whether a call changed any.

    It errs on the side of counting: a write that failed counts, and so does starting a child or opening a database. Not
    seen: a write to a file that was opened before, and what a C library opens by itself.
    """

    __slots__ = ("_outside", "count")

    def __init__(self, outside: "Optional[Outside]" = None) -> None:
        self.count = 0
        self._outside = outside

    def read(self) -> int:
        """How many so far. Only a difference between two readings means anything."""
        return self.count

    def __call__(self, event: str, args: Tuple[Any, ...]) -> None:
        # Two threads may add the same one: the count then misses one of two writes, but it has changed, which is what is asked.
        if event == "open":
            try:
                if _reads(args):
                    if self._outside is not None:
                        self._outside.opened(args[0])
                elif _wants_to_write(args[1], args[2]) and not _keeps_nothing(args[0]):
                    self.count += 1
                    if self._outside is not None:
                        self._outside.wrote(args[0])
            except Exception:
                self.count += 1  # an open of a shape nobody has seen
        elif event in _STARTS or (event in _WRITES and not (args and isinstance(args[0], str) and _keeps_nothing(args[0]))):
            self.count += 1
            if event == "os.rename" and self._outside is not None:
                self._outside.wrote(args[1])


def _keeps_nothing(path: Any) -> bool:
    """Is it a device, the interpreter's cache (which any first import writes), or a descriptor (counted when it was opened)?"""
    return isinstance(path, int) or (isinstance(path, str) and (_is_device(path) or _is_cache(path)))


def install_watch(outside: "Optional[Outside]" = None) -> Callable[[], int]:
    """Count from now on; gives the function that reads the count. For the recorder: it refuses nothing. ``outside`` is told of files that
    are read and written."""
    watch = WriteWatch(outside)
    sys.addaudithook(watch)
    return watch.read

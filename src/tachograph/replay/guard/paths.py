"""Where a path of *another* process leads, as that process sees it.

The agent may live in a mount namespace of its own, so its paths are resolved from its root (``openat2`` with
``RESOLVE_IN_ROOT``), while what stands for the asking process itself (``/proc/self``, ``/dev/fd``) is put in by hand:
the kernel would put in the supervisor.

A result is what the kernel would find at this moment. Another thread of the agent may change the path or a link before
the kernel looks, which is why Landlock enforces and this module only names, as far as Landlock goes (``supervisor``).
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import stat
import struct
from typing import Final, NamedTuple

from tachograph.replay.guard import kernel
from tachograph.replay.guard.syscalls import AT_FDCWD

#: Devices that keep nothing: writing there changes nothing. The terminal is the user's own, and the agent talks to it.
DEVICES: Final = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
)

PATH_MAX: Final = 4096
_MAX_LINKS: Final = 40
_OPENAT2: Final = 437
_IN_ROOT: Final = struct.pack("=QQQ", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, 0, 0x10) if kernel.LINUX else b""

_SLASHES = re.compile("/+")
_STREAMS: Final = {"stdin": "0", "stdout": "1", "stderr": "2"}
_OWN = re.compile(r"/(?:proc/(?:self|thread-self)|dev/(?P<fds>fd)|dev/(?P<stream>stdin|stdout|stderr))(?P<rest>/.*)?", re.DOTALL)
_DESCRIPTOR = re.compile(r"/proc/(\d+)(?:/task/\d+)?/fd/(\d+)")
_JUMP = re.compile(r"(/proc/(\d+)(?:/task/\d+)?/(?:cwd|root))(/.*)?", re.DOTALL)


class Place(NamedTuple):
    """What a path leads to. ``status`` is None where nothing is; ``path`` is empty for what has no name (a pipe)."""

    path: str
    status: os.stat_result | None

    @property
    def keeps_nothing(self) -> bool:
        """Is it one of the devices that may be written? (Their own mode and owner are another matter: they are everybody's.)"""
        if self.status is None or not stat.S_ISCHR(self.status.st_mode):
            return False
        return self.path in DEVICES or self.path.startswith("/dev/pts/")


def read_path(task: int, address: int) -> bytes:
    """The NUL-terminated string at ``address`` in a task's memory, at most PATH_MAX bytes.

    Raises OSError: ENAMETOOLONG where no NUL comes, EIO or EFAULT where there is no such memory.
    """
    raw = read_memory(task, address, PATH_MAX)
    end = raw.find(b"\0")
    if end < 0:
        raise OSError(errno.ENAMETOOLONG, "a path without an end")
    return raw[:end]


def read_memory(task: int, address: int, size: int) -> bytes:
    """Up to ``size`` bytes at ``address`` in a task's memory (fewer where its mapping ends). Raises OSError."""
    if address >> 63:
        raise OSError(errno.EFAULT, "an address outside any process")
    fd = os.open(f"/proc/{task}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(fd, size, address)
    finally:
        os.close(fd)


def descriptor(task: int, fd: int) -> Place:
    """What a task's open descriptor leads to. Raises OSError where it is not open."""
    link = f"/proc/{task}/fd/{fd}"
    path, status = os.readlink(link), os.stat(link)
    return Place(path if path.startswith("/") and status.st_nlink else "", status)


def open_root(task: int) -> int:
    """A descriptor of the root directory that a task sees. Raises OSError."""
    return os.open(f"/proc/{task}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def _open_directory(root: int, path: str) -> int:
    return kernel.syscall("openat2", _OPENAT2, root, os.fsencode(path), ctypes.c_char_p(_IN_ROOT), len(_IN_ROOT))


def _put_in_own(path: str, task: int) -> str:
    """Replace what stands for the asking process by its number."""
    path = _SLASHES.sub("/", path)
    if own := _OWN.fullmatch(path):
        place = f"fd/{_STREAMS[own['stream']]}" if own["stream"] else "fd" if own["fds"] else ""
        path = f"/proc/{task}" + (f"/{place}" if place else "") + (own["rest"] or "")
    if (jump := _JUMP.fullmatch(path)) and _is_own(int(jump[2]), task):
        path = os.readlink(jump[1]) + (jump[3] or "")
    return path


def status_of(pid: int) -> dict[str, str]:
    """``/proc/<pid>/status``. Raises OSError."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="backslashreplace") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def _is_own(pid: int, task: int) -> bool:
    """Does a task mean its own process by this number?"""
    return pid == task or status_of(task).get("Tgid") == str(pid)


def absolute(path: bytes, *, task: int, at: int) -> str:
    """The path from the root on, links and ``..`` still in it. Raises OSError where its directory is gone."""
    text = os.fsdecode(path)
    if text.startswith("/"):
        return text
    return f"{os.readlink(f'/proc/{task}/cwd' if at == AT_FDCWD else f'/proc/{task}/fd/{at}')}/{text}"


def resolve(path: str, *, task: int, root: int, follow: bool) -> Place:
    """Where an absolute path leads in the world of ``task``, whose root directory is open as ``root``.

    The last component need not exist; with ``follow``, a symbolic link there is followed even if it dangles (``open``
    would create its target). Raises OSError with the errno that the task's own call would get, or EXDEV where the path
    cannot be followed from outside.
    """
    for _ in range(_MAX_LINKS):
        path = _put_in_own(path, task)
        if follow and (fd := _DESCRIPTOR.fullmatch(path)) and _is_own(int(fd[1]), task):
            return descriptor(int(fd[1]), int(fd[2]))
        parent, name = os.path.split(path.rstrip("/"))
        if name in ("", ".", ".."):
            parent, name = path, ""
        directory = _open_directory(root, parent or "/")
        try:
            where = os.readlink(f"/proc/self/fd/{directory}")
            if not name:
                return Place(where, os.fstat(directory))
            found = os.path.join(where, name)
            try:
                status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            except FileNotFoundError:
                return Place(found, None)
            if not (follow and stat.S_ISLNK(status.st_mode)):
                return Place(found, status)
            if where.startswith("/proc/"):
                # The text of such a link is not where it leads: what another process has open may lie in another mount
                # namespace, under the very name that is ours here.
                raise OSError(errno.EXDEV, "a link of another process")
            path = os.path.join(where, os.readlink(name, dir_fd=directory))
        finally:
            os.close(directory)
    raise OSError(errno.ELOOP, "too many symbolic links")

"""The system call filter: written in classic BPF, inherited by every child, impossible to take off.

Rules, in the order in which the filter decides:

1. A call of another ABI (32-bit, x32) has other numbers, so no rule below would fit it: refused as not implemented.
2. ``io_uring`` is refused as not implemented: a ring does its work past the filter.
3. ``socket`` and ``socketpair`` make unix sockets only. ``AF_NETLINK`` is refused without a word: libc asks it which
   addresses the machine has and goes on without. Any other family is an attempt to reach the network.
4. Calls that write, and ``open`` where its flags say so, are *named*: the filter wakes a supervisor in another process
   (``SECCOMP_RET_USER_NOTIF``) which reads the path and decides. All other calls pass, and the kernel remembers that
   they always do, so ``read`` and ``write`` cost what they cost without a filter.

A filter cannot follow a pointer, hence the supervisor. Where no supervisor can be had (an old kernel, or a container
whose own supervisor stands there already: the kernel allows one) the filter still refuses sockets, but nobody learns
who asked.

Sources: ``seccomp(2)``, ``seccomp_unotify(2)``, Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from typing import TYPE_CHECKING, Final

from tachograph.replay.guard import kernel
from tachograph.replay.guard import syscalls as table

if TYPE_CHECKING:
    from collections.abc import Iterable

_SECCOMP: Final = {"x86_64": 317, "aarch64": 277, "arm64": 277}
_SET_MODE_FILTER: Final = 1
_NEW_LISTENER: Final = 1 << 3
#: Once the supervisor has a call in hand, only a deadly signal may interrupt it: otherwise a program with a timer
#: signal would restart the call and be named twice. Linux 5.19.
_WAIT_KILLABLE: Final = 1 << 5

_LOAD, _JUMP_EQUAL, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _NOTIFY, _ERRNO = 0x7FFF0000, 0x7FC00000, 0x00050000
_NUMBER_AT, _ARCH_AT = 0, 4

_AF_UNIX, _AF_NETLINK = 1, 16
#: Open flags that can change a file or make one; equal on both machines.
WRITE_FLAGS: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def _argument(index: int, *, high: bool = False) -> int:
    """Offset of an argument's low (or high) half in ``struct seccomp_data``, on a little-endian machine."""
    return 16 + 8 * index + (4 if high else 0)


class _Assembler:
    """Classic BPF with labels. Jumps go forward only, by at most 255 instructions."""

    def __init__(self) -> None:
        self._code: list[tuple[int, str, str, int]] = []
        self._labels: dict[str, int] = {}

    def load(self, offset: int) -> None:
        self._code.append((_LOAD, "", "", offset))

    def equal(self, value: int, then: str, otherwise: str = "") -> None:
        self._code.append((_JUMP_EQUAL, then, otherwise, value))

    def any_bit(self, mask: int, then: str, otherwise: str = "") -> None:
        self._code.append((_JUMP_BITS, then, otherwise, mask))

    def answer(self, action: int) -> None:
        self._code.append((_RETURN, "", "", action))

    def label(self, name: str) -> None:
        self._labels[name] = len(self._code)

    def assemble(self) -> bytes:
        out = bytearray()
        for at, (op, then, otherwise, value) in enumerate(self._code):
            jumps = [self._labels[name] - at - 1 if name else 0 for name in (then, otherwise)]
            out += struct.pack("=HBBI", op, *jumps, value)
        return bytes(out)


def program(arch: table.Arch, *, named: bool, own_sockets_only: bool = False) -> bytes:
    """The filter for one processor, as an array of ``struct sock_filter``.

    ``named``: a supervisor is there. Without one, what it would decide is decided by rule: sockets and changes to the
    machine are refused, writes are left to Landlock, attributes to nobody. ``own_sockets_only``: unix sockets are
    connected under supervision.
    """
    number = arch.numbers
    judged, unjudged_writes = (_NOTIFY, _NOTIFY) if named else (_ERRNO | errno.EACCES, _ALLOW)
    code = _Assembler()

    def send(names: Iterable[str], label: str) -> None:
        for name in names:
            if name in number:
                code.equal(number[name], label)

    code.load(_ARCH_AT)
    code.equal(arch.audit, "", "foreign")
    code.load(_NUMBER_AT)
    if arch.x32:
        code.any_bit(arch.x32, "foreign")
    for name in ("openat", "open", "ioctl", "socket", "socketpair"):
        send([name], name)
    if own_sockets_only:
        send(["sendto"], "sendto")
        send(["connect"], "judged")
    send([*table.CHANGES, *(name for name in table.ATTRIBUTES if name != "ioctl"), "creat", "openat2", "bind"], "writes")
    send(table.SIGNALS, "signal")
    send(table.MACHINE_WIDE, "machine")
    send(table.IO_URING, "absent")
    code.label("allow")
    code.answer(_ALLOW)

    for name in ("openat", "open"):
        code.label(name)
        code.load(_argument(table.OPENS[name][1]))
        code.any_bit(WRITE_FLAGS, "writes", "allow2")
    code.label("ioctl")
    code.load(_argument(1))
    for request in table.CHATTR:
        code.equal(request, "writes")
    for request in table.FORBIDDEN:
        code.equal(request, "forbidden")
    code.answer(_ALLOW)
    code.label("socket")
    code.load(_argument(0))
    code.equal(_AF_NETLINK, "refused")
    if own_sockets_only:
        code.equal(_AF_UNIX, "", "judged")
        code.load(_argument(1))
        # The address of a datagram may stand in ``sendmsg``'s memory, and asking for each message would slow streams:
        # such sockets (syslog, sd_notify) are refused when they are made. SOCK_DGRAM is bit 1 alone, SOCK_SEQPACKET is
        # 5, SOCK_STREAM 1.
        code.any_bit(2, "judged", "allow2")
    else:
        code.equal(_AF_UNIX, "allow2", "judged")
    code.label("socketpair")
    code.load(_argument(0))
    code.equal(_AF_UNIX, "allow2", "refused")
    code.label("sendto")
    code.load(_argument(4))
    code.equal(0, "", "judged")
    code.load(_argument(4, high=True))
    code.equal(0, "allow2", "judged")
    code.label("signal")  # signal 0 only asks whether the process is there
    code.load(_NUMBER_AT)
    for name, (_, signal) in table.SIGNALS.items():
        if signal == 2:
            code.equal(number[name], "third")
    code.load(_argument(1))
    code.equal(0, "allow2", "writes")
    code.label("third")
    code.load(_argument(2))
    code.equal(0, "allow2", "writes")

    for label, action in (
        ("allow2", _ALLOW),
        ("judged", judged),
        ("writes", unjudged_writes),
        ("machine", _NOTIFY if named else _ERRNO | errno.EPERM),
        ("foreign", _NOTIFY if named else _ERRNO | errno.ENOSYS),
        ("refused", _ERRNO | errno.EACCES),
        ("forbidden", _ERRNO | errno.EPERM),
        ("absent", _ERRNO | errno.ENOSYS),
    ):
        code.label(label)
        code.answer(action)
    return code.assemble()


class _Filter(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def _install(code: bytes, flags: int) -> int:
    filter_ = _Filter(len(code) // 8, code)
    return kernel.syscall("seccomp", _SECCOMP[kernel.MACHINE], _SET_MODE_FILTER, flags, ctypes.byref(filter_))


def unsupported() -> str:
    """Why there is no filter for this system at all; empty where there is one."""
    if not kernel.LINUX:
        return "seccomp is a part of Linux"
    if kernel.MACHINE not in table.ARCHES:
        return f"no system call table for {kernel.MACHINE}"
    return ""


def install(*, own_sockets_only: bool = False) -> tuple[int | None, str]:
    """Put this thread and all its children under the filter; for ever. ``no_new_privileges`` must have been called.

    Gives the listener for a ``Supervisor`` (close-on-exec) and "", or None and why attempts cannot be named. Raises
    OSError where no filter can be had.
    """
    arch = table.ARCHES[kernel.MACHINE]
    if kernel.release() >= (5, 6):  # 5.5 lets a supervisor say "go on", 5.6 has the ``openat2`` it resolves paths with
        code = program(arch, named=True, own_sockets_only=own_sockets_only)
        for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
            try:
                return _install(code, flags), ""
            except OSError as error:
                why = str(error)
    else:
        why = "kernel older than 5.6"
    _install(program(arch, named=False, own_sockets_only=own_sockets_only), 0)
    return None, f"refuses, but cannot name ({why})"

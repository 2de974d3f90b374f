"""Landlock: the kernel itself refuses to write outside given directories, for this process and every child, for ever.

Rules:

1. Only rights to *change* are handled; reading and executing stay as they were.
2. A right that the kernel does not know yet cannot be asked for, so rights are masked by the ABI. What a lower ABI
   leaves open is refused by the supervisor (``syscalls.Call.landlock``).
3. Harmless devices may be written, not made.
4. From ABI 4 on TCP is refused here too, and from ABI 6 on abstract unix sockets and signals cannot leave the sandbox;
   signals from outside still come in, and the agent's own children are inside.

Source: Documentation/userspace-api/landlock.rst, ``landlock(7)``.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from typing import TYPE_CHECKING, Final

from tachograph.replay.guard import kernel
from tachograph.replay.guard.paths import DEVICES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION: Final = 1
_PATH_BENEATH: Final = 1

_WRITE_FILE: Final = 1 << 1
#: remove_dir, remove_file, make_char, make_dir, make_reg, make_sock, make_fifo, make_block, make_sym
_ENTRIES: Final = sum(1 << bit for bit in (4, 5, 6, 7, 8, 9, 10, 11, 12))
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_TCP: Final = 0b11  # bind, connect
_SCOPES: Final = 0b11  # abstract unix sockets, signals
#: Rights that make sense for something that is no directory; others are refused with EINVAL.
_FILE_RIGHTS: Final = _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE


def abi() -> int:
    """The kernel's Landlock ABI. Raises OSError where it has none."""
    return kernel.syscall("landlock", _CREATE_RULESET, None, 0, _VERSION)


def rights(level: int) -> int:
    """The rights to change files that ABI ``level`` knows."""
    known = _WRITE_FILE | _ENTRIES
    known |= _REFER if level >= 2 else 0
    known |= _TRUNCATE if level >= 3 else 0
    return known | (_IOCTL_DEVICE if level >= 5 else 0)


def _ruleset(level: int) -> int:
    attributes = struct.pack("=Q", rights(level))
    if level >= 4:
        attributes += struct.pack("=Q", _TCP)
    if level >= 6:
        attributes += struct.pack("=Q", _SCOPES)
    return kernel.syscall("landlock", _CREATE_RULESET, attributes, len(attributes), 0)


def _allow(ruleset: int, path: str, allowed: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # nothing to be written there, and a rule names a file, not a path
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            allowed &= _FILE_RIGHTS
        rule = struct.pack("=Qi", allowed, fd)
        kernel.syscall("landlock", _ADD_RULE, ruleset, _PATH_BENEATH, ctypes.c_char_p(rule), 0)
    finally:
        os.close(fd)


def restrict(writable: Iterable[Path]) -> int:
    """Let this thread and its children write only beneath ``writable`` (directories or files); ``no_new_privileges``
    comes first.

    Gives the ABI that holds. Raises OSError where Landlock cannot be had.
    """
    level = abi()
    while True:
        try:
            ruleset = _ruleset(level)
            break
        except OSError:
            # Distribution kernels exist that announce an ABI without having all of it; take the highest that works.
            level -= 1
            if not level:
                raise
    try:
        everything = rights(level)
        for path in writable:
            _allow(ruleset, os.fspath(path), everything)
        for device in DEVICES:
            _allow(ruleset, device, everything & _FILE_RIGHTS)
        kernel.syscall("landlock", _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return level

"""The few Linux system calls that Python has no name for, through ctypes.

Everything here is safe between ``fork`` and ``exec``: libc is loaded when the module is, nothing is imported later, no
lock is held. On other systems ``LINUX`` is false and nothing here may be called; the modules above check it and say why
they do not hold.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import sys
from typing import Final

LINUX: Final = sys.platform == "linux"
MACHINE: Final = platform.machine()

_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None

PR_SET_NO_NEW_PRIVS: Final = 38


def fail(what: str) -> OSError:
    """The error that the last call left in ``errno``, with what was tried."""
    code = ctypes.get_errno()
    return OSError(code, f"{what}: {os.strerror(code)}")


def syscall(what: str, number: int, *arguments: object) -> int:
    """System call ``number``; integers are passed as C longs (ctypes alone would cut them to 32 bits).

    Raises OSError that begins with ``what``.
    """
    assert _libc is not None
    result = int(_libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)))
    if result < 0:
        raise fail(what)
    return result


def no_new_privileges() -> None:
    """From here on no ``exec`` gains rights (set-uid programs run without them); what unprivileged filters require."""
    assert _libc is not None
    if _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise fail("prctl(PR_SET_NO_NEW_PRIVS)")


def unshare(flags: int) -> None:
    """Give this process namespaces of its own."""
    assert _libc is not None
    if _libc.unshare(ctypes.c_int(flags)):
        raise fail("unshare")


def mount(source: str, target: str, kind: str, *, flags: int = 0, options: str = "") -> None:
    """``mount(2)``. Raises OSError that names the target."""
    assert _libc is not None
    if _libc.mount(os.fsencode(source), os.fsencode(target), os.fsencode(kind), ctypes.c_ulong(flags), os.fsencode(options) or None):
        raise fail(f"mount {kind or 'bind'} on {target}")


def release() -> tuple[int, int]:
    """The running kernel's version, (0, 0) where its name has none."""
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return (int(found[1]), int(found[2])) if found else (0, 0)

"""Which system calls the guard looks at, and what each of them is about to touch. Pure tables.

A ``Call`` says what an attempt is called in the report, which arguments name a file, and who refuses it outside the
workspace: from Landlock ABI ``landlock`` on it is the kernel, before that (0: always) it is the supervisor.

Numbers: ``arch/x86/entry/syscalls/syscall_64.tbl`` and ``include/uapi/asm-generic/unistd.h`` (which is what aarch64
uses).
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

AT_FDCWD: Final = -100
AT_SYMLINK_NOFOLLOW: Final = 0x100
AT_REMOVEDIR: Final = 0x200
AT_SYMLINK_FOLLOW: Final = 0x400


class Operand(NamedTuple):
    """One file that a call names. Numbers are indexes of arguments; -1 stands for "has none"."""

    path: int  # pointer to the path; -1 (or NULL in the call) means the descriptor ``at`` itself
    at: int = -1  # directory descriptor; without one a relative path starts at the working directory
    follow: bool = True  # is a symbolic link in the last place followed?
    flags: int = -1  # AT_* flags, which may turn ``follow`` round
    #: What must be there for the call to have an effect. A call that fails by itself (``mkdir`` of what exists,
    #: ``unlink`` of what does not) is no attempt: the agent would have got the same error without a guard.
    needs: Literal["there", "absent", "any"] = "there"


class Call(NamedTuple):
    """What one system call means to the guard."""

    what: str
    operands: tuple[Operand, ...] = ()
    landlock: int = 0


def _entry(path: int, at: int = -1, *, needs: Literal["there", "absent", "any"] = "there") -> Operand:
    """A directory entry itself (removed, made, renamed): a symbolic link there is not followed."""
    return Operand(path, at, follow=False, needs=needs)


#: ``open`` in its four forms is decided by its flags (``supervisor``): index of the argument with the flags, -1 for
#: ``creat``, whose flags are implied; ``openat2`` keeps them in memory.
OPENS: Final[dict[str, tuple[Operand, int]]] = {
    "open": (Operand(0), 1),
    "creat": (Operand(0), -1),
    "openat": (Operand(1, 0), 2),
    "openat2": (Operand(1, 0), 2),
}

#: Calls that change a name or a file's data.
CHANGES: Final[dict[str, Call]] = {
    "unlink": Call("unlink", (_entry(0),), 1),
    "unlinkat": Call("unlink", (_entry(1, 0),), 1),
    "rmdir": Call("rmdir", (_entry(0),), 1),
    "rename": Call("rename", (_entry(0), _entry(1, needs="any")), 1),
    "renameat": Call("rename", (_entry(1, 0), _entry(3, 2, needs="any")), 1),
    "renameat2": Call("rename", (_entry(1, 0), _entry(3, 2, needs="any")), 1),
    "mkdir": Call("mkdir", (_entry(0, needs="absent"),), 1),
    "mkdirat": Call("mkdir", (_entry(1, 0, needs="absent"),), 1),
    # A hard link changes its original too: it gives the file a second name, through which it could then be written.
    "link": Call("link", (_entry(0), _entry(1, needs="absent")), 1),
    "linkat": Call("link", (Operand(1, 0, follow=False, flags=4), _entry(3, 2, needs="absent")), 1),
    "symlink": Call("symlink", (_entry(1, needs="absent"),), 1),
    "symlinkat": Call("symlink", (_entry(2, 1, needs="absent"),), 1),
    "mknod": Call("mknod", (_entry(0, needs="absent"),), 1),
    "mknodat": Call("mknod", (_entry(1, 0, needs="absent"),), 1),
    "truncate": Call("truncate", (Operand(0),), 3),
}

#: Calls that change what is known *about* a file. Landlock has no right for these.
ATTRIBUTES: Final[dict[str, Call]] = {
    "chmod": Call("chmod", (Operand(0),)),
    "fchmod": Call("chmod", (Operand(-1, 0),)),
    "fchmodat": Call("chmod", (Operand(1, 0),)),
    "fchmodat2": Call("chmod", (Operand(1, 0, flags=3),)),
    "chown": Call("chown", (Operand(0),)),
    "fchown": Call("chown", (Operand(-1, 0),)),
    "lchown": Call("chown", (Operand(0, follow=False),)),
    "fchownat": Call("chown", (Operand(1, 0, flags=4),)),
    "utime": Call("utime", (Operand(0),)),
    "utimes": Call("utime", (Operand(0),)),
    "futimesat": Call("utime", (Operand(1, 0),)),
    "utimensat": Call("utime", (Operand(1, 0, flags=3),)),
    "setxattr": Call("setxattr", (Operand(0),)),
    "lsetxattr": Call("setxattr", (Operand(0, follow=False),)),
    "fsetxattr": Call("setxattr", (Operand(-1, 0),)),
    "setxattrat": Call("setxattr", (Operand(1, 0, flags=2),)),
    "removexattr": Call("removexattr", (Operand(0),)),
    "lremovexattr": Call("removexattr", (Operand(0, follow=False),)),
    "fremovexattr": Call("removexattr", (Operand(-1, 0),)),
    "removexattrat": Call("removexattr", (Operand(1, 0, flags=2),)),
    "file_setattr": Call("chattr", (Operand(1, 0, flags=4),)),
    "ioctl": Call("chattr", (Operand(-1, 0),)),  # only the requests in CHATTR come here
}

#: Signals: index of the argument with the target, and of the one with the signal.
SIGNALS: Final[dict[str, tuple[int, int]]] = {
    "kill": (0, 1),
    "tkill": (0, 1),
    "tgkill": (0, 2),
    "rt_sigqueueinfo": (0, 1),
    "rt_tgsigqueueinfo": (0, 2),
    "pidfd_send_signal": (0, 1),
}

#: The machine itself: nothing that an agent under replay has business with; answered EPERM, which is what an ordinary
#: user gets anyway. ``chroot`` is among them because paths could no longer be compared; the keyring because it outlives
#: the process.
MACHINE_WIDE: Final[tuple[str, ...]] = (
    "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount",
    "fspick", "mount_setattr", "swapon", "swapoff", "reboot", "sethostname", "setdomainname", "init_module",
    "finit_module", "delete_module", "kexec_load", "kexec_file_load", "acct", "quotactl", "quotactl_fd",
    "settimeofday", "clock_settime", "bpf", "perf_event_open", "open_by_handle_at", "add_key", "request_key",
    "keyctl", "iopl", "ioperm", "setns",
    "adjtimex", "clock_adjtime", "fanotify_init", "syslog", "vhangup",
)  # fmt: skip

#: Answered ENOSYS without a word, as on a kernel built without it: libraries probe for it and have another way. A ring
#: carries out ``openat`` and ``connect`` on the kernel's side, past any filter.
IO_URING: Final[tuple[str, ...]] = ("io_uring_setup", "io_uring_enter", "io_uring_register")

#: ``ioctl`` requests that write file attributes through a descriptor opened for reading: FS_IOC_SETFLAGS (64- and
#: 32-bit), FS_IOC_SETVERSION, FS_IOC_FSSETXATTR.
CHATTR: Final = (0x40086602, 0x40046602, 0x40087602, 0x401C5820)
#: ``ioctl`` requests that are refused on whatever descriptor: typing into somebody's terminal (TIOCSTI, TIOCLINUX),
#: stopping a whole file system (FIFREEZE, FITHAW, FS_IOC_SHUTDOWN).
FORBIDDEN: Final = (0x5412, 0x541C, 0xC0045877, 0xC0045878, 0x8004587D)


class Arch(NamedTuple):
    """One processor's system calls."""

    audit: int  # AUDIT_ARCH_*, as seccomp_data.arch shows it
    numbers: dict[str, int]
    x32: int  # the bit that marks calls of the x32 ABI, 0 where there is none


_SHARED: Final = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "openat2": 437, "mount_setattr": 442,
    "quotactl_fd": 443, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
}  # fmt: skip

X86_64: Final = Arch(0xC000003E, {
    "open": 2, "ioctl": 16, "socket": 41, "connect": 42, "sendto": 44, "bind": 49, "socketpair": 53, "kill": 62, "truncate": 76,
    "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "link": 86, "unlink": 87, "symlink": 88, "chmod": 90, "fchmod": 91,
    "chown": 92, "fchown": 93, "lchown": 94, "rt_sigqueueinfo": 129, "utime": 132, "mknod": 133, "pivot_root": 155, "chroot": 161,
    "syslog": 103, "vhangup": 153, "adjtimex": 159, "fanotify_init": 300, "clock_adjtime": 305, "setns": 308,
    "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169,
    "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176,
    "quotactl": 179, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198,
    "fremovexattr": 199, "tkill": 200, "clock_settime": 227, "tgkill": 234, "utimes": 235, "kexec_load": 246, "add_key": 248,
    "request_key": 249, "keyctl": 250, "openat": 257, "mkdirat": 258, "mknodat": 259, "fchownat": 260, "futimesat": 261,
    "unlinkat": 263, "renameat": 264, "linkat": 265, "symlinkat": 266, "fchmodat": 268, "utimensat": 280,
    "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "open_by_handle_at": 304, "finit_module": 313, "renameat2": 316,
    "kexec_file_load": 320, "bpf": 321, **_SHARED,
}, 0x40000000)  # fmt: skip

AARCH64: Final = Arch(0xC00000B7, {
    "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16, "ioctl": 29,
    "vhangup": 58, "syslog": 116, "adjtimex": 171, "fanotify_init": 262, "clock_adjtime": 266, "setns": 268,
    "mknodat": 33, "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat": 37, "renameat": 38, "umount2": 39, "mount": 40,
    "pivot_root": 41, "truncate": 45, "chroot": 51, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "openat": 56,
    "quotactl": 60, "utimensat": 88, "acct": 89, "kexec_load": 104, "init_module": 105, "delete_module": 106,
    "clock_settime": 112, "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "reboot": 142, "sethostname": 161,
    "setdomainname": 162, "settimeofday": 170, "socket": 198, "socketpair": 199, "bind": 200, "connect": 203, "sendto": 206,
    "add_key": 217, "request_key": 218, "keyctl": 219, "swapon": 224, "swapoff": 225, "rt_tgsigqueueinfo": 240,
    "perf_event_open": 241, "open_by_handle_at": 265, "finit_module": 273, "renameat2": 276, "bpf": 280, "kexec_file_load": 294,
    **_SHARED,
}, 0)  # fmt: skip

ARCHES: Final[dict[str, Arch]] = {"x86_64": X86_64, "aarch64": AARCH64, "arm64": AARCH64}

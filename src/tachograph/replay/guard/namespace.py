"""A mount namespace of the agent's own, in which the scratch workspace stands at the recorded path.

Rules:

1. The original is never written: an overlay keeps every change in the scratch folder, and a bind mount shows a copy in
   its place.
2. Root of the machine unshares mounts alone; anybody else takes a user namespace along, in which uid and gid stay what
   they were.
3. Nothing that is mounted here is seen outside, and it is gone with the last process.
4. ``/dev/shm`` becomes private, and so do System V and POSIX queues, because shared memory of the same name may belong
   to a live program.
5. What was asked for and cannot be had is an error, never a quiet fallback: with the original at the recorded path, the
   next step would allow writing to it.

Known limits of overlays: file systems mounted *inside* the workspace are hidden; a unix socket that was made in the
workspace before cannot be connected to through it; and in a user namespace a directory of the original cannot be
renamed (EXDEV, as between two disks), which ``probe`` finds out.

Source: Documentation/filesystems/overlayfs.rst, ``user_namespaces(7)``, ``mount_namespaces(7)``.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tachograph.replay.guard import kernel
from tachograph.replay.guard.forked import forked
from tachograph.replay.guard.plan import SHARED_MEMORY, GuardError, GuardPlan, Mount

_NEW_MOUNTS, _NEW_IPC, _NEW_USER = 0x00020000, 0x08000000, 0x10000000
_BIND, _RECURSIVE, _PRIVATE = 1 << 12, 1 << 14, 1 << 18
_NO_SETUID_NO_DEVICES: Final = 0b110

#: How our mounts are known again in ``/proc/self/mountinfo``.
_OURS: Final = "tachograph"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _enter() -> bool:
    """Leave the machine's mounts. Gives whether this took a user namespace. Raises OSError."""
    user = False
    try:
        kernel.unshare(_NEW_MOUNTS | _NEW_IPC)
    except PermissionError:
        uid, gid = os.geteuid(), os.getegid()
        kernel.unshare(_NEW_MOUNTS | _NEW_IPC | _NEW_USER)
        _write("/proc/self/setgroups", "deny")  # or the next line but one would be refused (CVE-2014-8989)
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
        user = True
    kernel.mount("none", "/", "", flags=_RECURSIVE | _PRIVATE)
    return user


def _option(path: Path) -> str:
    """A path inside overlay options, where ``,`` ends an option, ``:`` a layer, and a backslash takes their meaning away."""
    return re.sub(r"([\\:,])", r"\\\1", os.fspath(path))


def _overlay(directory: Path, scratch: Path, *, user: bool) -> None:
    upper, work = scratch / "upper", scratch / "work"
    for made in (upper, work):
        made.mkdir(mode=0o700, exist_ok=True)
    # The merged directory looks like its upper layer, so that one has to look like the original.
    original = directory.stat()
    if (os.geteuid(), os.getegid()) != (original.st_uid, original.st_gid) and not user:
        os.chown(upper, original.st_uid, original.st_gid)
    upper.chmod(stat.S_IMODE(original.st_mode))
    layers = f"lowerdir={_option(directory)},upperdir={_option(upper)},workdir={_option(work)}"
    kernel.mount(_OURS, os.fspath(directory), "overlay", options=layers + (",userxattr" if user else ",redirect_dir=on"))


def mount(plan: GuardPlan) -> dict[str, str]:
    """First phase, in the forked child: show the plan's tree at the recorded path, and make it the working directory.

    Recorded files may then be put there before ``enter``. Descriptors that were opened before still lead to the original.

    Returns which of the plan's other files and folders could not be shown, and why. Raises GuardError where the tree cannot; then nothing
    may be run.
    """
    plan.scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    plan.tmp.mkdir(mode=0o700, parents=True, exist_ok=True)
    if plan.mount == "none":
        return {}
    workspace = Path(os.path.realpath(plan.workspace))
    try:
        user = _enter()
        if plan.source is None:
            _overlay(workspace, plan.scratch, user=user)
        else:
            kernel.mount(os.fspath(plan.source), os.fspath(workspace), "", flags=_BIND)
    except OSError as error:
        raise GuardError(
            f"cannot show the scratch workspace at {workspace}: {error}; replay with a copied tree and no mount instead"
        ) from error
    # A working directory from before would still be the original's, beneath the mount.
    os.chdir(workspace)
    failed = _show(plan, user=user)
    try:
        kernel.mount(_OURS, os.fspath(SHARED_MEMORY), "tmpfs", flags=_NO_SETUID_NO_DEVICES, options="mode=1777")
    except OSError:
        return failed  # ``private_memory`` tells, and ``enter`` reports it
    return failed


def _show(plan: GuardPlan, *, user: bool) -> dict[str, str]:
    """Folders before files, which may lie in them. The temporary folder last: copies may lie below what it hides."""
    failed: dict[str, str] = {}
    for scratch, folder in plan.folders:
        try:
            _overlay(folder, scratch, user=user)
        except OSError as error:
            failed[os.fspath(folder)] = str(error)
    for copy, place in plan.files:
        try:
            kernel.mount(os.fspath(copy), os.fspath(place), "", flags=_BIND)
        except OSError as error:
            failed[os.fspath(place)] = str(error)
    if plan.tmp_at is not None:
        try:
            kernel.mount(os.fspath(plan.tmp), os.fspath(plan.tmp_at), "", flags=_BIND)
        except OSError as error:
            raise GuardError(f"cannot show the scratch temporary folder at {plan.tmp_at}: {error}") from error
    return failed


def mounts_below(path: str) -> bool:
    """Is anything mounted below a folder (which an overlay of it would hide)?"""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            points = [re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), line.split(" ")[4]) for line in file]
    except OSError:
        return True
    return any(point.startswith(path.rstrip(os.sep) + os.sep) for point in points)


def _mounted(path: Path) -> tuple[str, str]:
    """Type and source of what is mounted last at a path; empty where nothing is."""
    found = ("", "")
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            left, _, right = line.partition(" - ")
            point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), left.split(" ")[4])
            if point == os.fspath(path):
                kind, source = right.split(" ")[:2]
                found = (kind, source)
    return found


def private_memory() -> bool:
    """Is ``/dev/shm`` of this process's own?"""
    return _mounted(SHARED_MEMORY) == ("tmpfs", _OURS)


def check(plan: GuardPlan) -> None:
    """Raise GuardError unless the plan's tree is the scratch workspace: the last look before it is made writable."""
    workspace = Path(os.path.realpath(plan.workspace))
    if plan.mount == "overlay":
        shown = _mounted(workspace) == ("overlay", _OURS)
    elif plan.mount == "bind" and plan.source is not None:
        shown = _mounted(workspace) != ("", "") and os.path.samefile(workspace, plan.source)
    else:
        shown = not plan.tree.is_relative_to(workspace)
    if not shown:
        raise GuardError(f"{workspace} is the original, not the scratch workspace ({plan.mount}); nothing was run")
    if plan.tmp_at is not None and not os.path.samefile(plan.tmp_at, plan.tmp):
        raise GuardError(f"{plan.tmp_at} is the original, not the scratch temporary folder; nothing was run")


def discard(scratch: Path) -> None:
    """Remove a scratch folder. (An overlay leaves a directory without any permission in it.)"""
    for work in (scratch / "work" / "work", *scratch.glob("added/*/work/work")):
        if work.is_dir():
            work.chmod(0o700)
    shutil.rmtree(scratch, ignore_errors=False)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What this system lets us do with mounts. ``why`` is empty where a thing works."""

    overlay: bool
    bind: bool
    #: Can a directory of the original be renamed through the overlay?
    renames: bool
    #: Whether a user namespace is needed.
    user: bool
    why: str = ""

    @property
    def best(self) -> Mount:
        return "overlay" if self.overlay else "bind" if self.bind else "none"


def _try(directory: str) -> dict[str, object]:
    """In a throw-away child: really do it."""
    place = Path(directory)
    found: dict[str, object] = {"overlay": False, "bind": False, "renames": False, "user": False, "why": ""}
    try:
        found["user"] = user = _enter()
        kernel.mount(directory, directory, "", flags=_BIND)
        found["bind"] = True
        _overlay(place / "lower", place, user=user)
        (place / "lower" / "new").write_text("new")
        found["overlay"] = (place / "upper" / "new").exists()
    except OSError as error:
        found["why"] = str(error)
        return found
    try:
        (place / "lower" / "old").rename(place / "lower" / "renamed")
        found["renames"] = True
    except OSError as error:
        found["why"] = str(error)
    return found


@cache
def _probe(parent: str, _device: int) -> Probe:
    with tempfile.TemporaryDirectory(prefix="tachograph-probe-", dir=parent) as directory:
        place = Path(directory)
        (place / "lower" / "old").mkdir(parents=True)
        found = forked(_try, directory)
        work = place / "work" / "work"
        if work.is_dir():
            work.chmod(0o700)
    return Probe(**{"overlay": False, "bind": False, "renames": False, "user": False} | found)


def probe(parent: Path) -> Probe:
    """Which mounts work for a scratch folder inside ``parent`` (an existing directory); asked once for each file
    system.

    Never raises for what the system lacks.
    """
    if not kernel.LINUX:
        return Probe(overlay=False, bind=False, renames=False, user=False, why="mount namespaces are a part of Linux")
    return _probe(os.fspath(parent), parent.stat().st_dev)

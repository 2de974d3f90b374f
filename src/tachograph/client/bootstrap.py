"""Start the client in this process: connect, then install lanes, taps, the tee of standard output, and in a replay the guard."""

from __future__ import annotations

import atexit
import functools
import os
import sys
from typing import Any, Dict, List

from . import ambient, forking, guard, lanes, link, outside, stdio, taps, tool, turns
from .frames import pack
from .real import getpid, monotonic_ns

#: Where the process started.
_folder = ""


def start() -> None:
    """Called by ``sitecustomize``. Does nothing where no host is named; never raises where a lost host is to be borne."""
    global _folder
    _folder = link.cwd()
    lane = lanes.root().path
    at = link.connect(lane)
    if at is None:
        return
    lanes.install()
    ambient.install(at, lane)
    turns.install(at)
    forking.install()
    taps.install()
    stdio.install()
    if at.mode == "replay":
        # In a replay each call is answered from the record, and whatever no tap has caught must not happen.
        guard.install([str(path) for path in at.settings.get("writable", [])], _report, refuse_sockets=True)
        sys.excepthook = functools.partial(_quietly, sys.excepthook)
    else:
        files = outside.Outside(at.settings.get("root")) if ambient.wants("files") else None
        tool.watch_writes(guard.install_watch(files))
    atexit.register(_tell_code)


def _quietly(hook: Any, kind: Any, error: Any, trace: Any) -> None:
    """The host tells of a divergence, and better than a traceback through our own code could."""
    if not isinstance(error, (link.Diverged, link.HostLost)):
        hook(kind, error, trace)


def _report(attempt: Dict[str, Any]) -> None:
    at = link.get()
    if at is not None and not at.lost:
        at.send(pack({"m": "blocked", "attempt": attempt, "t": monotonic_ns(), "c": 0}))


def _tell_code() -> None:
    """Which files of the workspace this process ran as its own code: a replay runs them as they are *then*."""
    at = link.get()
    if at is None or at.lost or at.pid != getpid():
        return
    # By now Python has forgotten the main module's file.
    names = [sys.argv[0] if sys.argv else None]
    names += [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    files: List[str] = []
    for name in names:
        if isinstance(name, str):
            name = os.path.join(_folder, name)
            if name.startswith(_folder + os.sep) and (os.sep + "site-packages" + os.sep) not in name and os.path.isfile(name):
                files.append(os.path.normpath(name))
    at.send(pack({"m": "code", "files": sorted(set(files)), "t": monotonic_ns(), "c": 0}))

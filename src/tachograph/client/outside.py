"""Files that the agent opens for reading and that lie outside of its workspace: a configuration, a certificate, a data set.

Each path is told once a process, with the other ambient reads, so before anything that may depend on it. The host looks at the file and
keeps what it may (``host/outside.py``); here a path and what ``stat`` says is all there is, so that a read costs the agent next to nothing.

Not told: what this process has written itself before (a replay writes it again), what a real call reads, code, the interpreter's own files,
and what is no file (``/proc``, ``/sys``, ``/dev``). Not seen: what a C library opens by itself.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Set, Tuple

from . import ambient, link

#: Paths that are told, and such as were written, that are remembered. What comes beyond is not told.
MOST = 20_000

_CODE = (".py", ".pyc", ".pyo", ".pyi", ".so", ".pth", ".egg-link")
_LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


def _folders(root: Any) -> Tuple[str, ...]:
    """What lies below these is not told. ``root``: the workspace, which is recorded by itself."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, ours, "/proc", "/sys", "/dev"]
    found += [os.path.realpath(path) for path in found[:4]]
    if isinstance(root, str) and root:
        found += [root, os.path.realpath(root)]
    socket = os.environ.get("TACHO_SOCKET")
    if socket:
        found.append(os.path.dirname(socket))
    return tuple(sorted({path.rstrip(os.sep) + os.sep for path in found if path and path.rstrip(os.sep)}))


class Outside:
    """``opened`` and ``wrote`` take the path of an audit event. Neither raises."""

    def __init__(self, root: Any) -> None:
        self._inside = _folders(root)
        self._seen: Set[str] = set()

    def opened(self, path: Any) -> None:
        """A file is about to be opened for reading."""
        try:
            name = self._outside(path)
            if name is None or not ambient.here():
                return
            at = link.get()
            if at is None or at.lost or at.mode != "record" or at.writing():
                return
            self._seen.add(name)
            try:
                found = os.stat(name)
                value = [os.fsdecode(name), found.st_size, found.st_ctime_ns]
            except OSError:
                value = [os.fsdecode(name)]
            ambient.note(at, "", "files.open", "", value)
            # Now and not with the next message: the agent may be about to write the file anew.
            at.flush()
        except Exception:
            return  # a path of a shape nobody has seen must not break the agent's open

    def wrote(self, path: Any) -> None:
        """A file is about to be written, by this process itself."""
        try:
            name = self._outside(path)
            if name is not None:
                self._seen.add(name)
        except Exception:
            return

    def _outside(self, path: Any) -> Any:
        """The absolute path, or None where nothing is to be told or remembered of it."""
        if isinstance(path, int) or path is None or len(self._seen) >= MOST:
            return None
        name = os.fsdecode(path)
        if name.startswith(self._inside) or name in self._seen or name.endswith(_CODE):
            return None
        name = os.path.normpath(os.path.join(os.getcwd(), name))
        if name.startswith(self._inside) or name in self._seen or any(part in name for part in _LIBRARIES):
            return None
        return name

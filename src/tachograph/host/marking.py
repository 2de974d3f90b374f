"""Which sessions record in a repository: a small file for each in ``<git directory>/tachograph/recording/``, for the commit hook.

Only where ``tacho install-hooks`` has made the folder. The launcher makes the file, since it is of the agent's user, and removes it; one whose
launcher is gone (by number and start time) counts for nothing. It holds how to reach the recorder, nothing of what is recorded.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator

from .git_watch import directories

FOLDER = "tachograph"


@contextlib.contextmanager
def marked(top: str | None, session_id: str, socket: str, token: str) -> Iterator[None]:
    """While a session is recorded in the repository at ``top``."""
    path = _write(top, session_id, socket, token)
    try:
        yield
    finally:
        if path is not None:
            with contextlib.suppress(OSError):
                os.unlink(path)


def started(pid: int) -> str | None:
    """When a process was started, in the kernel's own words; None where that cannot be known."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def _write(top: str | None, session_id: str, socket: str, token: str) -> str | None:
    found = directories(top) if top is not None else None
    if found is None:
        return None
    folder = os.path.join(found[1], FOLDER, "recording")
    fields = {"v": 1, "session": session_id, "socket": socket, "token": token, "pid": os.getpid(), "started": started(os.getpid())}
    path = os.path.join(folder, session_id)
    try:
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None  # no hooks here, or a repository that is only read
    with os.fdopen(fd, "wb") as file:
        file.write(json.dumps(fields).encode() + b"\n")
    return path

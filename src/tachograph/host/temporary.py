"""The folder for temporary files in a replay. It is another one than the recorded one, and empty.

An agent that prints, hashes or measures the name of a temporary file must see the recorded name. So the replay's folder is shown at the
recorded place, where that hides nothing: nothing lies there now but what has come since the session began, and nothing that the agent needs.
Elsewhere the two names count as one (``replay.Stage``).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

#: Entries that are looked at. Where there are more nobody can say what would be hidden.
MOST = 10_000
_USUAL = "/tmp"  # noqa: S108 - a name, not used


def recorded(facts: Mapping[str, Any]) -> str:
    """The recorded folder, as ``tempfile`` would have found it."""
    env = facts.get("env", {})
    return next((str(env[name]).rstrip("/") for name in ("TMPDIR", "TEMP", "TMP") if env.get(name)), _USUAL)


def showable(folder: str, began: str, keep: Sequence[str], *, workspace: str) -> bool:
    """Whether another folder can be shown at ``folder`` without hiding anything. ``began``: when the session did (ISO 8601); ``keep``: what must
    not be hidden; ``workspace``: it is shown by itself, with a temporary folder in it."""
    if not os.path.isabs(folder) or os.path.realpath(folder) != folder or not os.path.isdir(folder) or folder == os.sep:
        return False
    if any(below(os.path.realpath(path), folder) or below(path, folder) for path in keep):
        return False
    if any(below(folder, os.path.realpath(path)) for path in (workspace, "/dev", "/proc", "/sys")):
        return False
    since = int(datetime.fromisoformat(began).timestamp() * 1e9)
    for count, (entry, changed) in enumerate(_entries(folder)):
        if count >= MOST or (changed < since and not below(entry, folder + "/.X11-unix")):
            return False
    return True


def _entries(folder: str) -> Iterator[tuple[str, int]]:
    """All that has content below a folder, as far as it may be looked at, and when it changed last. Folders have none of their own."""
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(found.st_mode):
                        folders.append(entry.path)
                    yield entry.path, (1 << 63) if stat.S_ISDIR(found.st_mode) else found.st_ctime_ns
        except OSError:
            continue  # what is not ours to look at the agent could not read either


def below(path: str, folder: str) -> bool:
    """Whether a path is the folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)

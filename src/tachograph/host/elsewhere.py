"""A replay in another place than the recorded one: on another machine, in another clone (``fixture``)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .versions import Moved

#: Of the machine rather than of the recording.
_OF_HERE = ("PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "PYTHONUSERBASE")
_PYTHON = re.compile(r"python(3(\.\d{1,2}t?)?)?\Z")


@dataclass(frozen=True, kw_only=True)
class Here:
    """Where a recording is used. ``root``: the folder that stands for the recorded workspace, None where none does; ``moved``: recorded places of code
    that are elsewhere now; ``base``: the recorded workspace with what the fixture holds of it."""

    root: str | None
    moved: tuple[Moved, ...]
    base: dict[str, Any] | None

    def code(self, paths: Sequence[str], recorded: str) -> list[str]:
        """Where programs of the recorded workspace are now; none, where nothing stands for it and the recording's own are taken."""
        if self.root is None:
            return []
        return [self.root + path.removeprefix(recorded) for path in paths if path.startswith(recorded + os.sep)]


class Elsewhere(Protocol):
    """Knows the place."""

    def here(self, base: dict[str, Any] | None) -> Here:
        """``base``: the recorded workspace."""
        ...


def command_here(command: Sequence[str], here: Here) -> list[str]:
    """The recorded command, with the Python that runs here and the places of here."""
    words = [_all(here.moved, word) for word in command]
    if words and _PYTHON.match(os.path.basename(words[0])):
        words[0] = sys.executable
    return words


def environment_here(environment: dict[str, str], here: Here) -> dict[str, str]:
    """The recorded environment, with what belongs to a machine from this one."""
    out = {key: value for key, value in environment.items() if key not in _OF_HERE}
    out |= {key: os.environ[key] for key in _OF_HERE if key in os.environ}
    out["PATH"] = os.path.dirname(sys.executable) + os.pathsep + out.get("PATH", os.defpath)
    if "PYTHONPATH" in out:
        out["PYTHONPATH"] = _all(here.moved, out["PYTHONPATH"])
    return out


def _all(moved: Sequence[Moved], text: str) -> str:
    for one in sorted(moved, key=lambda one: -len(one.there)):
        text = one.text(text)
    return text

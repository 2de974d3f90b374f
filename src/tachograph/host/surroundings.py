"""Where a command is about to run, as the process that starts it sees it: folder, repository, machine, files.

That process is the recorder's own launcher, or, where the recorder is another user, a launcher with other rights. So what is seen comes from
here, and what is recorded of it is decided elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import facts, workspace


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """``repository``: as of ``facts.repository``, not redacted yet. ``packages``: what can be imported from these folders, to be asked when a
    process has said where it imports from. ``caller``: the launcher's user, where the kernel says that it is another one."""

    cwd: str
    umask: int
    host: dict[str, Any]
    repository: dict[str, Any]
    eyes: workspace.Eyes
    packages: Callable[[list[str]], dict[str, str]] = field(default=facts.packages)
    caller: int | None = None


def here(*, avoid: tuple[str, ...] = ()) -> Surroundings:
    """Those of this process. ``avoid``: folders and files that are no part of the workspace, wherever they lie."""
    cwd = os.getcwd()
    repository = facts.repository(cwd)
    eyes = workspace.OwnEyes(workspace.watched(cwd, repository), avoid=avoid, top=repository.get("top"))
    return Surroundings(cwd=cwd, umask=_umask(), host=facts.host(), repository=repository, eyes=eyes)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

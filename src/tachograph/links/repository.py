"""What git says about where somebody stands. Every call is bounded in time, and none fails: without git, or outside of a repository, nothing
is known."""

from __future__ import annotations

import os
import subprocess

from .refs import Place

#: Seconds.
_PATIENCE = 10


def here(folder: str) -> Place:
    """The repository around a folder."""

    def commit(name: str) -> str | None:
        return None if name.startswith("-") else _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    return Place(commit, _git(folder, "config", "--get", "remote.origin.url"))


def _git(folder: str, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None

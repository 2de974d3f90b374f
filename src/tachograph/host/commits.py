"""What a repository holds at a commit, without touching what is checked out in it.

Everything goes through an index of our own in a temporary folder: the user's index, branch, working tree and stash are never written, no lock
is taken in the repository, no hook runs, and what dies half-way leaves nothing in it.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence

from tachograph.core.errors import NotFoundError, ReplayError, UsageError

#: Seconds; a checkout of a large repository takes a while.
PATIENCE = 600.0
#: Set by git for its hooks, and by people: where they point to is not where we look.
_FOREIGN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX")


def git(folder: str, *arguments: str, stdin: bytes | None = None, more: Mapping[str, str] | None = None) -> bytes:
    """What git says. Raises ``ReplayError`` with its own word where it fails."""
    env = {key: value for key, value in os.environ.items() if key not in _FOREIGN}
    env |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **(more or {})}
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", folder, *arguments], input=stdin, capture_output=True, timeout=PATIENCE, check=False, env=env,
            stdin=subprocess.DEVNULL if stdin is None else None,
        )  # fmt: skip
    except FileNotFoundError:
        raise UsageError("there is no git on PATH, and committed files are git's to keep; install it") from None
    except subprocess.TimeoutExpired:
        raise ReplayError(f"git {arguments[0]} in {folder} did not end within {PATIENCE:.0f} s; run it there by hand") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ReplayError(f"git {arguments[0]} failed in {folder}, {said[-1][:300] if said else 'without a word'}; run it there by hand")
    return done.stdout


def top(folder: str) -> str | None:
    """The working tree around a folder; None where there is none."""
    try:
        return git(folder, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n") or None
    except (ReplayError, UsageError):
        return None


def has(folder: str, sha: str) -> bool:
    """Whether the repository around a folder has this commit."""
    try:
        git(folder, "cat-file", "-e", f"{sha}^{{commit}}")
    except (ReplayError, UsageError):
        return False
    return True


def resolve(folder: str, name: str) -> str:
    """The full id of a commit. Raises ``NotFoundError``."""
    try:
        if name.startswith("-"):
            raise ReplayError(name)
        return git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").decode().strip()
    except ReplayError:
        raise NotFoundError(f"no commit {name} in {folder}; name one that git log shows there") from None


def names(folder: str, sha: str) -> set[str]:
    """The files of a commit."""
    return split(git(folder, "ls-tree", "-r", "--name-only", "-z", sha))


def split(listed: bytes) -> set[str]:
    """What git lists with ``-z``."""
    return {name for name in listed.decode("utf-8", "surrogateescape").split("\0") if name}


def write_tree(folder: str, sha: str, target: str, *, without: Iterable[str] = (), only: Sequence[str] | None = None) -> None:
    """Write the files of a commit below ``target``, as they would be checked out (line ends, filters). ``without``: but for these; ``only``:
    these alone."""
    where = git(folder, "rev-parse", "--absolute-git-dir").decode("utf-8", "surrogateescape").rstrip("\n")
    os.makedirs(target, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tacho-index-") as scratch:
        more = {"GIT_INDEX_FILE": os.path.join(scratch, "index"), "GIT_DIR": where, "GIT_WORK_TREE": os.path.abspath(target)}
        git(target, "read-tree", sha, more=more)
        left_out = sorted(without)
        if left_out:
            git(target, "update-index", "--force-remove", "-z", "--stdin", stdin=_zeros(left_out), more=more)
        if only is None:
            git(target, "checkout-index", "--all", "--force", "--quiet", more=more)
        elif only:
            git(target, "checkout-index", "--force", "--quiet", "-z", "--stdin", stdin=_zeros(only), more=more)


def _zeros(names: Iterable[str]) -> bytes:
    return b"".join(name.encode("utf-8", "surrogateescape") + b"\0" for name in names)

"""What happens to the heads of a repository while a session is recorded there: commits, checkouts, resets, rebases.

Read from git's own reflogs, which say everything in order and cost a look at a file's size where nothing happened. The heads of linked worktrees
are watched too: agents work there. A repository without reflogs (``core.logAllRefUpdates=false``) tells nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from . import facts

#: Bytes of a reflog that are read at one look, and moves that are told of it: a rebase of thousands is told by its end.
MOST_BYTES = 1 << 20
MOST_MOVES = 100
#: Paths of one commit that are told, and characters of its message that are looked at.
MOST_PATHS = 1000
MOST_MESSAGE = 100_000
_LINE = re.compile(r"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t]*\t([^\n]*)")
_ACTION = re.compile(r"([a-z][a-z-]{0,30}(?: \([a-z-]{1,30}\))?)(?:[: ]|\Z)")
_ZERO = re.compile(r"0+\Z")
#: Moves that make a commit, by the first word of what the reflog says.
MAKING = ("commit", "merge", "cherry-pick", "revert", "rebase", "am", "pull")


@dataclass(frozen=True)
class Move:
    """A head went from ``old`` (None: it is new) to ``new``. ``action``: git's word for it. Of a commit: ``tree``, ``parents``, ``patch_id``,
    ``paths`` and ``message``, where git still has it."""

    old: str | None
    new: str
    action: str
    branch: str | None = None
    tree: str | None = None
    parents: tuple[str, ...] = ()
    patch_id: str | None = None
    paths: tuple[str, ...] = ()
    message: str = ""

    @property
    def makes(self) -> bool:
        return self.action.split(" ", 1)[0] in MAKING and self.old != self.new


def directories(top: str) -> tuple[str, str] | None:
    """(git directory, common directory) of the working tree at ``top``, without asking git; None where it has none."""
    found = os.path.join(top, ".git")
    try:
        if not os.path.isdir(found):
            with open(found, encoding="utf-8", errors="surrogateescape") as file:
                said = file.read(4096)
            if not said.startswith("gitdir:"):
                return None
            found = os.path.normpath(os.path.join(top, said[7:].strip()))
        common = found
        if os.path.isfile(os.path.join(found, "commondir")):
            with open(os.path.join(found, "commondir"), encoding="utf-8", errors="surrogateescape") as file:
                common = os.path.normpath(os.path.join(found, file.read(4096).strip()))
    except OSError:
        return None
    return found, common


class GitWatch:
    """Of the repository at ``top``, with the rights of this process."""

    def __init__(self, top: str | None) -> None:
        found = directories(top) if top is not None else None
        self._top = top
        self._common = found[1] if found is not None else None
        self._sizes = {path: _size(path) for path in self._logs()}

    def moves(self) -> list[Move]:
        """What happened since the last look, oldest first for each head."""
        found = [self._told(folder, move) for path in self._logs() for folder, move in self._read(path)]
        return found[-MOST_MOVES:]

    def _logs(self) -> list[str]:
        if self._common is None:
            return []
        logs = [os.path.join(self._common, "logs", "HEAD")]
        linked = os.path.join(self._common, "worktrees")
        try:
            logs += [os.path.join(linked, name, "logs", "HEAD") for name in sorted(os.listdir(linked))]
        except OSError:
            return logs
        return logs

    def _read(self, path: str) -> Iterator[tuple[str, Move]]:
        before, now = self._sizes.get(path, 0), _size(path)
        self._sizes[path] = now
        if now <= before:  # or it expired: what is in it is old
            return
        try:
            with open(path, "rb") as file:
                file.seek(max(before, now - MOST_BYTES))
                data = file.read(MOST_BYTES)
        except OSError:
            return
        for line in data.decode("utf-8", "replace").split("\n"):
            if (move := parse(line)) is not None:
                yield os.path.dirname(os.path.dirname(path)), move

    def _told(self, folder: str, move: Move) -> Move:
        return about(self._top or folder, move, branch_of(folder))


def parse(line: str) -> Move | None:
    """A line of a reflog."""
    match = _LINE.match(line)
    if match is None:
        return None
    action = _ACTION.match(match[3])
    return Move(None if _ZERO.match(match[1]) else match[1], match[2], action[1] if action is not None else "moved")


def branch_of(folder: str) -> str | None:
    """The branch that a git directory's HEAD is on."""
    try:
        with open(os.path.join(folder, "HEAD"), encoding="utf-8", errors="replace") as file:
            said = file.read(1024).strip()
    except OSError:
        return None
    return said.removeprefix("ref: refs/heads/") if said.startswith("ref: refs/heads/") else None


def about(top: str, move: Move, branch: str | None) -> Move:
    """A move with what git knows of the commit that it made."""
    if not move.makes:
        return Move(move.old, move.new, move.action, branch)
    said = facts.git(top, "log", "-1", "--no-show-signature", "--format=%T%n%P%n%B", move.new, "--")
    if said is None:
        return Move(move.old, move.new, move.action, branch)
    tree, parents, message = ([*said.split("\n", 2), "", ""])[:3]
    names = facts.git(top, "diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "-z", move.new, "--") or ""
    return Move(
        move.old, move.new, move.action, branch, tree, tuple(parents.split()), patch_id(top, move.new),
        tuple(name for name in names.split("\0") if name)[:MOST_PATHS], message[:MOST_MESSAGE],
    )  # fmt: skip


def patch_id(top: str, sha: str) -> str | None:
    """The patch's id (git-patch-id(1)), which stays the same when a commit is picked or rebased; None for a merge, or where git fails."""
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "diff-tree", "-p", "--root", "--no-ext-diff", "--no-textconv", sha, "--"]
    try:
        with subprocess.Popen(command, cwd=top, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as shown:
            done = subprocess.run(
                ["git", "patch-id", "--stable"], cwd=top, env=environment, stdin=shown.stdout, capture_output=True, timeout=20, check=False
            )
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = done.stdout.split()
    return words[0].decode("ascii") if done.returncode == 0 and words else None


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0

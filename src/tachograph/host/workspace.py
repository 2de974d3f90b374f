"""The agent's workspace while it records: its tree at the start, and what each tool or command changed.

A replay answers tools and commands from the record instead of running them, so it must also do to the files what they did. The tree
at the start is kept as a difference to the commit where there is one (clean tracked files are git's to keep), whole elsewhere. Only
looking, never touching: neither index nor branch. Limits bound what is kept; what is beyond them is kept by size only and said so.
"""

from __future__ import annotations

import collections
import os
import stat
from dataclasses import dataclass
from typing import Any, Protocol

from tachograph.redact.engine import Redactor
from tachograph.redact.scanner import Depth

from . import facts
from .git_watch import GitWatch, Move

#: Never looked into: other people's code, caches, and git's own.
SKIP = frozenset({
    ".git", ".hg", ".svn", "node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    ".cache", ".eggs",
})  # fmt: skip
MAX_FILES = 20_000
MAX_FILE = 2 << 20
MAX_TOTAL = 64 << 20


@dataclass(frozen=True)
class Mark:
    """What tells that a file changed."""

    mode: int
    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True)
class Seen:
    """One file as it is: its first ``MAX_FILE + 1`` bytes, or where a link leads, or why neither could be had."""

    data: bytes | None = None
    link: str | None = None
    why: str | None = None


class Eyes(Protocol):
    """Looks at a workspace, with the rights of the process that starts the agent. ``root`` is None where there is nothing sensible to watch.
    ``lost``: why nothing more can be seen, if so."""

    root: str | None
    lost: str | None

    def scan(self) -> dict[str, Mark] | None:
        """Every regular file and link by its path below ``root``; None where there are too many, or nothing is seen."""
        ...

    def read(self, name: str, *, link: bool) -> Seen:
        """A file, or where a ``link`` leads."""
        ...

    def tracked(self, sha: str) -> tuple[set[str], set[str]] | None:
        """What git tracks, and what of it differs from the commit."""
        ...

    def committed(self, sha: str, name: str) -> str | None:
        """What a file held in the commit."""
        ...

    def moves(self) -> list[Move]:
        """What happened to the repository's heads since the last look."""
        ...


class OwnEyes:
    """With the rights of this process."""

    lost: str | None = None

    def __init__(self, root: str | None, *, avoid: tuple[str, ...] = (), top: str | None = None) -> None:
        """``top``: of the repository whose heads are watched. ``avoid``: folders and files of our own, which are no part of a workspace."""
        self.root = root
        self._git = GitWatch(top)
        self._avoid = tuple(os.path.realpath(path) for path in avoid)

    def scan(self) -> dict[str, Mark] | None:
        return scan(self.root, self._avoid) if self.root is not None else None

    def read(self, name: str, *, link: bool) -> Seen:
        path = os.path.join(self.root or "", name)
        try:
            if link:
                return Seen(link=os.readlink(path))
            with open(path, "rb") as file:
                return Seen(data=file.read(MAX_FILE + 1))
        except OSError as error:
            return Seen(why=error.strerror)

    def tracked(self, sha: str) -> tuple[set[str], set[str]] | None:
        if self.root is None:
            return None
        tracked = facts.git(self.root, "ls-files", "-z")
        differing = facts.git(self.root, "diff", "--name-only", "--no-renames", "-z", sha, "--")
        return None if tracked is None or differing is None else (_names(tracked), _names(differing))

    def committed(self, sha: str, name: str) -> str | None:
        return facts.git(self.root, "show", f"{sha}:{name}") if self.root is not None else None

    def moves(self) -> list[Move]:
        return self._git.moves()


def watched(cwd: str, repository: dict[str, Any]) -> str | None:
    """The folder to watch; None for ``/``, a home folder, and what everybody shares."""
    found: str = repository.get("top") or cwd
    return None if found in ("/", os.path.expanduser("~"), "/tmp", "/home") else found  # noqa: S108 - named so as not to be watched


class Watcher:
    """Keeps what changes in one folder. ``root`` is None where there is nothing sensible to watch (``watched``, or too many files)."""

    def __init__(
        self, cwd: str, repository: dict[str, Any], redactor: Redactor, *, avoid: tuple[str, ...] = (), eyes: Eyes | None = None
    ) -> None:
        self._redactor = redactor
        self._repository = repository
        self._eyes: Eyes = eyes if eyes is not None else OwnEyes(watched(cwd, repository), avoid=avoid)
        self.root: str | None = (repository.get("top") or cwd) if self._eyes.root is not None else None
        self._contents: dict[str, Any] = {}
        self._kept = 0
        self._marks: dict[str, Mark] = {}
        if self.root is not None:
            found = self._eyes.scan()
            if found is None:
                self.root = None
            else:
                self._marks = found

    @property
    def lost(self) -> str | None:
        """Why nothing more is seen, where something was to be."""
        return self._eyes.lost

    def moves(self) -> list[Move]:
        """What happened to the repository's heads since the last look."""
        return self._eyes.moves()

    def base(self, masked: collections.Counter[str] | None = None) -> dict[str, Any] | None:
        """The tree at the start (``docs/format/v1.md``, section 5.4): ``root``, ``sha``, ``files`` that differ from it, ``deleted``.
        What was masked is added to ``masked``."""
        if self.root is None:
            return None
        tally: collections.Counter[str] = collections.Counter()
        sha = self._repository.get("sha")
        clean: set[str] = set()
        deleted: list[str] = []
        if sha is not None:
            found = self._eyes.tracked(str(sha))
            if found is not None:
                tracked, changed = found
                clean = tracked - changed
                deleted = sorted(name for name in changed if name not in self._marks)
        files = {self.name(name, tally): self._file(name, mark, tally) for name, mark in sorted(self._marks.items()) if name not in clean}
        deleted = [self.name(name, tally) for name in deleted]
        if masked is not None:
            masked.update(tally)
        return {"root": self.root, "sha": sha, "files": files, "deleted": deleted, "redactions": tally.total()}

    def look(self, tally: collections.Counter[str]) -> dict[str, Any] | None:
        """What changed since the last look, or None."""
        if self.root is None:
            return None
        found = self._eyes.scan()
        if found is None:
            return None
        changes = []
        for name in sorted(self._marks.keys() | found.keys()):
            before, after = self._marks.get(name), found.get(name)
            if before == after:
                continue
            old = self._contents.get(name) if name in self._contents else self._committed(name, tally) if before else None
            if after is None:
                self._contents.pop(name, None)
                changes.append({"path": self.name(name, tally), "action": "deleted", "before": old})
                continue
            new = self._file(name, after, tally)
            changes.append({
                "path": self.name(name, tally), "action": "changed" if before else "added", "before": old, "after": new["data"], "mode": new["mode"],
                "size": new["size"], "binary": isinstance(new["data"], bytes), **({"link": new["link"]} if "link" in new else {}),
            })  # fmt: skip
        self._marks = found
        return {"root": self.root, "changes": changes} if changes else None

    def name(self, name: str, tally: collections.Counter[str]) -> str:
        """A path without the tokens in it: a dump called by a user's key. By shape only, because a replay restores the file under this
        name and ``token=3.txt`` is no secret."""
        return self._redactor.apply(name, self._redactor.edits(name, Depth.SHAPES), tally)

    def _committed(self, name: str, tally: collections.Counter[str]) -> Any:
        """What a file that was clean at the start held: git knows."""
        sha = self._repository.get("sha")
        if sha is None or self.root is None:
            return None
        old = self._eyes.committed(str(sha), name)
        return None if old is None or len(old) > MAX_FILE else self._redactor.text(old, tally)

    def _file(self, name: str, mark: Mark, tally: collections.Counter[str]) -> dict[str, Any]:
        out: dict[str, Any] = {"mode": stat.S_IMODE(mark.mode), "size": mark.size, "data": None}
        link = stat.S_ISLNK(mark.mode)
        if not link and (mark.size > MAX_FILE or self._kept + mark.size > MAX_TOTAL):
            return {**out, "kept": False}
        seen = self._eyes.read(name, link=link)
        if seen.link is not None:
            return {**out, "link": self.name(seen.link, tally)}
        if seen.data is None:
            return {**out, "kept": False, "why": seen.why}
        data = seen.data
        self._kept += len(data)
        content = facts.text(data)
        out["data"] = self._contents[name] = (
            self._redactor.text(content, tally) if isinstance(content, str) else self._redactor.document(content, tally)
        )
        return out


def _names(listed: str) -> set[str]:
    return {name for name in listed.split("\0") if name}


def scan(root: str, avoid: tuple[str, ...]) -> dict[str, Mark] | None:
    """Every regular file and link below ``root`` by its path there; None for more than ``MAX_FILES``."""
    found: dict[str, Mark] = {}
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                for entry in entries:
                    name = f"{folder}/{entry.name}" if folder else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in SKIP and os.path.join(root, name) not in avoid:
                            folders.append(name)
                        continue
                    if os.path.join(root, name) in avoid:
                        continue
                    about = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(about.st_mode) or stat.S_ISLNK(about.st_mode):
                        found[name] = Mark(about.st_mode, about.st_size, about.st_mtime_ns, about.st_ino)
        except OSError:
            continue  # a folder that came and went, or is not ours to read
        if len(found) > MAX_FILES:
            return None
    return found

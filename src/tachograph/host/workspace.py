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
from typing import Any

from tachograph.redact.engine import Redactor
from tachograph.redact.scanner import Depth

from . import facts

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


class Watcher:
    """Looks at one folder. ``root`` is None where there is nothing sensible to watch (``/``, a home folder, too many files)."""

    def __init__(self, cwd: str, repository: dict[str, Any], redactor: Redactor, *, avoid: tuple[str, ...] = ()) -> None:
        self._redactor = redactor
        self._repository = repository
        self._avoid = tuple(os.path.realpath(path) for path in avoid)
        self.root: str | None = repository.get("top") or cwd
        self._contents: dict[str, Any] = {}
        self._kept = 0
        if self.root in ("/", os.path.expanduser("~"), "/tmp", "/home"):  # noqa: S108 - named so as not to be watched
            self.root = None
        self._marks: dict[str, Mark] = {}
        if self.root is not None:
            found = self._scan()
            if found is None:
                self.root = None
            else:
                self._marks = found

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
            tracked = facts.git(self.root, "ls-files", "-z")
            differing = facts.git(self.root, "diff", "--name-only", "--no-renames", "-z", str(sha), "--")
            if tracked is not None and differing is not None:
                changed = set(differing.split("\0"))
                clean = {name for name in tracked.split("\0") if name and name not in changed}
                deleted = sorted(name for name in changed if name and name not in self._marks)
        files = {self._name(name, tally): self._file(name, mark, tally) for name, mark in sorted(self._marks.items()) if name not in clean}
        deleted = [self._name(name, tally) for name in deleted]
        if masked is not None:
            masked.update(tally)
        return {"root": self.root, "sha": sha, "files": files, "deleted": deleted, "redactions": tally.total()}

    def look(self, tally: collections.Counter[str]) -> dict[str, Any] | None:
        """What changed since the last look, or None."""
        if self.root is None:
            return None
        found = self._scan()
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
                changes.append({"path": self._name(name, tally), "action": "deleted", "before": old})
                continue
            new = self._file(name, after, tally)
            changes.append({
                "path": self._name(name, tally), "action": "changed" if before else "added", "before": old, "after": new["data"], "mode": new["mode"],
                "size": new["size"], "binary": isinstance(new["data"], bytes),
            })  # fmt: skip
        self._marks = found
        return {"root": self.root, "changes": changes} if changes else None

    def _name(self, name: str, tally: collections.Counter[str]) -> str:
        """A path without the tokens in it: a dump called by a user's key. By shape only, because a replay restores the file under this
        name and ``token=3.txt`` is no secret."""
        return self._redactor.apply(name, self._redactor.edits(name, Depth.SHAPES), tally)

    def _committed(self, name: str, tally: collections.Counter[str]) -> Any:
        """What a file that was clean at the start held: git knows."""
        sha = self._repository.get("sha")
        if sha is None or self.root is None:
            return None
        old = facts.git(self.root, "show", f"{sha}:{name}")
        return None if old is None or len(old) > MAX_FILE else self._redactor.text(old, tally)

    def _file(self, name: str, mark: Mark, tally: collections.Counter[str]) -> dict[str, Any]:
        assert self.root is not None
        path = os.path.join(self.root, name)
        out: dict[str, Any] = {"mode": stat.S_IMODE(mark.mode), "size": mark.size, "data": None}
        try:
            if stat.S_ISLNK(mark.mode):
                return {**out, "link": self._name(os.readlink(path), tally)}
            if mark.size > MAX_FILE or self._kept + mark.size > MAX_TOTAL:
                return {**out, "kept": False}
            with open(path, "rb") as file:
                data = file.read(MAX_FILE + 1)
        except OSError as error:
            return {**out, "kept": False, "why": error.strerror}
        self._kept += len(data)
        content = facts.text(data)
        out["data"] = self._contents[name] = (
            self._redactor.text(content, tally) if isinstance(content, str) else self._redactor.document(content, tally)
        )
        return out

    def _scan(self) -> dict[str, Mark] | None:
        return scan(self.root, self._avoid) if self.root is not None else None


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
                    about = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(about.st_mode) or stat.S_ISLNK(about.st_mode):
                        found[name] = Mark(about.st_mode, about.st_size, about.st_mtime_ns, about.st_ino)
        except OSError:
            continue  # a folder that came and went, or is not ours to read
        if len(found) > MAX_FILES:
            return None
    return found

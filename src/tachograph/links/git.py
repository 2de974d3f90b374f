"""What git says of a repository's past. Reads only: no lock is taken, no hook and no filter of the repository's runs."""

from __future__ import annotations

import functools
import os
import subprocess
from dataclasses import dataclass

from tachograph.core.errors import NotFoundError, StoreError, UsageError
from tachograph.host.git_watch import patch_id

#: Seconds for one question; blame of a long file in a long history takes a while.
PATIENCE = 300
NOTES = ("refs/notes/tachograph", "refs/notes/commits")


@dataclass(frozen=True)
class Line:
    """A line of a file, and the commit that brought it there. ``sha``: None for a line that is not committed. ``path``: of the file in that
    commit. ``at``: when that commit was made, in Unix seconds."""

    number: int
    text: str
    sha: str | None
    path: str
    author: str
    at: int
    summary: str


class Repository:
    """The repository around a folder. Raises ``UsageError`` where there is none."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        top = self.ask("rev-parse", "--show-toplevel")
        if top is None:
            raise UsageError(f"no git repository at {folder}; go into the repository whose code this is about")
        self.top = top.strip()

    def ask(self, *arguments: str) -> str | None:
        """What git answers; None where it fails."""
        done = self._run(arguments)
        return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else None

    def commit(self, name: str) -> str:
        """The full id of a commit. Raises ``NotFoundError``."""
        found = None if name.startswith("-") else self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if found is None:
            raise NotFoundError(f"no commit {name[:80]!r} in {self.top}; git log shows what is there")
        return found.strip()

    def blame(self, file: str, rev: str | None, *, moves: bool) -> list[Line]:
        """Whence each line of a file is, through changes of white space; with ``moves``, also through moves within the file and copies from
        others, which takes a like line of somebody else for the origin. ``rev``: None for the file as it lies there. Raises ``NotFoundError``."""
        options = ["-w", *(("-M", "-C", "-C") if moves else ()), "--line-porcelain"]
        done = self._run(("blame", *options, *([rev] if rev is not None else []), "--", file))
        if done.returncode:
            why = done.stderr.decode("utf-8", "replace").strip().split("\n")[0].removeprefix("fatal: ")
            raise NotFoundError(f"cannot blame {file}, {why}; name a file that git tracks, with lines that it has")
        return _lines(done.stdout)

    def text(self, path: str, rev: str | None) -> str | None:
        """A file as it is in a commit, or as it lies there; None where there is none. ``path``: as a tool wrote it, absolute perhaps."""
        name = os.path.relpath(path, self.top) if os.path.isabs(path) else path
        if name.startswith(".."):
            return None
        if rev is not None:
            return self.ask("show", f"{rev}:{name}")
        try:
            with open(os.path.join(self.top, name), encoding="utf-8", errors="replace") as file:
                return file.read(8 << 20)
        except OSError:
            return None

    @functools.cache  # noqa: B019 - as long as one command
    def message(self, sha: str) -> str:
        """A commit's whole message."""
        return self.ask("log", "-1", "--no-show-signature", "--format=%B", sha, "--") or ""

    @functools.cache  # noqa: B019
    def notes(self, sha: str) -> str:
        """What notes say of a commit."""
        return "\n".join(self.ask("notes", f"--ref={ref}", "show", sha) or "" for ref in NOTES)

    @functools.cache  # noqa: B019
    def tree(self, sha: str) -> str | None:
        found = self.ask("rev-parse", "--verify", "--quiet", f"{sha}^{{tree}}")
        return found.strip() if found is not None else None

    @functools.cache  # noqa: B019
    def parents(self, sha: str) -> list[str]:
        return (self.ask("log", "-1", "--format=%P", sha, "--") or "").split()

    @functools.cache  # noqa: B019
    def patch_id(self, sha: str) -> str | None:
        return patch_id(self.top, sha)

    @functools.cache  # noqa: B019
    def has(self, sha: str) -> bool:
        """Whether this commit is known here."""
        return self._run(("cat-file", "-e", f"{sha}^{{commit}}")).returncode == 0

    def is_ancestor(self, sha: str, of: str) -> bool:
        """Whether a commit is in the history of another one, or that one."""
        return self._run(("merge-base", "--is-ancestor", sha, of)).returncode == 0

    def between(self, base: str | None, head: str) -> list[str]:
        """The commits that are in ``head`` and not in ``base`` (None: all), oldest first. Raises ``NotFoundError``."""
        span = f"{base}..{head}" if base is not None else head
        found = self.ask("rev-list", "--reverse", "--end-of-options", span)
        if found is None:
            raise NotFoundError(f"git does not know {span[:100]} in {self.top}; fetch it first (a shallow clone has not all)")
        return found.split()

    def remote(self) -> str | None:
        found = self.ask("config", "--get", "remote.origin.url")
        return found.strip() if found is not None else None

    def _run(self, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                ["git", *arguments], cwd=self.folder, capture_output=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL,
                env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            )  # fmt: skip
        except FileNotFoundError:
            raise StoreError("git is not there, on PATH; install it, or correct PATH") from None
        except subprocess.TimeoutExpired:
            raise StoreError(f"git {arguments[0]} takes more than {PATIENCE} s in {self.folder}; name fewer lines") from None


def _lines(data: bytes) -> list[Line]:
    found: list[Line] = []
    fields: dict[str, str] = {}
    sha, number = "", 0
    for raw in data.split(b"\n"):
        text = raw.decode("utf-8", "replace")
        if text.startswith("\t"):
            committed = sha.strip("0") != ""
            found.append(
                Line(number, text[1:], sha if committed else None, fields.get("filename", ""), fields.get("author", ""),
                     int(fields.get("committer-time", "0")), fields.get("summary", ""))
            )  # fmt: skip
            fields = {}
        elif not fields:
            words = text.split(" ")
            if len(words) >= 3:
                sha, number = words[0], int(words[2])
                fields = {"": ""}
        else:
            name, _, value = text.partition(" ")
            fields[name] = value
    return found

"""``tacho checkout``: the recorded workspace as it was at a moment, written into a folder of its own.

The tree is put together from the commit that the recording names (git's to keep), what differed from it at the start, and what each tool
and command changed since (all kept with the session). Nothing is run and nothing of the repository is touched (``commits``). Only the files
that are asked for are written: what the agent changed costs by its size, and the rest is one checkout.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from tachograph.core import events
from tachograph.core.errors import NotFoundError, ReplayError, StoreError, UsageError
from tachograph.log.reader import Recording
from tachograph.replay.timeline import Moment, Timeline

from . import commits


@dataclass
class Tree:
    """A workspace at a moment. ``files``: what the recording holds itself, path → ``mode``, ``data`` or ``link``; ``sha``: the commit that holds
    the others, but for ``gone``. ``missing``: files that were too large to be kept, or could not be read."""

    root: str
    sha: str | None
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Written:
    """What was written. ``masked``: files that hold placeholders where secrets were."""

    session_id: str
    folder: str
    step: int
    seq: int
    sha: str | None
    files: int
    missing: list[str]
    masked: list[str]

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def tree(recording: Recording, timeline: Timeline) -> Tree:
    """The workspace where the timeline stands. Raises ``NotFoundError`` for a session whose workspace was not recorded."""
    base = next(
        (recording.content(entry.event.workspace_uri) for entry in recording.entries if isinstance(entry.event, events.SessionStart)), None
    )
    if not base:
        raise NotFoundError(
            f"no workspace was recorded with {recording.session_id} (imported, or run in /, a home folder or a folder of too many files); "
            "tacho show tells what was"
        )
    out = Tree(str(base["root"]), base.get("sha"), dict(base.get("files", {})), set(base.get("deleted", [])))
    for path in timeline.now.files:
        change = timeline.change(path)
        assert change is not None
        if change["action"] == "deleted":
            out.files.pop(path, None)
            out.gone.add(path)
        else:
            out.files[path] = {"mode": change.get("mode", 0o644), "data": change.get("after"), **_link(change)}
    for path, held in sorted(out.files.items()):
        if held.get("data") is None and "link" not in held:
            del out.files[path]
            out.gone.add(path)  # what the commit has under that name is not what was there
            out.missing.append(path)
    return out


def _link(change: dict[str, Any]) -> dict[str, Any]:
    return {"link": change["link"]} if "link" in change else {}


def checkout(recording: Recording, timeline: Timeline, folder: str, *, repository: str | None = None) -> Written:
    """Write the workspace where the timeline stands into ``folder``, which is new or empty. ``repository``: a clone that has the commit, where
    the recorded place has not. Raises ``UsageError`` and ``StoreError`` before anything is written."""
    found = tree(recording, timeline)
    unused(folder)
    source = _source(found, repository) if found.sha is not None else None
    _make(folder)
    if source is not None and found.sha is not None:
        tracked = commits.names(source, found.sha)
        commits.write_tree(source, found.sha, folder, without=tracked & (found.files.keys() | found.gone))
    for path, held in sorted(found.files.items()):
        write(folder, path, held)
    moment: Moment = timeline.now
    return Written(
        session_id=recording.session_id, folder=folder, step=moment.step, seq=moment.seq, sha=found.sha,
        files=sum(len(names) for _, _, names in os.walk(folder)), missing=found.missing,
        masked=[path for path, held in sorted(found.files.items()) if isinstance(held.get("data"), str) and "[REDACTED:" in held["data"]],
    )  # fmt: skip


def unused(folder: str) -> None:
    """Raises ``UsageError`` for a place where something is."""
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise UsageError(f"{folder} is there already and not empty, and nothing is written over; name a new folder")


def _make(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make {folder}, {error.strerror}; name another folder") from None


def _source(found: Tree, repository: str | None) -> str:
    assert found.sha is not None
    for place in [repository] if repository is not None else [found.root, os.getcwd()]:
        if os.path.isdir(place) and commits.has(place, found.sha):
            return place
    where = repository or found.root
    raise ReplayError(
        f"the committed files of this session are in git, and {where} does not have commit {found.sha[:12]}; name a clone that has it with --repo"
    )


def write(folder: str, path: str, held: dict[str, Any]) -> None:
    """One file or link of a recording. A recording must not be able to write elsewhere: a path that leads out raises ``ReplayError``."""
    top = os.path.realpath(folder)
    parts = path.split("/")
    parent = os.path.realpath(os.path.join(top, *parts[:-1]))
    if "" in parts or "." in parts or ".." in parts or (parent != top and not parent.startswith(top + os.sep)):
        raise ReplayError(f"the recording names a file outside of its workspace, {path!r}; run tacho verify on it")
    try:
        os.makedirs(parent, exist_ok=True)
        target = os.path.join(parent, parts[-1])
        if os.path.lexists(target):
            os.unlink(target)
        if "link" in held:
            os.symlink(str(held["link"]), target)
            return
        data = held["data"]
        with open(target, "wb") as file:
            file.write(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data))
        os.chmod(target, int(held.get("mode", 0o644)) & 0o777)
    except OSError as error:
        raise StoreError(f"cannot write {os.path.join(folder, path)}, {error.strerror}; name another folder") from None

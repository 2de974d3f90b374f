"""A replay's scratch workspace: the recorded tree, laid out beside the original, which is only read.

The workspace is as it was when the recording began. The exception is the agent's own code: the files that ran as Python in the agent
are left as they are *now*, since a replay asks how today's agent fares with yesterday's answers; which of them changed is reported. Python
files that came under version control since are left, too: today's code may have been split.
"""

from __future__ import annotations

import base64
import collections
import os
import shutil
from dataclasses import dataclass, field
from typing import Any

from tachograph.redact.engine import Redactor

from . import facts
from .workspace import MAX_FILE, SKIP, scan


@dataclass
class Restore:
    """``changes``: what to write into the view of the workspace, as ``client/workspace.apply`` reads it. ``code_changed``: files of the
    agent's own that are not what they were. ``missing``: files whose recorded content is not kept."""

    root: str
    changes: list[dict[str, Any]] = field(default_factory=list)
    code_changed: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def plan(base: dict[str, Any], code: list[str], redactor: Redactor) -> Restore:
    """What it takes to turn the folder as it is now into the recorded tree."""
    root = base["root"]
    out = Restore(root)
    own = {os.path.relpath(path, root) for path in code if path.startswith(root + os.sep)}
    files: dict[str, dict[str, Any]] = base.get("files", {})
    present = set(scan(root, ()) or {}) if os.path.isdir(root) else set()
    wanted = dict(files)
    if base.get("sha"):
        present, committed = _from_commit(out, root, str(base["sha"]), files, set(base.get("deleted", [])), present, own)
        keep = committed | _new_code(root)
    else:
        keep = set(base.get("as_now", ())) | (_new_code(root) if "as_now" in base else set())
    for name in sorted(present - keep - wanted.keys() - own):
        out.changes.append({"path": name, "action": "deleted"})
    for name, recorded in sorted(wanted.items()):
        _restore(out, root, name, recorded, name in own, redactor)
    return out


def _from_commit(
    out: Restore, root: str, sha: str, files: dict[str, Any], deleted: set[str], present: set[str], own: set[str]
) -> tuple[set[str], set[str]]:
    """Files that were clean: the commit holds them. Returns (present, committed)."""
    listed = facts.git(root, "ls-tree", "-r", "--name-only", "-z", sha)
    if listed is None:
        out.missing.append(f"commit {sha}")
        return set(), set()
    committed = {name for name in listed.split("\0") if name} - deleted
    differing = facts.git(root, "diff", "--name-only", "--no-renames", "-z", sha, "--") or ""
    for name in sorted(name for name in differing.split("\0") if name):
        if name in files or name not in committed:
            continue
        if name in own:
            out.code_changed.append(name)
            continue
        old = facts.git(root, "show", f"{sha}:{name}")
        if old is None:
            out.missing.append(name)
        else:
            out.changes.append(
                {"path": name, "action": "changed", **_data(old.encode("utf-8", "surrogateescape")), "mode": _mode(root, name)}
            )
    return present, committed


def _new_code(root: str) -> set[str]:
    """Python files that are under version control by now. What the recording does not know of them, the agent's code of today may import."""
    return {name for name in (facts.git(root, "ls-files", "-z", "--", "*.py") or "").split("\0") if name}


def _restore(out: Restore, root: str, name: str, recorded: dict[str, Any], own: bool, redactor: Redactor) -> None:
    path = os.path.join(root, name)
    if "link" in recorded:
        if not os.path.islink(path) or os.readlink(path) != recorded["link"]:
            out.changes.append({"path": name, "action": "added", "link": recorded["link"]})
        return
    data = recorded.get("data")
    if data is None:
        if not os.path.exists(path) or os.path.getsize(path) != recorded.get("size"):
            out.missing.append(name)
        return
    content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    now = _now(path, redactor)
    if now == content:
        return
    if own and now is not None:
        out.code_changed.append(name)
        return
    out.changes.append({"path": name, "action": "changed", **_data(content), "mode": recorded.get("mode", 0o644)})


def _now(path: str, redactor: Redactor) -> bytes | None:
    """The file as it would have been recorded."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError:
        return None
    content = facts.text(data)
    if isinstance(content, str):
        return redactor.text(content, collections.Counter()).encode("utf-8", "surrogatepass")
    return bytes(redactor.document(content))


def _data(content: bytes) -> dict[str, Any]:
    return {"base64": base64.b64encode(content).decode()}


def _mode(root: str, name: str) -> int:
    try:
        return os.stat(os.path.join(root, name)).st_mode & 0o7777
    except OSError:
        return 0o644


def copy(root: str, target: str) -> None:
    """A copy of the tree, for systems without mount namespaces. What nobody edits (environments, caches, git's own) is linked."""
    os.makedirs(target, exist_ok=True)
    if not os.path.isdir(root):
        return
    with os.scandir(root) as entries:
        for entry in entries:
            there = os.path.join(target, entry.name)
            if entry.name in SKIP:
                os.symlink(entry.path, there)
            elif entry.is_dir(follow_symlinks=False):
                copy(entry.path, there)
            elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                shutil.copy2(entry.path, there, follow_symlinks=False)

"""The agent's code as of a commit, in a replay's scratch workspace (``tacho bisect``).

A bisect asks what a commit changed, so of the repository that holds the agent's code everything is as in that commit: programs, prompts,
settings. What the session worked on stays as it was recorded: files that were not committed then, files that its tools and commands changed, and
what is named as data. Programs that ran in the agent are code even so: an edit that nobody committed then belongs to no commit.

Where the repository lies in the recorded workspace (or is it), the commit's files take their places in the scratch view of it. Where it lies elsewhere, a
copy of the commit is laid out in the replay's own folder, and the command is told that one.
"""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tachograph.redact.engine import Redactor

from . import commits, scratch
from .workspace import SKIP, scan


@dataclass(frozen=True, kw_only=True)
class Version:
    """A commit of the agent's code. ``repository``: the top of its working tree; ``data``: paths in there, files or folders, that are no code."""

    repository: str
    sha: str
    data: tuple[str, ...] = ()


def place(version: Version, root: str) -> str | None:
    """Where the repository is in the workspace: a path relative to ``root`` (empty: the same), None where it is elsewhere."""
    found = os.path.relpath(os.path.realpath(version.repository), os.path.realpath(root))
    return None if found == ".." or found.startswith("../") else "" if found == "." else found


def restore(version: Version, base: dict[str, Any], code: list[str], touched: Iterable[str], redactor: Redactor) -> scratch.Restore:
    """What turns the folder as it is now into the recorded workspace with the agent's code of that commit. ``touched``: files that the
    session changed."""
    root = str(base["root"])
    out = scratch.plan(base, code, redactor)
    where = place(version, root)
    if where is None:
        return out
    prefix = where + "/" if where else ""

    def under(names: Iterable[str]) -> set[str]:
        return {name.removeprefix(prefix) for name in names if name.startswith(prefix)}

    out.changes = [change for change in out.changes if not change["path"].startswith(prefix)]
    out.missing = [name for name in out.missing if not name.startswith(prefix)]
    out.code_changed = []
    own = under(os.path.relpath(path, root) for path in code if path.startswith(root + os.sep))
    files = {name.removeprefix(prefix): held for name, held in base.get("files", {}).items() if name.startswith(prefix)}
    sha = base.get("sha") if not where else None
    held = commits.names(version.repository, version.sha)
    kept = under(touched) | {name for name in held | files.keys() if _is_data(name, version.data)}
    # Without a commit of its own the recording holds everything, and cannot tell what was committed.
    kept |= files.keys() | under(base.get("deleted", [])) if sha else files.keys() - held
    kept -= own & held
    present = under(scan(root, ()) or ())
    as_now = {name for name in own & files.keys() & present if name not in held}
    differing = commits.split(commits.git(version.repository, "diff", "--name-only", "--no-renames", "-z", version.sha, "--"))
    changes = _contents(version.repository, version.sha, held & differing - kept)
    before = {name for name in kept - files.keys() if sha and name not in base.get("deleted", [])}
    if before and sha and commits.has(version.repository, str(sha)):
        changes |= _contents(version.repository, str(sha), before & commits.names(version.repository, str(sha)))
    for name in kept & files.keys() - as_now:
        made = _recorded(files[name])
        if made is None:
            out.missing.append(prefix + name)
        else:
            changes[name] = made
    wanted = (held - kept) | changes.keys() | as_now | {name for name in kept if prefix + name in out.missing}
    out.changes += [{"path": prefix + name, "action": "deleted"} for name in sorted(present - wanted)]
    out.changes += [{"path": prefix + name, "action": "changed", **change} for name, change in sorted(changes.items())]
    return out


def _is_data(name: str, data: Iterable[str]) -> bool:
    return any(name == one or name.startswith(one.rstrip("/") + "/") for one in data)


def _recorded(held: dict[str, Any]) -> dict[str, Any] | None:
    if "link" in held:
        return {"link": held["link"]}
    data = held.get("data")
    if data is None:
        return None
    content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    return {"base64": base64.b64encode(content).decode(), "mode": held.get("mode", 0o644)}


def _contents(repository: str, sha: str, names: set[str]) -> dict[str, dict[str, Any]]:
    """Files of a commit, as they would be checked out."""
    found: dict[str, dict[str, Any]] = {}
    if not names:
        return found
    with tempfile.TemporaryDirectory(prefix="tacho-commit-") as folder:
        commits.write_tree(repository, sha, folder, only=sorted(names))
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                found[name] = {"link": os.readlink(path)}
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[name] = {"base64": base64.b64encode(file.read()).decode(), "mode": os.stat(path).st_mode & 0o777}
    return found


@dataclass(frozen=True)
class Moved:
    """A repository that a replay finds at another place. Paths of it are told with the new place, but for what nobody edits (environments),
    which stays where it is."""

    there: str
    here: str

    def text(self, value: str) -> str:
        """A path, or words and lists with paths in them (``--config=/srv/agent/a.ini``, ``/srv/agent:/srv/lib``)."""
        pieces = value.split(self.there)
        out = pieces[0]
        for piece in pieces[1:]:
            whole = piece[:1] in ("", "/", ":", " ", ",", ";") and piece.lstrip("/").split("/")[0] not in SKIP
            out += (self.here if whole else self.there) + piece
        return out


def lay_out(version: Version, folder: str) -> Moved:
    """A copy of the commit in a replay's own folder, beside the links to what nobody edits."""
    there = os.path.realpath(version.repository)
    commits.write_tree(there, version.sha, folder)
    for name in os.listdir(there):
        if name in SKIP and name != ".git" and not os.path.lexists(os.path.join(folder, name)):
            os.symlink(os.path.join(there, name), os.path.join(folder, name))
    return Moved(there, folder)


def import_roots(moved: Moved) -> list[str]:
    """Folders to import from first, so that an installation in place (``pip install -e``) of the original does not win."""
    source = os.path.join(moved.here, "src")
    return [source] if os.path.isdir(source) else [moved.here]

"""Files outside of the workspace that an agent read: kept while recording, shown again in a replay.

A client tells each path once, right when it opens it, with what ``stat`` said (``client/outside.py``). The host looks at the file then. A
content ``files`` is

    {"files": [{"path", "size", "mode", "mtime_ns", "hash"?, "data"?, "masked"?, "during"?, "why"?} | {"path", "missing": true}, …]}

``data``: text or bytes, redacted, where it was kept; ``masked``: how many values of it were; ``hash``: keyed, of what was not kept, or of what was kept;
``during``: the file was made or changed while the session ran; ``why``: why there is no ``data``.

A replay compares: a file that is another one now, and was kept whole and without a mask, is shown as it was, by a mount that only the agent
sees. What cannot be shown is named.
"""

from __future__ import annotations

import collections
import os
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.format.tree import Digest
from tachograph.log.writer import HASH_NAME
from tachograph.redact.engine import Redactor
from tachograph.redact.placeholder import neutral
from tachograph.redact.scanner import Depth
from tachograph.replay import guard

from . import facts
from .known import Known

#: Bytes of one file that are kept, and of all; how many files are kept.
MAX_FILE, MAX_TOTAL, MAX_FILES = 256 << 10, 16 << 20, 1000
#: Bytes of one file that are hashed, and of all: the agent must not wait for us. How many files are named at all.
MAX_HASHED, MAX_HASHED_TOTAL, MAX_NAMED = 16 << 20, 256 << 20, 20_000
#: Folders of missing files that a replay shows with those files in them.
MAX_FOLDERS = 16

UNKEPT = "contents are not kept, [record] file_contents = true keeps them"
CHANGED, GONE, NEW = "its content is another one", "it is not there any more", "it was not there"


class Outside:
    """While recording. ``avoid``: folders of our own. ``began``: the moment of the first look, nanoseconds since 1970. ``contents``: whether what
    files hold is kept, redacted. Only where it is asked for: what lies outside of the workspace is where people keep their credentials, and a
    file that is nothing but a token has no name in it by which that could be seen."""

    def __init__(self, redactor: Redactor, digest: Digest, *, avoid: Sequence[str], began: int, contents: bool = True) -> None:
        self._redactor = redactor
        self._digest = digest
        self._avoid = tuple(os.path.realpath(path) for path in avoid)
        self._began = began
        self._contents = contents
        self._seen: set[str] = set()
        self._files: list[dict[str, Any]] = []
        self._tally: collections.Counter[str] = collections.Counter()
        self._count = self._kept = self._hashed = 0

    def opened(self, told: Iterable[Any]) -> None:
        """``[path, size, change time]`` or, of what was not there, ``[path]``. What is not as agreed is left out."""
        for value in told:
            if isinstance(value, list) and value and isinstance(value[0], str) and os.path.isabs(value[0]) and "\0" not in value[0]:
                self._look(value[0], value[1:])

    def _look(self, path: str, then: list[Any]) -> None:
        if path in self._seen or len(self._seen) >= MAX_NAMED:
            return
        self._seen.add(path)
        if _below(os.path.realpath(path), self._avoid):
            return
        name = self._redactor.apply(path, self._redactor.edits(path, Depth.SHAPES), self._tally)
        if not then:
            if not os.path.lexists(path):
                self._files.append({"path": name, "missing": True})
            return
        found, data, why = look(path, MAX_HASHED if self._hashed < MAX_HASHED_TOTAL else MAX_FILE)
        if found is None:
            return  # a folder or a pipe, or gone before we came
        entry: dict[str, Any] = {
            "path": name, "size": found.st_size, "mode": stat.S_IMODE(found.st_mode), "mtime_ns": found.st_mtime_ns,
        }  # fmt: skip
        self._files.append(entry)
        if found.st_ctime_ns >= self._began:
            entry["during"] = True
        if then != [found.st_size, found.st_ctime_ns]:
            why = "it was changed before it could be kept"
        if data is not None and why is None:
            self._hashed += len(data)
            why = self._keep(entry, data)
        if why is not None:
            entry["why"] = why

    def _keep(self, entry: dict[str, Any], data: bytes) -> str | None:
        """Keep what may be kept. Why not all of it was."""
        self._count += 1
        size = len(data)
        if not self._contents:
            entry["hash"] = hashed(self._digest, data)
            return UNKEPT
        if size > MAX_FILE or self._kept + size > MAX_TOTAL or self._count > MAX_FILES:
            entry["hash"] = hashed(self._digest, data)
            return f"it is larger than {MAX_FILE >> 10} KiB" if size > MAX_FILE else "so much was kept already"
        tally: collections.Counter[str] = collections.Counter()
        content = redacted(self._redactor, data, tally)
        self._kept += size
        entry["data"] = content
        if tally:
            entry["masked"] = tally.total()
            self._tally.update(tally)
        entry["hash"] = hashed(self._digest, _bytes(content))
        return None

    def draft(self) -> Draft | None:
        """The line for what was read since the last one; None where nothing was."""
        if not self._files:
            return None
        files, self._files = self._files, []
        tally, self._tally = self._tally, collections.Counter()
        event = events.Ambient(kind="files", size=len(files), redactions=tally.total(), redacted_kinds=dict(sorted(tally.items())))
        return Draft(event=event, contents={"content_uri": {"files": files}})


def look(path: str, most: int) -> tuple[os.stat_result | None, bytes | None, str | None]:
    """A regular file: what it is, its content where that is at most ``most`` bytes, and else why there is none. (None, None, None) where
    there is no regular file. Never waits, as for a pipe's other end."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        try:
            found = os.stat(path)
        except OSError:
            return None, None, None
        return (found, None, f"it cannot be read, {error.strerror}") if stat.S_ISREG(found.st_mode) else (None, None, None)
    found = os.fstat(fd)
    try:
        if not stat.S_ISREG(found.st_mode):
            return None, None, None
        if found.st_size > most:
            return found, None, f"it is larger than {most >> 10} KiB"
        parts, left = [], most + 1
        while left and (part := os.read(fd, left)):
            parts.append(part)
            left -= len(part)
        return (found, b"".join(parts), None) if left else (found, None, "it grew while it was read")
    except OSError as error:
        return found, None, f"it cannot be read, {error.strerror}"
    finally:
        os.close(fd)


def redacted(redactor: Redactor, data: bytes, tally: collections.Counter[str]) -> Any:
    """Text or bytes, without what is secret."""
    content = facts.text(data)
    return redactor.text(content, tally) if isinstance(content, str) else redactor.document(content, tally)


def hashed(digest: Digest, data: bytes) -> str:
    """Keyed, so that a guess cannot be confirmed."""
    return HASH_NAME + digest(b"file" + data).hex()


def _bytes(content: Any) -> bytes:
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else bytes(content)


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


# -- replay ------------------------------------------------------------------------------------------------------------


@dataclass
class Shown:
    """``files``: (copy, place) to be mounted over what is there; ``folders``: (upper, folder) whose missing files are added. ``changed``:
    ``{"path", "why", "shown"}``, with ``during`` of a file that the session itself may have made."""

    files: list[tuple[Path, Path]] = field(default_factory=list)
    folders: list[tuple[Path, Path]] = field(default_factory=list)
    changed: list[dict[str, Any]] = field(default_factory=list)

    def unshown(self, failed: Mapping[str, str]) -> list[dict[str, Any]]:
        """``changed``, when it is known which places could not be mounted over, and why."""
        out = []
        for each in self.changed:
            why = next((failed[place] for place in (each["path"], os.path.dirname(each["path"]), os.sep) if place in failed), None)
            out.append({**each, "shown": False, "why": f"{each['why']}, and {why}"} if each["shown"] and why is not None else each)
        return out


def plan(
    files: Iterable[Mapping[str, Any]], scratch: Path, *, redactor: Redactor, known: Known, digest: Digest | None, mount: guard.Mount,
    keep: Sequence[str], temporary: str, tmp: Path | None = None, live: bool = False,
) -> Shown:  # fmt: skip
    """Compare what was recorded with what is there, and lay out copies in ``scratch`` of what differs. ``digest``: None where hashes cannot be
    made anew. ``keep``: places that must not be mounted over. ``temporary``: where the session made its temporary files, which it makes anew; ``tmp``: what will be shown there, if anything.
    ``live``: nothing is shown, what differs is only named."""
    out = Shown()
    missing: dict[str, list[Mapping[str, Any]]] = {}
    for file in _first(files):
        path, why = str(file["path"]), _differs(file, redactor, known, digest)
        if why is None:
            continue
        during = bool(file.get("during"))
        if tmp is not None and not during and _below(path, (temporary,)) and _cannot(file, why, mount) is None and not live:
            _copy(tmp / os.path.relpath(path, temporary), file)
            out.changed.append(_changed(path, why, None))
            continue
        if _below(path, (temporary,)) and (tmp is not None or (during and why == GONE)):
            out.changed.append({"path": path, "why": why, "shown": False, "during": during})
            continue
        cannot = "files are read live" if live else _cannot(file, why, mount)
        if cannot is None and why == GONE:
            missing.setdefault(os.path.dirname(path), []).append(file)
            continue
        if cannot is None:
            out.files.append((_copy(scratch / "files" / str(len(out.files)), file), Path(path)))
        out.changed.append(_changed(path, why, cannot))
    for folder, entries in sorted(missing.items()):
        cannot = _cannot_add(folder, mount, keep, len(out.folders))
        place = scratch / "added" / str(len(out.folders))
        for file in entries:
            if cannot is None:
                _copy(place / "upper" / os.path.basename(file["path"]), file)
            out.changed.append(_changed(str(file["path"]), GONE, cannot))
        if cannot is None:
            out.folders.append((place, Path(folder)))
    return out


def _changed(path: str, why: str, cannot: str | None) -> dict[str, Any]:
    return {"path": path, "why": why if cannot is None else f"{why}, and {cannot}", "shown": cannot is None}


def _first(files: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Every path once, as it was read first. One whose name is masked says nothing here."""
    seen = set()
    for file in files:
        path = file.get("path")
        if isinstance(path, str) and os.path.isabs(path) and "[REDACTED:" not in path and path not in seen:
            seen.add(path)
            yield file


def _differs(file: Mapping[str, Any], redactor: Redactor, known: Known, digest: Digest | None) -> str | None:
    """Why the file is not what it was; None where it is, or where nobody can tell."""
    path = str(file["path"])
    if file.get("missing"):
        return NEW if os.path.lexists(path) else None
    recorded, size = file.get("data"), file.get("size")
    found, data, why = look(path, MAX_FILE if recorded is not None else MAX_HASHED)
    if found is None:
        return GONE if not os.path.exists(path) else "it is no file any more"
    if recorded is None and "hash" not in file:
        return CHANGED if found.st_size != size else None
    if data is None:
        return CHANGED if found.st_size != size else why
    if recorded is None:
        return CHANGED if digest is not None and hashed(digest, data) != file["hash"] else None
    if file.get("masked"):
        if digest is None:
            return None
        known.look(None, data)  # the recorded secrets in it, so that they are masked as they were
        now = redacted(redactor, data, collections.Counter())
        same = neutral(now) == neutral(recorded) if isinstance(now, str) and isinstance(recorded, str) else now == recorded
        return None if same else CHANGED
    return None if data == _bytes(recorded) else CHANGED


def _cannot(file: Mapping[str, Any], why: str, mount: guard.Mount) -> str | None:
    """Why it cannot be shown as it was; None where it can, as far as the file itself goes."""
    if file.get("missing"):
        return "that cannot be shown"
    if file.get("data") is None:
        return f"it was not kept ({file.get('why', 'it is too large')})"
    if file.get("masked"):
        return "a secret in it was masked, so it cannot be shown as it was"
    if mount == "none":
        return "nothing can be mounted over it on this system"
    if why not in (CHANGED, GONE) and not os.path.isfile(str(file["path"])):
        return "nothing can be mounted over it"
    return None


def _cannot_add(folder: str, mount: guard.Mount, keep: Sequence[str], others: int) -> str | None:
    """Why a folder cannot be shown with more files in it."""
    if mount != "overlay":
        return "its folder cannot be shown with it on this system"
    real = os.path.realpath(folder)
    if not os.path.isdir(folder):
        return "neither is its folder"
    if (
        real != folder
        or real == os.sep
        or any(_below(os.path.realpath(path), (real,)) or _below(real, (os.path.realpath(path),)) for path in keep)
    ):
        return "its folder is one that must stay as it is"
    if others >= MAX_FOLDERS:
        return "so are many others"
    if guard.mounts_below(real):
        return "other file systems are mounted below its folder"
    return None


def _copy(place: Path, file: Mapping[str, Any]) -> Path:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.write_bytes(_bytes(file["data"]))
    place.chmod(stat.S_IMODE(int(file.get("mode", 0o644))) & 0o777 | 0o400)
    moment = int(file.get("mtime_ns", 0))
    os.utime(place, ns=(moment, moment))
    return place


def must_stay(*more: str) -> list[str]:
    """Places that no mount may hide: the interpreter's, what we run from, and ``more``."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return [*more, sys.prefix, sys.base_prefix, sys.executable, ours, "/dev", "/proc", "/sys"]

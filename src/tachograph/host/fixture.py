"""A recording that stands by itself, in a folder that goes into a repository beside the code (``tacho fixture``, ``@pytest.mark.tacho``).

    fixture.json        what it is, where it comes from, its key
    session/            the session's own files, byte for byte as they were recorded
    workspace.zst       committed files that the session started from (redacted), where it did in a repository

Byte for byte, so that the chain and the original seal still hold and are checked at each use. The content is encrypted with the session's data key, which is in
``fixture.json``: the fixture is as readable as the repository that it lies in, and what was masked stays masked. The store's own keys are not in
it: with its data key nothing else opens, and without the key of fingerprints nobody can try out what was masked (``byplace``).
"""

from __future__ import annotations

import base64
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import zstandard

import tachograph
from tachograph.core.errors import FormatError, NotFoundError, ReplayError, StoreError, TamperedError
from tachograph.crypto import boxes, note
from tachograph.crypto.keys import KeyFile
from tachograph.format import layout
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, segments
from tachograph.log.verify import Anchor, Verification, verify
from tachograph.redact.engine import Redactor
from tachograph.redact.policy import Policy
from tachograph.replay import tape
from tachograph.stores.local import LocalStore

from . import commits, facts, patterns, replay
from .audit import Audit, Missed
from .elsewhere import Here
from .versions import Moved
from .workspace import MAX_FILE

ABOUT, WORKSPACE, SESSION = "fixture.json", "workspace.zst", "session"
#: Bytes of committed files that are put in, the smallest first; the others are taken as they are where the fixture is used.
MOST = 4 << 20
_LIMIT = 64 << 20


class FixtureStore(LocalStore):
    """The store that holds one session. Nothing is ever written."""

    def __init__(self, folder: str, session_id: str) -> None:
        super().__init__(folder)
        self._prefix = layout.session(session_id)

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        return super().read(self._there(name), limit=limit)

    def exists(self, name: str) -> bool:
        return super().exists(self._there(name))

    def names(self, prefix: str) -> Iterator[str]:
        if prefix.startswith(self._prefix):
            for name in super().names(f"{SESSION}/{prefix.removeprefix(self._prefix)}"):
                yield self._prefix + name.removeprefix(f"{SESSION}/")

    def _there(self, name: str) -> str:
        return f"{SESSION}/{name.removeprefix(self._prefix)}" if name.startswith(self._prefix) else name


class Fixture:
    """An existing fixture. Raises ``NotFoundError`` and ``FormatError``."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.abspath(folder)
        self.about = _about(self.folder)
        try:
            self.session_id = str(self.about["session_id"])
            self._data_key = base64.b64decode(self.about["key"], validate=True)
            self._public = frozenset(note.public_of(str(one)) for one in self.about["provenance"]["verifiers"])
            self._anchor = Anchor(int(self.about["provenance"]["size"]), str(self.about["provenance"]["root"]), ABOUT)
            if len(self._data_key) != boxes.KEY or not self._public or not re.fullmatch(r"ses_[0-9A-HJKMNP-TV-Z]{26}", self.session_id):
                raise ValueError
        except (KeyError, TypeError, ValueError):
            raise FormatError(f"not as tacho fixture writes it, {self.folder}/{ABOUT}; restore it from version control") from None
        key = KeyFile(None, None, next(iter(self._public)))
        self.opened = OpenStore(
            FixtureStore(self.folder, self.session_id), "fixture", key, self._derived(b"content"), self._derived(b"fingerprints"), None,
            self._public, self._public, _held={self.session_id: self._data_key},
        )  # fmt: skip

    def _derived(self, what: bytes) -> bytes:
        return boxes.derive(self._data_key, b"tachograph/v1 fixture " + what)

    def verify(self) -> Verification:
        """Whether it is what was recorded: chain, seals by the recorded keys, length and root as noted when the fixture was written."""
        return verify(self.opened.store, self.session_id, public=self._public, data_key=self._data_key, anchors=[self._anchor])

    def recording(self) -> Recording:
        """Raises ``TamperedError`` for one that does not verify."""
        found = self.verify()
        if not found.good:
            first = found.problems[0]["what"] if found.problems else found.verdict
            raise TamperedError(f"the fixture is not what was recorded, {self.folder}: {first}; restore it from version control")
        return Recording(self.opened, self.session_id)

    def here(self, base: dict[str, Any] | None) -> Here:
        """What stands here for the recorded places."""
        places = [(str(one["recorded"]), self._live(str(one["inside"]))) for one in self.about.get("places", ())]
        moved = tuple(Moved(there, here) for there, here in places if here is not None)
        root = next((one.here for one in moved if base is not None and one.there == base["root"]), None)
        return Here(root=root, moved=moved, base=self._base(base) if base is not None else None)

    def _live(self, inside: str) -> str | None:
        """The folder in which this fixture lies as ``inside`` says; else, since it may have been moved, the repository's."""
        if self.folder.endswith(os.sep + inside):
            return self.folder.removesuffix(os.sep + inside) or os.sep
        return commits.top(self.folder)

    def _base(self, base: dict[str, Any]) -> dict[str, Any]:
        try:
            with open(os.path.join(self.folder, WORKSPACE), "rb") as file:
                held = json.loads(zstandard.ZstdDecompressor().decompress(file.read(), max_output_size=_LIMIT))
        except FileNotFoundError:
            return base
        except (OSError, ValueError, zstandard.ZstdError) as error:
            raise FormatError(f"cannot be read ({error}), {self.folder}/{WORKSPACE}; restore it from version control") from None
        files = {name: {**one, "data": base64.b64decode(one["base64"])} if "base64" in one else one for name, one in held["files"].items()}
        return {**base, "sha": None, "files": {**files, **base.get("files", {})}, "as_now": held["as_now"]}

    def plan(self, command: Sequence[str] = (), **more: Any) -> replay.Plan:
        """The replay of it. ``command``: another than the recorded one."""
        return replay.Plan(recording=self.recording(), verified=True, command=list(command), elsewhere=self, **more)


# -- writing -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Written:
    """``bytes``: of the folder; ``as_now``: committed files that were not put in; ``test``: the file with the test, if one was written."""

    folder: str
    session_id: str
    bytes: int
    as_now: int
    test: str | None

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def missed(opened: OpenStore, session_id: str, policy: Policy) -> list[Missed]:
    """What the rules of today mask and the recording holds as it is."""
    return list(Audit(opened, policy).session(session_id))


def write(recording: Recording, folder: str, *, at: str, policy: Policy, test: bool = True, repository: str | None = None) -> Written:
    """Write a fixture of a recording that was verified, into a new folder. ``at``: now, as a line says it; ``policy``: for committed files. Raises
    before anything is written."""
    folder = os.path.abspath(folder)
    opened, session_id = recording.opened, recording.session_id
    data_key = opened.data_key(session_id)
    checked = verify(opened.store, session_id, public=opened.trusted, data_key=data_key)
    if checked.verdict != "verified":
        raise TamperedError(
            f"the record of {session_id} is {checked.verdict}, and a fixture is a sealed one; tacho verify {session_id} tells all"
        )
    read = tape.load(recording)
    code = replay.code_of([str(part) for part in read.facts.get("argv", [])], read)
    places = _places(folder, read, code)
    held = _committed(
        recording, read, code, policy, repository, own=not any(one["recorded"] == (read.workspace or {}).get("root") for one in places)
    )
    about = {
        "v": 1, "format": "tachograph-fixture", "session_id": session_id, "written": at, "writer": f"tachograph {tachograph.__version__}",
        "provenance": {
            "store": opened.id, "size": checked.events, "root": checked.root,
            "verifiers": sorted(note.verifier("tachograph", public) for public in opened.trusted),
        },
        "places": places, "key": base64.b64encode(data_key).decode(),
    }  # fmt: skip
    for number in segments(opened.store, session_id):
        for name in (layout.events(session_id, number), layout.content(session_id, number), layout.seals(session_id, number)):
            data = opened.store.read(name) if opened.store.exists(name) else b""
            _put(os.path.join(folder, SESSION, os.path.basename(name)), data)
    if held is not None:
        _put(os.path.join(folder, WORKSPACE), zstandard.ZstdCompressor(level=15).compress(json.dumps(held, sort_keys=True).encode()))
    _put(os.path.join(folder, ".gitattributes"), b"session/* binary\nworkspace.zst binary\n")
    script = _put_test(folder, session_id, read, recording.entries[0].ts) if test else None
    _put(os.path.join(folder, ABOUT), json.dumps(about, indent=1).encode() + b"\n")  # last: a folder without it is none
    size = sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(folder) for name in names)
    return Written(folder=folder, session_id=session_id, bytes=size, as_now=len(held["as_now"]) if held else 0, test=script)


def _places(folder: str, read: tape.Tape, code: Sequence[str]) -> list[dict[str, str]]:
    """Recorded places in which the fixture lies: the workspace, and the repository of the agent's program."""
    found = [str(read.workspace["root"])] if read.workspace else []
    found += [top for path in code if os.path.isdir(os.path.dirname(path)) and (top := commits.top(os.path.dirname(path)))]
    out = []
    for place in dict.fromkeys(found):
        inside = os.path.relpath(os.path.realpath(folder), os.path.realpath(place))
        if inside != "." and inside != ".." and not inside.startswith("../"):
            out.append({"recorded": place, "inside": inside})
    return out


def _committed(
    recording: Recording, read: tape.Tape, code: Sequence[str], policy: Policy, repository: str | None, *, own: bool
) -> dict[str, Any] | None:
    """Files of the commit that the session started from, redacted. ``own``: with the agent's programs, since they are not where the fixture is."""
    base = read.workspace
    if not base or not base.get("sha"):
        return None
    sha, root = str(base["sha"]), str(base["root"])
    source = next((place for place in [repository or root, os.getcwd()] if os.path.isdir(place) and commits.has(place, sha)), None)
    if source is None:
        raise ReplayError(
            f"the committed files are in git, and {repository or root} does not have commit {sha[:12]}; name a clone that has it with --repo"
        )
    programs = set() if own else {os.path.relpath(path, root) for path in code}
    names = commits.names(source, sha) - set(base.get("deleted", [])) - base.get("files", {}).keys() - programs
    redactor = Redactor(policy, key=recording.opened.fingerprint_key, learns=True)
    patterns.load(redactor.index, patterns.folder(os.environ), recording.opened.fingerprint_key)
    files: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="tacho-fixture-") as scratch:
        commits.write_tree(source, sha, scratch, only=sorted(names))
        left, about = (
            MOST,
            {name: os.lstat(path) for name in names if os.path.lexists(path := os.path.join(scratch, name)) and not os.path.isdir(path)},
        )
        for name in sorted(about, key=lambda name: (about[name].st_size, name)):
            path, size = os.path.join(scratch, name), about[name].st_size
            if os.path.islink(path):
                files[name] = {"link": os.readlink(path)}
            elif size <= min(left, MAX_FILE):
                left -= size
                files[name] = {"mode": about[name].st_mode & 0o777, **_redacted(path, redactor)}
    return {"files": files, "as_now": sorted(names - files.keys())}


def _redacted(path: str, redactor: Redactor) -> dict[str, Any]:
    with open(path, "rb") as file:
        content = facts.text(file.read())
    if isinstance(content, str):
        return {"data": redactor.text(content, Counter())}
    return {"base64": base64.b64encode(bytes(redactor.document(content))).decode()}


def _put(path: str, data: bytes) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as file:
            file.write(data)
    except OSError as error:
        raise StoreError(f"cannot write {path}, {error.strerror}; name a new folder with -o") from None


_TEST = '''"""{title}

Recorded {ts} as {session_id}. Written by tacho fixture: it runs the agent again, offline, and fails where the agent no longer does what it did.
"""

from pathlib import Path

from tachograph.testing.fixture import replay


def test_{name}() -> None:
    replay(Path(__file__).parent).must_be_identical()
'''


def _put_test(folder: str, session_id: str, read: tape.Tape, recorded: str) -> str:
    name = re.sub(r"\W+", "_", os.path.basename(folder).lower()).strip("_") or "incident"
    called = (read.start.name or read.start.agent) if read.start is not None else None
    title = f"{called or 'An agent'}: {os.path.basename(folder)}".replace("\\", "/").replace('"', "'")
    when = re.sub(r"[^0-9TZ:.-]", "", recorded)
    path = os.path.join(folder, f"test_{name}.py")
    _put(path, _TEST.format(title=" ".join(title.split()), ts=when, session_id=session_id, name=name).encode("utf-8", "replace"))
    return path


def _about(folder: str) -> dict[str, Any]:
    path = os.path.join(folder, ABOUT)
    try:
        with open(path, "rb") as file:
            about = json.loads(file.read(1 << 20))
        if about["format"] != "tachograph-fixture":
            raise ValueError
        if about["v"] != 1:
            raise FormatError(f"a fixture of version {str(about['v'])[:20]}, {path}; update tachograph to read it")
    except FileNotFoundError:
        raise NotFoundError(f"no fixture in {folder}; write one with tacho fixture SES -o {folder}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = error.strerror if isinstance(error, OSError) else "not as tacho fixture writes it"
        raise FormatError(f"{what}, {path}; restore it from version control") from None
    assert isinstance(about, dict)
    return about

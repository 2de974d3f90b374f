"""A store that somebody sends may hold anything. Whatever it is: the verifier answers, readers answer or refuse in one line."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_helpers import SESSION, Clock, new_store, write_session

from tachograph.core.errors import TachographError
from tachograph.crypto import merkle, note
from tachograph.format import line
from tachograph.log import opening, recover
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.log.verify import SEVERITY, verify
from tachograph.stores.local import LocalStore

EVENTS, PACK, SEALS = "00000001.events.jsonl", "00000001.content.pack", "00000001.seals"

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([-1, 0, 1, 4, 40, 2**31, 2**63, 2**96, 10**30])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(
        ["content:", "content:" + "00" * 32, "content:xyz", "gap", "session_end", "torn_tail", EVENTS, PACK, SEALS, "../../x"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
FIELDS = (
    "v", "seq", "ts", "session_id", "type", "id", "lane", "redactions", "frames", "text_uri", "wire_uri", "detail_uri", "reason", "file",
    "offset", "length", "sha256", "hash", "extra", "type_name",
)  # fmt: skip
frames = st.lists(
    st.fixed_dictionaries({}, optional=dict.fromkeys(("n", "at", "len", "sha256", "salt"), json_values)) | json_values, max_size=3
)
changes = st.lists(st.tuples(st.integers(0, 7), st.sampled_from(FIELDS), json_values | frames | st.just(...)), min_size=1, max_size=3)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> OpenStore:
    opened = new_store(tmp_path_factory.mktemp("hostile") / "store")
    write_session(opened)
    return opened


@pytest.fixture
def copy(sealed: OpenStore, tmp_path: Path) -> Callable[[], tuple[OpenStore, Path]]:
    def make() -> tuple[OpenStore, Path]:
        target = tmp_path / "copy"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(sealed.store.url, target)
        opened = OpenStore(LocalStore(str(target)), sealed.id, sealed.key, sealed.content_key, sealed.fingerprint_key)
        return opened, target / "sessions" / SESSION

    return make


def answers(opened: OpenStore, data_key: bytes | None) -> None:
    public = opened.key.public()
    for key in (data_key, None):
        result = verify(opened.store, SESSION, public=public, data_key=key)
        assert result.verdict in SEVERITY
        assert result.verdict == "verified" or result.problems
        assert json.loads(json.dumps(result.to_json()))["verdict"] == result.verdict
        assert result.sealed <= result.events
        assert all(f"{problem['what']}{problem['file']}".isprintable() for problem in result.problems), "they are shown on a terminal"
    quietly(lambda: list(Recording(opened, SESSION).expanded()))
    quietly(lambda: list(Recording(opened, SESSION, strict=False).expanded()))
    good = verify(opened.store, SESSION, public=public, data_key=data_key).verdict != "tampered"
    if quietly(lambda: continue_(opened)) and good:
        assert verify(opened.store, SESSION, public=public, data_key=data_key).verdict != "tampered", "a good log was made a bad one"


def continue_(opened: OpenStore) -> None:
    writer = recover.resume(opened, SESSION, clock=Clock(), entropy=lambda size: b"r" * size, reason="host_lost")
    writer.seal()
    writer.close()


def quietly(act: Callable[[], object]) -> bool:
    """Whether it went well; any error but ours is a failure."""
    try:
        act()
    except TachographError as error:
        if not str(error).isprintable():
            pytest.fail(f"not for a terminal, or more than a line: {error!r}")
        return False
    return True


def forge(folder: Path, wanted: list[tuple[int, str, Any]], opened: OpenStore, *, seal: bool) -> None:
    lines = [json.loads(raw) for raw in (folder / EVENTS).read_bytes().splitlines()]
    for number, name, value in wanted:
        if value is ...:
            lines[number].pop(name, None)
        else:
            lines[number][name] = value
    previous, tree, out = line.genesis(SESSION), merkle.Frontier(), []
    for fields in lines:
        body = {key: value for key, value in fields.items() if key != "hash" or len(str(value)) != 64}
        raw, previous = line.make(previous, body)
        tree.add(merkle.leaf(raw))
        out.append(raw)
    (folder / EVENTS).write_bytes(b"".join(out))
    if seal:
        point = note.Checkpoint(note.origin(SESSION), tree.size, tree.root())
        (folder / SEALS).write_bytes(note.sign(point, "tachograph/" + opened.key.id, opened.key.signer()).encode() + b"\n")


@given(wanted=changes, seal=st.booleans())
@settings(max_examples=150)
def test_forged_lines(copy: Callable[[], tuple[OpenStore, Path]], wanted: list[tuple[int, str, Any]], seal: bool) -> None:
    opened, folder = copy()
    data_key = opened.data_key(SESSION)
    forge(folder, wanted, opened, seal=seal)
    answers(opened, data_key)


@given(
    which=st.sampled_from([EVENTS, PACK, SEALS]), place=st.floats(0, 1), length=st.integers(0, 200),
    new=st.binary(max_size=60) | st.sampled_from([b"\n", b"\n\n", b"\n\n\n\n", b"TACHOPK1", b"\xff\xff\xff\xff", "—".encode()]),
)  # fmt: skip
@settings(max_examples=150)
def test_other_bytes_anywhere(copy: Callable[[], tuple[OpenStore, Path]], which: str, place: float, length: int, new: bytes) -> None:
    opened, folder = copy()
    data = (folder / which).read_bytes()
    at = int(place * len(data))
    (folder / which).write_bytes(data[:at] + new + data[at + length :])
    answers(opened, opened.data_key(SESSION))


@pytest.mark.parametrize("which", [EVENTS, PACK, SEALS])
@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "endless", "empty"])
def test_something_else_in_a_files_place(copy: Callable[[], tuple[OpenStore, Path]], which: str, kind: str) -> None:
    opened, folder = copy()
    (folder / which).unlink()
    if kind == "folder":
        (folder / which).mkdir()
    elif kind == "pipe":
        os.mkfifo(folder / which)
    elif kind == "endless":
        (folder / which).symlink_to("/dev/zero")
    elif kind == "empty":
        (folder / which).write_bytes(b"")
    result = verify(opened.store, SESSION, public=opened.key.public(), data_key=opened.data_key(SESSION))
    assert not result.good
    answers(opened, opened.data_key(SESSION))


@pytest.mark.parametrize(
    "names",
    [["00000000.events.jsonl"], ["00000003.seals"], ["99999999.events.jsonl"], ["٠٠٠٠٠٠٠١.seals"], ["x\udcff"], ["\x1b[31mred"], ["a/b"]],
)
def test_strange_names(copy: Callable[[], tuple[OpenStore, Path]], names: list[str]) -> None:
    opened, folder = copy()
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"")
    result = verify(opened.store, SESSION, public=opened.key.public())
    assert result.verdict == "tampered"
    assert {problem["check"] for problem in result.problems} >= {"segments"}
    answers(opened, opened.data_key(SESSION))


@given(which=st.sampled_from(["store.json", "keys/store.json", f"keys/{SESSION}.json"]), value=json_values, field=st.sampled_from(
    ["v", "format", "id", "verifier", "wraps", "session_id"]) | st.none())  # fmt: skip
def test_forged_key_files(copy: Callable[[], tuple[OpenStore, Path]], which: str, value: Any, field: str | None) -> None:
    opened, folder = copy()
    file = folder.parent.parent / which
    fields = json.loads(file.read_bytes())
    file.write_text(json.dumps({**fields, field: value} if field is not None else value))
    quietly(lambda: opening.open_store(opened.store, opened.key))
    quietly(lambda: opened.data_key(SESSION))
    quietly(lambda: list(Recording(opened, SESSION).expanded()))

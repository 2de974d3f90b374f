"""Flip, delete, swap or cut anything: the verifier says so, and names the place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_helpers import SESSION, check, draft, new_store, new_writer, write_session

from tachograph.core.errors import TachographError
from tachograph.crypto import keys
from tachograph.log.reader import Recording
from tachograph.log.verify import verify

FILES = ("00000001.events.jsonl", "00000001.content.pack", "00000001.seals")


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("sealed") / "store"
    opened = new_store(folder)
    write_session(opened)
    return opened, folder / "sessions" / SESSION


def with_file(sealed: Any, tmp_path: Path, name: str, data: bytes) -> Any:
    """The same store with one file changed."""
    opened, folder = sealed
    target = tmp_path / "changed"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder.parent.parent, target)
    (target / "sessions" / SESSION / name).write_bytes(data)
    from tachograph.log import opening
    from tachograph.stores.local import LocalStore

    return check(opening.open_store(LocalStore(str(target)), opened.key))


def test_a_whole_record_is_verified(sealed: Any) -> None:
    result = check(sealed[0])
    assert (result.verdict, result.problems, result.content) == ("verified", [], "opened")
    assert result.sealed == result.events == 8


@given(place=st.integers(0, 10**6), flip=st.integers(1, 255), which=st.sampled_from(FILES))
def test_any_flipped_byte_is_found_and_its_place_named(sealed: Any, tmp_path: Path, place: int, flip: int, which: str) -> None:
    data = (sealed[1] / which).read_bytes()
    at = place % len(data)
    result = with_file(sealed, tmp_path, which, data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])
    assert result.verdict != "verified"
    assert not result.good
    assert all(problem["what"] and problem["file"] for problem in result.problems)
    if which == "00000001.events.jsonl":
        start = data.rfind(b"\n", 0, at) + 1
        assert result.problems[0]["file"] == which
        assert result.problems[0]["offset"] == start


@given(place=st.integers(0, 10**6), which=st.sampled_from(FILES))
def test_any_cut_is_found(sealed: Any, tmp_path: Path, place: int, which: str) -> None:
    data = (sealed[1] / which).read_bytes()
    result = with_file(sealed, tmp_path, which, data[: place % len(data)])
    assert not result.good
    assert result.problems


@given(st.data())
def test_a_deleted_doubled_or_swapped_line_is_found(sealed: Any, tmp_path: Path, data: st.DataObject) -> None:
    lines = (sealed[1] / FILES[0]).read_bytes().splitlines(keepends=True)
    one, other = data.draw(st.integers(0, len(lines) - 1)), data.draw(st.integers(0, len(lines) - 1))
    what = data.draw(st.sampled_from(["delete", "double", "swap"]))
    changed = list(lines)
    if what == "delete":
        del changed[one]
    elif what == "double":
        changed.insert(one, lines[one])
    else:
        changed[one], changed[other] = changed[other], changed[one]
    if changed == lines:
        return
    result = with_file(sealed, tmp_path, FILES[0], b"".join(changed))
    assert not result.good
    assert result.problems[0]["file"] == FILES[0]


def frames(data: bytes) -> list[bytes]:
    out, at = [data[:40]], 40
    while at < len(data):
        length = 4 + int.from_bytes(data[at : at + 4], "big")
        out.append(data[at : at + length])
        at += length
    return out


@given(st.data())
def test_a_deleted_doubled_or_swapped_frame_is_found(sealed: Any, tmp_path: Path, data: st.DataObject) -> None:
    parts = frames((sealed[1] / FILES[1]).read_bytes())
    one, other = data.draw(st.integers(1, len(parts) - 1)), data.draw(st.integers(1, len(parts) - 1))
    what = data.draw(st.sampled_from(["delete", "double", "swap"]))
    changed = list(parts)
    if what == "delete":
        del changed[one]
    elif what == "double":
        changed.insert(one, parts[one])
    else:
        changed[one], changed[other] = changed[other], changed[one]
    if changed == parts:
        return
    result = with_file(sealed, tmp_path, FILES[1], b"".join(changed))
    assert not result.good
    assert result.problems[0]["file"] == FILES[1]


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_found(sealed: Any, tmp_path: Path, name: str) -> None:
    opened, folder = sealed
    target = tmp_path / "store"
    shutil.copytree(folder.parent.parent, target)
    (target / "sessions" / SESSION / name).unlink()
    from tachograph.stores.local import LocalStore

    result = verify(LocalStore(str(target)), SESSION, public=opened.key.public(), data_key=opened.data_key(SESSION))
    assert not result.good
    assert any(problem["file"] == name for problem in result.problems)


def test_another_key_does_not_verify_the_seals(sealed: Any) -> None:
    opened = sealed[0]
    stranger = keys.generate(lambda size: b"z" * size)
    result = verify(opened.store, SESSION, public=stranger.public())
    assert result.verdict == "tampered"
    assert result.problems[0]["check"] == "seal"


def test_a_forged_log_that_chains_is_found_by_its_seal(sealed: Any, tmp_path: Path) -> None:
    """The attacker can recompute every hash, but not sign."""
    from tachograph.format import line

    previous = line.genesis(SESSION)
    forged = []
    import json

    for raw in (sealed[1] / FILES[0]).read_bytes().splitlines():
        fields = json.loads(raw)
        del fields["hash"]
        if fields["seq"] == 3:
            fields["subtype"] = "forged"
        data, previous = line.make(previous, fields)
        forged.append(data)
    result = with_file(sealed, tmp_path, FILES[0], b"".join(forged))
    assert result.verdict == "tampered"
    assert {problem["check"] for problem in result.problems} == {"seal"}


def test_lines_after_the_last_seal_are_counted_and_a_session_without_end_is_not_good(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    write_session(opened, end=False)
    result = check(opened)
    assert (result.verdict, result.good) == ("unsealed", False)
    assert result.events - result.sealed == 2


def test_no_session_is_missing_and_no_line_is_not_verified(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    assert verify(opened.store, SESSION, public=opened.key.public()).verdict == "missing"
    new_writer(opened).close()
    result = check(opened)
    assert (result.verdict, result.good) == ("unsealed", False)


def test_the_reader_never_reads_past_a_break(sealed: Any, tmp_path: Path) -> None:
    opened, folder = sealed
    target = tmp_path / "store"
    shutil.copytree(folder.parent.parent, target)
    file = target / "sessions" / SESSION / FILES[0]
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], lines[2].replace(b"note", b"nope"), *lines[3:]]))
    from tachograph.log import opening
    from tachograph.stores.local import LocalStore

    with pytest.raises(TachographError, match="tacho verify"):
        Recording(opening.open_store(LocalStore(str(target)), opened.key), SESSION)


def test_draft_helper_makes_distinct_contents() -> None:
    assert draft(1).contents != draft(2).contents

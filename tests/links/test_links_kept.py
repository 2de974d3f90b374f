"""What ``tacho blame`` keeps of a session: the same answer from it, nothing in clear, and only as long as it is true."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from git_helpers import Agent, Repository

from cli_helpers import Tacho
from tachograph.links import kept
from tachograph.links.anchors import Write, Written
from tachograph.links.kept import Head, Sketch

CODE = "def area_of(width, height):\n    return width * height  # of a rectangle\n\n\ndef sum_of(widths):\n    return sum(widths)  # of them all\n"
SESSION = "ses_01J00000000000000000000000"
KEY = bytes(range(32))


def sketch() -> Sketch:
    write = Write(SESSION, "said", 3, "2026-01-05T10:00:00.000Z", "area.py", CODE, True)
    written = Written(
        SESSION, "2026-01-05T09:00:00.000Z", [write, Write(SESSION, "call", 4, "t", None, "…", False)], {"lay_there_before=1"}
    )
    head = Head("commit", "a" * 40, "made", {"tree": "b" * 40, "patch_id": "c" * 40})
    return Sketch("git@github.com:acme/shop.git", None, (head,), written)


def test_what_is_kept_is_what_there_was() -> None:
    one = sketch()
    part = kept.seal(one, SESSION, KEY, (7, "ab"))
    other = kept.unseal(part, SESSION, KEY, (7, "ab"))
    assert other is not None
    assert (other.repo_url, other.repo_sha, other.heads) == (one.repo_url, one.repo_sha, one.heads)
    assert [write.tokens for write in other.written.writes] == [write.tokens for write in one.written.writes]
    told = [(write.session_id, write.kind, write.seq, write.ts, write.path, write.tool) for write in other.written.writes]
    assert told == [(write.session_id, write.kind, write.seq, write.ts, write.path, write.tool) for write in one.written.writes]
    assert (other.written.began, other.written.base) == (one.written.began, one.written.base)


def test_it_is_of_one_state_of_one_session_under_its_key() -> None:
    part = kept.seal(sketch(), SESSION, KEY, (7, "ab"))
    other = SESSION[:-1] + "1"
    assert kept.unseal(part, SESSION, KEY, (8, "ab")) is None
    assert kept.unseal(part, SESSION, KEY, (7, "cd")) is None
    assert kept.unseal(part, SESSION, bytes(32), (7, "ab")) is None
    assert kept.unseal(part, other, KEY, (7, "ab")) is None
    for at in (40, len(part) - 1):
        assert kept.unseal(part[:at] + bytes([part[at] ^ 1]) + part[at + 1 :], SESSION, KEY, (7, "ab")) is None
    assert kept.unseal(part[:20], SESSION, KEY, (7, "ab")) is None


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


@pytest.fixture
def repository(tmp_path: Path, tacho: Tacho) -> Repository:
    """In it a session wrote a file that a person committed."""
    found = Repository(tmp_path / "shop")
    found.commit("first", README_md="A shop.\n")
    with Agent(tacho, found, tmp_path) as agent:
        agent("write", "area.py", CODE)
    found.commit("by hand")
    return found


def blamed(tacho: Tacho, repository: Repository) -> list[tuple[str, str | None, str | None]]:
    done = tacho("blame", "area.py", "--json", cwd=repository.folder)
    assert done.returncode in (0, 1), done.stderr
    return [(row["who"], row["session_id"], row["confidence"]) for row in done.json()]


def test_the_next_blame_reads_no_contents_and_says_the_same(tacho: Tacho, repository: Repository) -> None:
    folder = tacho.store / "catalogue/blame"
    first = blamed(tacho, repository)
    assert {who for who, _, _ in first} == {"session"}
    (file,) = folder.iterdir()
    data = file.read_bytes()
    for clear in (b"area", b"width", b"acme", b"README"):
        assert clear not in data
    assert blamed(tacho, repository) == first
    assert [each.name for each in folder.iterdir()] == [file.name]
    (pack,) = (tacho.store / "sessions").glob("*/*.content.pack")
    pack.unlink()
    assert blamed(tacho, repository) == first
    shutil.rmtree(folder)
    assert {who for who, _, _ in blamed(tacho, repository)} == {"unknown"}


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0\xff", b"\xff" * 100, b"\0\0\0\x40" + b"x" * 64])
def test_a_file_of_nonsense_is_as_if_it_were_not_there(tacho: Tacho, repository: Repository, data: bytes) -> None:
    first = blamed(tacho, repository)
    (file,) = (tacho.store / "catalogue/blame").iterdir()
    file.write_bytes(data)
    assert blamed(tacho, repository) == first


def test_many_files_become_one_without_what_is_gone(tmp_path: Path) -> None:
    from tachograph.stores.local import LocalStore

    store = LocalStore(str(tmp_path))
    names = [SESSION[:-2] + f"{number:02d}" for number in range(kept._MANY + 1)]
    for name in names:
        kept.Shelf(store).add([kept.seal(sketch(), name, KEY, (7, "ab"))], names[1:])
    assert len(list(store.names(kept.FOLDER))) == 1
    assert sorted(kept.Shelf(store).parts) == names[1:]


def test_a_session_that_was_shredded_is_shredded_here_too(tacho: Tacho, repository: Repository) -> None:
    blamed(tacho, repository)
    (folder,) = (tacho.store / "sessions").iterdir()
    done = tacho("shred", folder.name, "--reason", "asked for", "--yes")
    assert done.returncode == 0, done.stderr
    assert {who for who, _, _ in blamed(tacho, repository)} == {"unknown"}

"""Continuing a log: a second crash over it, a writer that was not dead yet, and logs that are not to be continued."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest
from log_helpers import SESSION, Clock, Entropy, check, draft, new_store, new_writer, write_session

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import ConflictError, KeyUnavailableError, NotFoundError, TamperedError
from tachograph.log import opening, recover
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.log.writer import SessionWriter
from tachograph.stores.local import LocalLock, LocalStore

FOLDER = Path("sessions") / SESSION
_process = itertools.count()


def resume(opened: OpenStore) -> SessionWriter:
    """As a new process: its entropy is its own."""
    number = next(_process).to_bytes(4, "big")
    entropy = Entropy()
    return recover.resume(opened, SESSION, clock=Clock(), entropy=lambda size: (number + entropy(size))[-size:], reason="host_lost")


def finish(opened: OpenStore) -> None:
    writer = resume(opened)
    writer.append(draft(99))
    writer.append(Draft(event=events.SessionEnd(status="lost")))
    writer.seal()
    writer.close()


def copy(original: OpenStore, target: Path) -> OpenStore:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(original.store.url, target)
    return opening.open_store(LocalStore(str(target)), original.key)


@pytest.fixture
def dead(tmp_path: Path) -> OpenStore:
    """Killed with lines after its last seal, and in the middle of the next line."""
    opened = new_store(tmp_path / "store")
    write_session(opened, lines=3, end=False)
    for name, data in (("00000001.events.jsonl", b'{"v":1,"seq":5'), ("00000001.content.pack", b"\0\0\1\0half")):
        file = tmp_path / "store" / FOLDER / name
        file.write_bytes(file.read_bytes() + data)
    return opened


@pytest.mark.parametrize("kind", ["events.jsonl", "content.pack", "seals"])
def test_a_crash_over_the_declarations_at_each_byte(dead: OpenStore, tmp_path: Path, kind: str) -> None:
    """The second writer gets as far as any byte of any file of its segment, and the third declares what both left."""
    second = resume(dead)
    second.append(draft(7))
    second.seal()
    second.close()
    # Written in this order: content, lines, seals.
    order = ["content.pack", "events.jsonl", "seals"]
    whole = (tmp_path / "store" / FOLDER / f"00000002.{kind}").read_bytes()
    for cut in range(0, len(whole), 1 if kind == "seals" else 5):
        opened = copy(dead, tmp_path / "cut")
        folder = tmp_path / "cut" / FOLDER
        (folder / f"00000002.{kind}").write_bytes(whole[:cut])
        for later in order[order.index(kind) + 1 :]:
            (folder / f"00000002.{later}").write_bytes(b"")
        before = check(opened)
        assert before.verdict in ("torn", "unsealed"), (cut, before.to_json())
        finish(opened)
        result = check(opened)
        assert (result.verdict, result.good, result.ended) == ("torn", True, True), (cut, result.to_json())


@pytest.mark.parametrize("made", [["events.jsonl"], ["events.jsonl", "seals"], ["events.jsonl", "seals", "content.pack"]])
def test_a_crash_while_a_segment_is_made(dead: OpenStore, tmp_path: Path, made: list[str]) -> None:
    for kind in made:
        (tmp_path / "store" / FOLDER / f"00000002.{kind}").write_bytes(b"")
    before = check(dead)
    assert (before.verdict, before.good) == ("torn", False)
    finish(dead)
    result = check(dead)
    assert (result.verdict, result.good) == ("torn", True), result.to_json()


@pytest.mark.parametrize("size", [0, 1, 8, 20, 39, 40])
def test_a_crash_before_the_first_line(tmp_path: Path, size: int) -> None:
    opened = new_store(tmp_path / "store")
    writer = new_writer(opened)
    writer.append(draft(1))
    writer.flush()
    writer.close()
    folder = tmp_path / "store" / FOLDER
    (folder / "00000001.content.pack").write_bytes((folder / "00000001.content.pack").read_bytes()[:size])
    (folder / "00000001.events.jsonl").write_bytes(b"")
    finish(opened)
    result = check(opened)
    assert result.good, result.to_json()
    assert result.verdict == ("verified" if size in (0, 40) else "torn")


def test_a_seal_that_was_cut_at_any_byte_is_declared(tmp_path: Path) -> None:
    """Also within its dash, which is three bytes long."""
    original = new_store(tmp_path / "store")
    write_session(original, lines=2)
    whole = (tmp_path / "store" / FOLDER / "00000001.seals").read_bytes()
    second = whole.index(b"\n\n", whole.index(b"\n\n") + 2) + 2
    for cut in range(second, len(whole)):
        opened = copy(original, tmp_path / "cut")
        (tmp_path / "cut" / FOLDER / "00000001.seals").write_bytes(whole[:cut])
        assert not check(opened).good
        finish(opened)
        result = check(opened)
        assert result.good, (cut, result.to_json())
        assert result.verdict == ("verified" if cut == second else "torn")


def test_the_old_writers_last_words_are_read(tmp_path: Path) -> None:
    """It commits once more and ends between the moment when somebody looks and the moment when the lock is free."""
    opened = new_store(tmp_path / "store")
    old = new_writer(opened)
    old.append(draft(1))
    old.commit()

    class Late(LocalStore):
        def lock(self, name: str) -> LocalLock:
            old.append(draft(2))
            old.append(draft(3))
            old.seal()
            old.close()
            return super().lock(name)

    late = OpenStore(Late(opened.store.url), opened.id, opened.key, opened.content_key, opened.fingerprint_key)
    finish(late)
    result = check(opened)
    assert (result.verdict, result.events, result.problems) == ("verified", 6, [])


def test_a_living_writer_is_left_alone(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    writer = new_writer(opened)
    writer.append(draft(1))
    writer.commit()
    with pytest.raises(ConflictError, match="another writer"):
        resume(opened)
    writer.append(draft(2))
    writer.seal()
    writer.close()
    assert check(opened).verdict == "verified"


def test_to_ask_for_what_is_not_there_makes_nothing(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    with pytest.raises(NotFoundError):
        resume(opened)
    assert not (tmp_path / "store/sessions").exists()


def test_who_cannot_continue_gives_the_lock_back(dead: OpenStore, tmp_path: Path) -> None:
    keys = tmp_path / "store/keys" / f"{SESSION}.json"
    kept = keys.read_bytes()
    keys.write_bytes(b'{"v":1,"wraps":[]}')
    with pytest.raises(KeyUnavailableError):
        resume(dead)
    keys.write_bytes(kept)
    finish(dead)
    assert check(dead).good


def test_content_that_lines_refer_to_and_that_is_gone(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    write_session(opened, end=False)
    file = tmp_path / "store" / FOLDER / "00000001.content.pack"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(TamperedError, match="content"):
        resume(opened)
    assert not (tmp_path / "store" / FOLDER / "00000002.events.jsonl").exists()


def test_a_tail_that_was_not_declared_in_time_is_not_declared_later(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    write_session(opened, lines=2, end=False)
    finish(opened)
    file = tmp_path / "store" / FOLDER / "00000001.events.jsonl"
    file.write_bytes(file.read_bytes() + b"put there afterwards")
    with pytest.raises(TamperedError, match="nobody declared"):
        resume(opened)


def test_many_crashes(dead: OpenStore, tmp_path: Path) -> None:
    for number in range(2, 8):
        writer = resume(dead)
        writer.append(draft(number))
        writer.flush()
        writer.close()
        file = tmp_path / "store" / FOLDER / f"{number:08d}.events.jsonl"
        file.write_bytes(file.read_bytes()[:-number])
    finish(dead)
    result = check(dead)
    assert (result.verdict, result.good) == ("torn", True), result.to_json()
    recording = Recording(dead, SESSION)
    assert len(recording.tails) == 7
    gaps = [entry.event for entry in recording.entries if isinstance(entry.event, events.Gap)]
    assert sum(gap.reason == "host_lost" for gap in gaps) == 7
    assert len({gap.file for gap in gaps if gap.reason == "torn_tail"}) == sum(gap.reason == "torn_tail" for gap in gaps)

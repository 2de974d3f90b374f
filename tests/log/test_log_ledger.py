"""The store's own log: entered before it is done, by one at a time, and part of what is verified."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from log_helpers import SESSION, Clock, Entropy, check, new_store, write_session

from fake_store import FakeStore
from tachograph.core.errors import ConflictError, ShreddedError, StoreError, TamperedError
from tachograph.core.events import Gap, LedgerEntry
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.log import ledger, opening
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, session_ids
from tachograph.log.verdict import verdict
from tachograph.stores.local import LocalStore


def enter(opened: OpenStore, action: str = "shredded", reason: str | None = "why", *, wait: float = 20) -> int:
    with ledger.writing(opened, clock=Clock(), entropy=Entropy(), pause=time.sleep, wait=wait) as book:
        return book.append(LedgerEntry(action=action, subject=SESSION, user="ada", host="here"), reason=reason)


def judged(opened: OpenStore, name: str = layout.LEDGER) -> tuple[str, str]:
    found = verdict(opened.store, name, public=opened.key.public(), opened=opened)
    return found.verdict, found.content


def test_entries_are_chained_sealed_and_readable(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    assert not ledger.exists(opened.store)
    assert [enter(opened, reason=f"reason {n}") for n in range(3)] == [1, 3, 5]
    assert judged(opened) == ("verified", "opened")
    recording = Recording(opened, layout.LEDGER)
    told = [recording.content(e.event.reason_uri) for e in recording.entries if isinstance(e.event, LedgerEntry)]
    assert told == ["reason 0", "reason 1", "reason 2"]
    assert [e.event.reason for e in recording.entries if isinstance(e.event, Gap)] == ["next_writer"] * 2
    assert [entry.seq for entry in ledger.entries(opened.store)] == [1, 3, 5]


def test_the_ledger_is_no_session(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    write_session(opened)
    enter(opened)
    assert session_ids(opened.store) == [SESSION]
    assert check(opened).verdict == "verified"


def test_a_reason_is_not_in_the_clear(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    enter(opened, reason="because of the merger")
    assert all(b"merger" not in opened.store.read(name) for name in opened.store.names(""))


def test_several_entries_of_one_writer_share_a_segment(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    with ledger.writing(opened, clock=Clock(), entropy=Entropy(), pause=time.sleep) as book:
        assert [book.append(LedgerEntry(action="read", subject=SESSION)) for _ in range(4)] == [1, 2, 3, 4]
    assert judged(opened) == ("verified", "opened")


def test_who_waits_too_long_is_told_and_who_waits_gets_in(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    enter(opened)
    held = opened.store.lock(layout.lock(layout.LEDGER))
    looks: list[float] = []
    with pytest.raises(ConflictError, match=r"held by another writer for 0\.5 seconds"):
        with ledger.writing(opened, clock=Clock(), entropy=Entropy(), wait=0.5, pause=looks.append):
            raise AssertionError
    assert looks
    released: list[bool] = []

    def pause(_: float) -> None:
        if not released:
            released.append(True)
            held.release()

    with ledger.writing(opened, clock=Clock(), entropy=Entropy(), wait=5, pause=pause) as book:
        book.append(LedgerEntry(action="read", subject=SESSION))
    assert released
    assert judged(opened)[0] == "verified"


def _enter_in_process(folder: str, key: bytes, number: int) -> None:
    class Real:
        def unix_ms(self) -> int:
            return time.time_ns() // 1_000_000

        def monotonic(self) -> float:
            return time.monotonic()

    opened = opening.open_store(LocalStore(folder), keys.load(key, "test"))
    with ledger.writing(opened, clock=Real(), entropy=os.urandom, pause=time.sleep, wait=60) as book:
        book.append(LedgerEntry(action="read", subject=SESSION, user=str(number)), reason=str(number))


def test_many_processes_enter_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    spawn = multiprocessing.get_context("spawn")
    found = [spawn.Process(target=_enter_in_process, args=(opened.store.url, keys.dump(opened.key), n)) for n in range(4)]
    for process in found:
        process.start()
    for process in found:
        process.join(60)
    assert [process.exitcode for process in found] == [0] * 4
    assert sorted(e.event.user for e in ledger.entries(opened.store) if isinstance(e.event, LedgerEntry)) == ["0", "1", "2", "3"]
    assert judged(opened) == ("verified", "opened")


def test_a_writer_that_died_over_the_first_entry_is_no_obstacle(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    opened.new_data_key(layout.LEDGER, Entropy())  # and died
    assert enter(opened) == 1
    opened.store.create(layout.events(layout.LEDGER, 2)).close()  # another one, over its second
    assert enter(opened) == 3
    assert judged(opened)[0] in ("verified", "torn")
    assert len(ledger.entries(opened.store)) == 2


def test_a_changed_ledger_is_tampered_and_not_continued(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    with ledger.writing(opened, clock=Clock(), entropy=Entropy(), pause=time.sleep) as book:
        for _ in range(3):
            book.append(LedgerEntry(action="read", subject=SESSION))
    path = tmp_path / "store" / layout.events(layout.LEDGER, 1)
    path.write_bytes(path.read_bytes().replace(b'"read"', b'"rEad"', 1))
    assert judged(opened)[0] == "tampered"
    with pytest.raises(TamperedError):
        enter(opened)
    with pytest.raises(TamperedError, match="tacho verify ledger"):
        ledger.entries(opened.store)
    opened.store.lock(layout.lock(layout.LEDGER)).release()  # it was given back


def _faulty() -> tuple[FakeStore, OpenStore]:
    entropy = Entropy()
    key = keys.generate(entropy)
    store = FakeStore()
    opening.create(store, key, entropy)
    opened = opening.open_store(store, key)
    enter(opened)
    return store, opened


def _operations() -> list[tuple[str, str]]:
    store, opened = _faulty()
    store.done.clear()
    enter(opened)
    return sorted({one for one in store.done if one[0] != "unlock"})


@pytest.mark.parametrize("fault", _operations(), ids="-".join)
def test_whatever_fails_it_is_said_and_the_next_entry_is_made(fault: tuple[str, str]) -> None:
    store, opened = _faulty()
    store.fail = {fault}
    with pytest.raises(StoreError):
        enter(opened, wait=0)
    assert not store.locked
    assert enter(opened) > 1
    assert judged(opened)[0] in ("verified", "torn")


# -- shredding ---------------------------------------------------------------------------------------------------------


def test_a_shredded_session_verifies_and_says_so(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    write_session(opened, entered=True)
    line = enter(opened)
    opening.destroy_data_key(opened.store, SESSION, "2026-01-01T00:00:00.000Z")
    found = verdict(opened.store, SESSION, public=opened.key.public(), opened=opened)
    assert (found.verdict, found.good) == ("verified", True)
    assert found.content.startswith("shredded ")
    assert f"ada on here (line {line} of the ledger)" in found.content
    without_key = verdict(opened.store, SESSION, public=opened.key.public(), opened=None)
    assert without_key.content == found.content
    with pytest.raises(ShreddedError, match="was shredded"):
        opened.data_key(SESSION)
    recording = Recording(opened, SESSION)
    with pytest.raises(ShreddedError):
        recording.content(next(e.event.text_uri for e in recording.entries if hasattr(e.event, "text_uri")))


def test_a_key_that_was_destroyed_without_an_entry_is_tampering(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    write_session(opened, entered=True)
    opening.destroy_data_key(opened.store, SESSION, "2026-01-01T00:00:00.000Z")
    found = verdict(opened.store, SESSION, public=opened.key.public(), opened=opened)
    assert found.verdict == "tampered"
    assert "the ledger does not know" in found.problems[-1]["what"]
    assert "its key was destroyed" in found.problems[-1]["what"]


def test_a_key_that_came_back_is_told(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    write_session(opened, entered=True)
    enter(opened)
    assert "a copy of its key came back" in judged(opened, SESSION)[1]


def test_another_session_is_untouched(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    other = "ses_01K0000000000000000000000B"
    write_session(opened, entered=True)
    write_session(opened, session_id=other, entered=True)
    enter(opened)
    opening.destroy_data_key(opened.store, SESSION, "2026-01-01T00:00:00.000Z")
    assert judged(opened, other) == ("verified", "opened")


def _enter(opened: OpenStore, reason: str | None = None) -> None:
    with ledger.writing(opened, clock=Clock(), entropy=Entropy(), pause=time.sleep) as book:
        book.append(LedgerEntry(action="read", subject=SESSION), reason=reason)


@pytest.mark.parametrize(("reason", "more"), [(None, []), ("why", [("write", "content.pack"), ("sync", "content.pack")])])
def test_what_an_entry_costs(reason: str | None, more: list[tuple[str, str]]) -> None:
    """The seal of the writer before, the names, the entry, its seal. Somebody waits for each of them."""
    store = FakeStore()
    key = keys.generate(Entropy())
    opening.create(store, key, Entropy())
    opened = opening.open_store(store, key)
    _enter(opened)
    _enter(opened)  # whose segment says where the ledger stood before: the next one reads no further back
    store.done.clear()
    _enter(opened, reason)
    assert store.done == [
        ("lock", "lock"), ("sync", "seals"),
        ("create", "events.jsonl"), ("create", "seals"), ("create", "content.pack"),
        *more, ("write", "events.jsonl"), ("sync", "events.jsonl"), ("write", "seals"), ("sync", "seals"),
    ]  # fmt: skip


def test_the_local_store_waits_for_the_device_five_times_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = new_store(tmp_path / "store")
    _enter(opened)
    _enter(opened)
    count = 0

    def counted(real: Callable[[int], None]) -> Callable[[int], None]:
        def sync(fd: int) -> None:
            nonlocal count
            count += 1
            real(fd)

        return sync

    for name in ("fsync", "fdatasync"):
        if hasattr(os, name):
            monkeypatch.setattr(os, name, counted(getattr(os, name)))
    _enter(opened)
    assert count == 5

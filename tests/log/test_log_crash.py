"""After a crash the log opens again, and what is missing is declared."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from log_helpers import SESSION, Clock, Entropy, check, draft, new_store, new_writer, write_session

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import ConflictError, StoreError, TamperedError
from tachograph.log import opening, recover
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.stores.local import LocalFile, LocalStore


class MoreEntropy(Entropy):
    """Of another process."""

    def __call__(self, size: int, /) -> bytes:
        return bytes(byte ^ 0x5A for byte in super().__call__(size))


def resume(opened: OpenStore) -> None:
    writer = recover.resume(opened, SESSION, clock=Clock(), entropy=MoreEntropy(), reason="host_lost")
    writer.append(Draft(event=events.SessionEnd(status="lost")))
    writer.seal()
    writer.close()


def test_every_cut_of_a_log_without_end_recovers_and_declares(tmp_path: Path) -> None:
    original = new_store(tmp_path / "store")
    write_session(original, lines=3, end=False)
    folder = tmp_path / "store" / "sessions" / SESSION
    seal = (folder / "00000001.seals").read_bytes()
    assert seal
    data = (folder / "00000001.events.jsonl").read_bytes()
    sealed_until = len(b"".join(data.splitlines(keepends=True)[:3]))
    for cut in range(sealed_until, len(data) + 1, 7):
        target = tmp_path / f"cut{cut}"
        shutil.copytree(tmp_path / "store", target)
        (target / "sessions" / SESSION / "00000001.events.jsonl").write_bytes(data[:cut])
        opened = opening.open_store(LocalStore(str(target)), original.key)
        resume(opened)
        result = check(opened)
        assert result.good, (cut, result.to_json())
        torn = cut not in (len(data), *(len(b"".join(data.splitlines(keepends=True)[:n])) for n in range(6)))
        assert result.verdict == ("torn" if torn or cut != len(data) else "verified"), (cut, result.to_json())
        kinds = [entry.event.TYPE for entry in Recording(opened, SESSION).entries]
        assert kinds.count("gap") >= 1
        assert kinds[-1] == "session_end"
        shutil.rmtree(target)


def test_a_declared_tail_that_is_changed_afterwards_is_tampering(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    write_session(opened, lines=3, end=False)
    file = tmp_path / "store" / "sessions" / SESSION / "00000001.events.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    resume(opened)
    assert check(opened).verdict == "torn"
    file.write_bytes(file.read_bytes()[:-1])
    assert check(opened).verdict == "tampered"


def test_a_log_that_breaks_in_the_middle_is_not_continued(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    write_session(opened, lines=4, end=False)
    file = tmp_path / "store" / "sessions" / SESSION / "00000001.events.jsonl"
    data = file.read_bytes()
    file.write_bytes(data.replace(b'"seq":2', b'"seq":9'))
    with pytest.raises(TamperedError, match="offset"):
        resume(opened)


def test_one_writer_a_session(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    writer = new_writer(opened)
    writer.append(draft(1))
    writer.commit()
    with pytest.raises(ConflictError):
        recover.resume(opened, SESSION, clock=Clock(), entropy=MoreEntropy(), reason="host_lost")
    writer.close()


@pytest.mark.parametrize("operation", ["write", "sync"])
@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("count", range(1, 9))
def test_each_failing_write_or_sync_leaves_a_log_that_recovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str, written: bool, count: int
) -> None:
    """A fault table: the n-th operation fails, once unwritten, once half-way or written but reported as failed."""
    opened = new_store(tmp_path / "store")
    seen = 0
    real = getattr(LocalFile, operation)

    def faulty(self: LocalFile, *args: bytes) -> None:
        nonlocal seen
        seen += 1
        if seen == count:
            if written:
                real(self, *(arg[: len(arg) // 2] for arg in args))
            self.close()
            raise StoreError("injected, here; nothing to do")
        real(self, *args)

    acknowledged = 0
    monkeypatch.setattr(LocalFile, operation, faulty)
    try:
        writer = new_writer(opened)
        for number in range(6):
            writer.append(draft(number))
            writer.commit()
            acknowledged = writer.size
        with pytest.raises(StoreError):
            for number in range(100):
                writer.append(draft(number))
                writer.commit()
                acknowledged = writer.size
                if seen < count and number > 20:
                    raise StoreError("the fault was not reached")
        # A broken writer refuses to go on.
        if seen >= count:
            with pytest.raises(StoreError):
                writer.append(draft(0))
        writer.close()
    except StoreError:
        pass
    monkeypatch.setattr(LocalFile, operation, real)
    if not list((tmp_path / "store" / "sessions").glob("*/*.events.jsonl")):
        return
    for lock in (tmp_path / "store" / "sessions").glob("*/lock"):
        lock.unlink()
    resume(opened)
    result = check(opened)
    assert result.good, result.to_json()
    notes = [entry for entry in Recording(opened, SESSION).entries if entry.event.TYPE == "note"]
    assert len(notes) >= acknowledged

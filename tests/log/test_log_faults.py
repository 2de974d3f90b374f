"""The system calls themselves fail: by strace's injection, and on a file system that is full for a while."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from log_helpers import SESSION, Entropy, check

from tachograph.core import events
from tachograph.core.errors import StoreError
from tachograph.crypto import keys
from tachograph.log import opening, recover
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.stores.local import LocalStore

SCRIPT = str(Path(__file__).with_name("faulty_session.py"))
KINDS = ("events.jsonl", "content.pack", "seals")


def environment() -> dict[str, str]:
    tests = Path(__file__).parent
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests.parent), str(tests), os.environ.get("PYTHONPATH", "")])}


def traced(store: Path, count: int, *inject: str, path: str | None = None) -> dict[str, Any]:
    if shutil.which("strace") is None:
        pytest.skip("no strace here")
    what = [option for each in inject for option in ("-e", f"inject={each}")]
    if path is not None:
        what += ["-P", str(store / "sessions" / SESSION / path)]
    done = subprocess.run(
        ["strace", "-f", "-qq", "-o", "/dev/null", *what, sys.executable, SCRIPT, str(store), str(count)],
        env=environment(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    if "ptrace" in done.stderr and "not permitted" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def reopened(store: Path) -> OpenStore:
    return opening.open_store(LocalStore(str(store)), keys.generate(Entropy()))


def judge(store: Path, said: dict[str, Any], *, whole: bool = True) -> OpenStore:
    opened = reopened(store)
    result = check(opened)
    present = [entry.event.id for entry in Recording(opened, SESSION).entries if not isinstance(entry.event, events.Gap)]
    if whole:
        assert said["failed"] is None, said["failures"]
        assert (result.good, result.ended, result.sealed) == (True, True, result.events), result.to_json()
        assert present == said["given"]
    else:
        assert result.verdict in ("torn", "unsealed", "verified"), result.to_json()
        assert present[: said["acknowledged"]] == said["given"][: said["acknowledged"]]
    return opened


@pytest.mark.parametrize("when", [1, 2, 3, 6, "2+7", "1..9"])
def test_a_sync_that_fails(tmp_path: Path, when: int | str) -> None:
    said = traced(tmp_path / "store", 12, f"fdatasync:error=EIO:when={when}")
    assert "Input/output error" in said["failures"][0]
    judge(tmp_path / "store", said)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EDQUOT"])
def test_a_write_that_fails(tmp_path: Path, kind: str, error: str) -> None:
    said = traced(tmp_path / "store", 12, f"write:error={error}:when=2+", path=f"00000001.{kind}")
    assert len(set(said["failures"])) == 1, "one failure, and then a new segment"
    judge(tmp_path / "store", said)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_cannot_be_made(tmp_path: Path, kind: str) -> None:
    said = traced(
        tmp_path / "store", 12, "fdatasync:error=EIO:when=5", "openat:error=EMFILE:when=1", path=f"00000002.{kind}"
    )  # only of the second segment; the first breaks by what follows
    judge(tmp_path / "store", said)
    said = traced(tmp_path / "other", 12, "fdatasync:error=EIO:when=5")
    judge(tmp_path / "other", said)


def test_a_close_that_fails_says_so_and_loses_nothing(tmp_path: Path) -> None:
    said = traced(tmp_path / "store", 12, "close:error=EIO:when=1", path="00000001.events.jsonl")
    assert "cannot close" in said["closing"]
    judge(tmp_path / "store", said)


def test_a_read_error_is_not_taken_for_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "store"
    done = subprocess.run([sys.executable, SCRIPT, str(store), "3"], env=environment(), check=True, capture_output=True, text=True)
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    opened, real = reopened(store), LocalStore.read

    def failing(self: LocalStore, name: str, *, limit: int | None = None) -> bytes:
        if name.endswith("events.jsonl"):
            raise StoreError(f"cannot read {name}, Input/output error; see the system's log for the device")
        return real(self, name, limit=limit)

    monkeypatch.setattr(LocalStore, "read", failing)
    with pytest.raises(StoreError, match="Input/output error"):
        Recording(opened, SESSION)
    with pytest.raises(StoreError, match="Input/output error"):
        recover.resume(opened, SESSION, clock=opened_clock(), entropy=os.urandom, reason="host_lost")
    assert not check(opened).good
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before, "nothing was written over it"
    judge(store, json.loads(done.stdout))


def opened_clock() -> Any:
    from log_helpers import Clock

    return Clock()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(folder)], capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a tmpfs here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def test_a_disk_that_is_full_for_a_while(small: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, SCRIPT, str(small / "store"), "400"], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    folder, deadline = small / "store" / "sessions" / SESSION, time.monotonic() + 60
    while not (folder / "00000002.events.jsonl").exists():  # it has failed, and tries again
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)
    time.sleep(0.5)
    subprocess.run(["mount", "-o", "remount,size=20m", str(small)], check=True)
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    said = json.loads(out)
    assert "No space left on device" in said["failures"][0]
    opened = judge(small / "store", said)
    assert {entry.event.reason for entry in Recording(opened, SESSION).entries if isinstance(entry.event, events.Gap)} == {"write_failed"}

"""Real devices and real kills: power cuts of a loop-mounted file system, and kill -9, at random moments."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from log_helpers import SESSION, Clock, Entropy, check

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import NotFoundError
from tachograph.crypto import keys
from tachograph.log import opening, recover
from tachograph.log.reader import Recording
from tachograph.stores.local import LocalStore

SCRIPT = str(Path(__file__).with_name("power_session.py"))
#: The file system stops as if the power had failed: nothing more is written, not even its own journal.
SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2


def started(store: Path) -> subprocess.Popen[bytes]:
    tests = Path(__file__).parent
    path = os.pathsep.join([str(tests.parent), str(tests), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen([sys.executable, SCRIPT, str(store)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path})


def judge(store: Path, said: bytes) -> int:
    """What was said to be there is; the log is no forgery; it can be continued. Returns how many lines were acknowledged."""
    whole = [line.split() for line in said.splitlines(keepends=True) if line.endswith(b"\n")]
    acknowledged = max((int(number) for _, number in whole), default=0)
    sealed = max((int(number) for kind, number in whole if kind == b"S"), default=0)
    try:
        opened = opening.open_store(LocalStore(str(store)), keys.generate(Entropy()))
        result = check(opened)
    except NotFoundError:
        assert not acknowledged
        return 0
    assert result.verdict in ("verified", "unsealed", "torn", "missing"), result.to_json()
    assert result.events >= acknowledged, result.to_json()
    assert result.sealed >= sealed, result.to_json()
    if result.events:
        assert [entry.seq for entry in Recording(opened, SESSION).entries] == list(range(1, result.events + 1))
        writer = recover.resume(opened, SESSION, clock=Clock(), entropy=os.urandom, reason="host_lost")
        writer.append(Draft(event=events.SessionEnd(status="lost")))
        writer.seal()
        writer.close()
        assert check(opened).good
        assert len(list(Recording(opened, SESSION).expanded())) == check(opened).events
    return acknowledged


def wait_for_words(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


@contextlib.contextmanager
def mounted(image: Path, folder: Path) -> Iterator[None]:
    deadline = time.monotonic() + 60
    while True:
        if subprocess.run(["mount", "-o", "loop", str(image), str(folder)], capture_output=True, check=False).returncode:
            pytest.skip("cannot mount a loop device here")
        try:
            (folder / "alive").write_bytes(b"")
            break
        except OSError:
            # A process in a mount namespace of its own holds the file system that was shut down, until it ends.
            subprocess.run(["umount", str(folder)], check=True)
            assert time.monotonic() < deadline, "the file system that was shut down does not go away"
            time.sleep(0.2)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def power_cuts(tmp_path: Path, kind: str, count: int, seed: int) -> int:
    if os.geteuid() != 0 or shutil.which(f"mkfs.{kind}") is None:
        pytest.skip(f"needs root and mkfs.{kind}")
    image, folder, rng = tmp_path / "image", tmp_path / "device", random.Random(seed)
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(320 << 20)
    subprocess.run([f"mkfs.{kind}", "-q", str(image)], check=True, capture_output=True)
    total = 0
    for number in range(count):
        store = folder / f"store{number}"
        with mounted(image, folder):
            process = started(store)
            said = wait_for_words(process)
            time.sleep(rng.random() * 0.3)
            process.send_signal(signal.SIGSTOP)
            while Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
                time.sleep(0.001)
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
            except OSError as error:
                process.kill()
                pytest.skip(f"the file system cannot be shut down here: {error}")
            finally:
                os.close(descriptor)
            process.send_signal(signal.SIGCONT)
            said += process.communicate(timeout=60)[0]
        with mounted(image, folder):
            total += judge(store, said)
            shutil.rmtree(store)
    return total


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_power_cuts(tmp_path: Path, kind: str) -> None:
    assert power_cuts(tmp_path, kind, 3, 1) > 10


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_hundred_power_cuts(tmp_path: Path, kind: str) -> None:
    assert power_cuts(tmp_path, kind, 100, 2) > 1000


def kills(tmp_path: Path, count: int, seed: int) -> int:
    rng, total = random.Random(seed), 0
    for number in range(count):
        store = tmp_path / f"store{number}"
        process = started(store)
        said = wait_for_words(process)
        time.sleep(rng.random() * 0.02)
        process.kill()
        said += process.communicate(timeout=60)[0]
        total += judge(store, said)
        shutil.rmtree(store)
    return total


def test_kills(tmp_path: Path) -> None:
    assert kills(tmp_path, 5, 1) > 5


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("part", range(10))
def test_a_thousand_kills(tmp_path: Path, part: int) -> None:
    assert kills(tmp_path, 100, 10 + part) > 100

"""kill -9 of recorder, agent, launcher, several and all of them, at random moments of many short recordings into one store.

After each: the log and the ledger are such as a crash can leave, what an external tool did is preceded by its ``started`` line, and the
log is continued. After some of them, all of the store verifies.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import IO

import pytest

from tachograph import wiring
from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import ConflictError
from tachograph.format import layout
from tachograph.host.entering import Entering
from tachograph.log import opening, recover
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, session_ids
from tachograph.log.verdict import Judge
from tachograph.stores.local import LocalStore

AGENT = """
import os, tachograph

@tachograph.tool(effect="external")
def act(number):
    os.write(1, b"%d\\n" % number)  # done: so its line must be in the log

@tachograph.tool(effect="read")
def look(number):
    return "x" * number

number = 0
while not os.path.exists("finish") and number < 3000:
    act(number)
    look(number)
    number += 1
"""

#: Who is killed, in which order, and what ``--on-host-loss`` says.
KINDS: dict[str, tuple[tuple[str, ...], str]] = {
    "host": (("host",), "continue"),
    "host, stop": (("host",), "stop"),
    "agent": (("agent",), "continue"),
    "launcher": (("launcher",), "continue"),
    "host and agent": (("host", "agent"), "continue"),
    "agent and host": (("agent", "host"), "stop"),
    "all": (("launcher", "host", "agent"), "continue"),
    "all, stop": (("agent", "host", "launcher"), "stop"),
}


class Recordings:
    """Recordings into one store, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.settings = {"TACHO_STORE": str(folder / "store"), "TACHO_KEY": str(folder / "key.json"), "XDG_RUNTIME_DIR": str(folder)}
        (folder / "agent.py").write_text(AGENT)
        self.out, self.error = folder / "stdout", folder / "stderr"
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("many_recordings.py"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **self.settings}, text=True,
        )  # fmt: skip

    def start(self, on_loss: str) -> int:
        (self.folder / "finish").unlink(missing_ok=True)
        self.out.unlink(missing_ok=True)
        command = ["record", "--on-host-loss", on_loss, "--", sys.executable, "agent.py"]
        job = {"arguments": command, "cwd": str(self.folder), "env": self.settings, "stdout": str(self.out), "stderr": str(self.error)}
        print(json.dumps(job), file=_pipe(self._process.stdin), flush=True)
        return int(_pipe(self._process.stdout).readline())

    def finish(self) -> None:
        (self.folder / "finish").touch()

    def ended(self) -> None:
        """Wait for the launcher."""
        ready, _, _ = select.select([_pipe(self._process.stdout)], [], [], 60)
        assert ready, "the launcher does not end"
        _pipe(self._process.stdout).readline()

    def said(self) -> list[int]:
        """What external tools did: whole lines."""
        data = self.out.read_bytes() if self.out.exists() else b""
        return [int(line) for line in data[: data.rfind(b"\n") + 1].split()]

    def opened(self) -> OpenStore | None:
        """None where nothing was recorded yet."""
        store = LocalStore(self.settings["TACHO_STORE"])
        if not opening.exists(store):
            return None
        return opening.open_store(store, wiring.keys.load(Path(self.settings["TACHO_KEY"]).read_bytes(), "key"))

    def close(self) -> None:
        _pipe(self._process.stdin).close()
        self._process.wait(60)


def _pipe(file: IO[str] | None) -> IO[str]:
    assert file is not None
    return file


def processes(launcher: int) -> dict[str, int]:
    """Who there is, as far as can be told at this moment."""
    found = {"launcher": launcher}
    with contextlib.suppress(OSError):
        for text in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
            name = Path(f"/proc/{text}/comm").read_text().strip()
            if name == "tacho-host":
                found["host"] = int(text)
            elif b"agent.py" in Path(f"/proc/{text}/cmdline").read_bytes().split(b"\0"):
                found["agent"] = int(text)
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def one_kill(recordings: Recordings, kind: str, rng: random.Random) -> str:
    """One recording, killed. Returns the verdict on what that left."""
    whom, on_loss = KINDS[kind]
    before = recordings.opened()
    known = set(session_ids(before.store)) if before is not None else set()
    launcher = recordings.start(on_loss)
    deadline = time.monotonic() + 60
    # Some at once, the launcher before there is anybody else; others in the middle of the work.
    started = rng.randrange(1, 60) if rng.random() < 0.6 else 0
    needed = [who for who in whom if who != "launcher"]
    while (missing := [who for who in needed if who not in processes(launcher)]) and alive(launcher) and len(whom) < 3:
        assert time.monotonic() < deadline, (kind, missing)
    while len(recordings.said()) < started and alive(launcher):
        assert time.monotonic() < deadline, "the agent does not get going"
        time.sleep(0.001)
    time.sleep(rng.random() * (0.02 if started else 0.25))
    said, found = recordings.said(), processes(launcher)
    descriptors = [os.pidfd_open(pid) for pid in found.values() if alive(pid)]
    for who in whom:
        if who in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(found[who], signal.SIGKILL)
    if kind != "host, stop":
        recordings.finish()  # an agent that lives ends; who must stop does so by himself
    recordings.ended()
    for descriptor in descriptors:
        assert select.select([descriptor], [], [], 60)[0], f"a process does not end, {kind}"
        os.close(descriptor)
    if "host" not in whom or on_loss == "stop":
        said = recordings.said()
    return judge(recordings, kind, known, said, lives="host" in found or "launcher" not in whom)


def judge(recordings: Recordings, kind: str, known: set[str], said: list[int], *, lives: bool) -> str:
    """``lives``: somebody was left who must have brought the log to its end."""
    opened = recordings.opened()
    sessions = [] if opened is None else [name for name in session_ids(opened.store) if name not in known]
    if opened is None or not sessions:
        assert not said
        return "none"
    (session,) = sessions
    _writer_gone(opened, session)
    judged = Judge(opened.store, public=opened.trusted, opened=opened)
    book, result = judged.judge(layout.LEDGER), judged.judge(session)
    assert book.verdict in ("verified", "unsealed", "torn", "missing"), (kind, book.to_json())
    assert result.verdict in ("verified", "unsealed", "torn"), (kind, result.to_json())
    if lives and not kind.startswith("all"):
        assert result.good, (kind, result.to_json(), recordings.error.read_text())
        assert result.ended, (kind, result.to_json(), recordings.error.read_text())
    verdict = result.verdict + ("" if result.ended else ", no end")
    recording = Recording(opened, session)
    started = {
        recording.content(entry.event.request_uri)["input"]["number"]
        for entry in recording.entries
        if isinstance(entry.event, events.Started) and entry.event.name == "act"
    }
    assert set(said) <= started, (kind, result.to_json())
    if not result.ended:
        resume(opened, session)
        result = Judge(opened.store, public=opened.trusted, opened=opened).judge(session)
        assert result.good, (kind, result.to_json())
        assert result.ended
    assert len(list(Recording(opened, session).expanded())) == result.events
    return verdict


def _writer_gone(opened: OpenStore, session: str) -> None:
    """A host that was just forked has no name yet by which ``processes`` would have found it, and may outlive its launcher."""
    deadline = time.monotonic() + 60
    while True:
        try:
            opened.store.lock(layout.lock(session)).release()
            return
        except ConflictError:
            assert time.monotonic() < deadline, "the host does not end"
            time.sleep(0.01)


def resume(opened: OpenStore, session: str) -> None:
    clock = wiring.SystemClock()
    writer = recover.resume(opened, session, clock=clock, entropy=os.urandom, reason="host_lost")
    writer.append(Draft(event=events.SessionEnd(status="lost")))
    writer.seal()
    assert Entering(opened, session, clock=clock, entropy=os.urandom).sealed_after_loss(writer.size, writer.root)
    writer.close()


def kills(folder: Path, count: int, seed: int) -> Counter[tuple[str, str]]:
    """So many kills in one store; what each kind left."""
    rng, left = random.Random(seed), Counter[tuple[str, str]]()
    recordings = Recordings(folder)
    try:
        for number in range(count):
            kind = list(KINDS)[(seed + number) % len(KINDS)]
            left[kind, one_kill(recordings, kind, rng)] += 1
        # And then one that nobody kills.
        recordings.finish()
        recordings.start("stop")
        recordings.finish()
        recordings.ended()
        opened = recordings.opened()
        assert opened is not None
        results, book = Judge(opened.store, public=opened.trusted, opened=opened).everything()
        assert book is not None
        assert [each.to_json() for each in [*results, book] if not each.good] == []
        assert results[-1].verdict == "verified"
    finally:
        recordings.close()
    return left


def test_twelve_kills(tmp_path: Path) -> None:
    assert kills(tmp_path / "kills", 12, 1).total() == 12


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("part", range(40))
def test_a_thousand_kills(tmp_path: Path, part: int) -> None:
    left = kills(tmp_path / "kills", 25, 100 + part)
    assert left.total() == 25
    print(sorted(left.items()))  # shown with -rA

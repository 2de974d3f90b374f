"""The recorder and player of ``@pytest.mark.tacho``, in a process of its own beside pytest.

One JSON line in, one out: ``{"do":"record"|"replay","folder","name","token"}`` → ``{"socket"}``, or ``{"error"}``; when the test's body is over, ``{"do":"end","keep"}`` →
``{"report"}`` (as of ``tacho replay --json``; null for a recording) or ``{"error"}``. ``keep``: whether the recording becomes the cassette.
"""

from __future__ import annotations

import collections
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from typing import Any

from tachograph import wiring
from tachograph.core import ids
from tachograph.core.errors import TachographError
from tachograph.crypto import keys
from tachograph.host import facts, fixture, launch, patterns, record, replay, workspace
from tachograph.host.byplace import KnownByPlace, PlaceRedactor
from tachograph.host.player import Player
from tachograph.host.server import Server
from tachograph.host.surroundings import Surroundings
from tachograph.log import opening
from tachograph.log.reader import Recording
from tachograph.log.writer import timestamp
from tachograph.replay import report, tape
from tachograph.stores.local import LocalStore


class _Lines:
    """Standard input, line by line; and as ``record.Caller`` the one who says when the body is over."""

    waiting = False

    def __init__(self) -> None:
        self._held = b""
        self.end: dict[str, Any] | None = None

    def fileno(self) -> int:
        return 0

    def next(self) -> dict[str, Any] | None:
        """The next line; None at the end of all."""
        while b"\n" not in self._held:
            data = os.read(0, 1 << 16)
            if not data:
                return None
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def heard(self) -> dict[str, Any]:
        self.end = self.next() or {"keep": False}
        return {"exit_code": 0, "signal": None}

    def tell(self, _summary: dict[str, Any]) -> None:
        """Nobody waits for it."""


def _say(found: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def _record(lines: _Lines, asked: dict[str, Any], scratch: str) -> None:
    clock = wiring.SystemClock()
    store = LocalStore(os.path.join(scratch, "store"))
    key = keys.generate(os.urandom)
    opening.create(store, key, os.urandom)
    opened = opening.open_store(store, key)
    policy = wiring.policy()
    plan = record.Plan(
        opened=opened,
        command=["pytest", str(asked["name"])],
        environment=os.environ,
        clock=clock,
        entropy=os.urandom,
        name=str(asked["name"]),
        policy=policy,
    )
    session_id = ids.session_id(clock.unix_ms(), os.urandom(10))
    cwd = os.getcwd()
    around = Surroundings(cwd=cwd, umask=0o077, host=facts.host(), repository=facts.repository(cwd), eyes=workspace.OwnEyes(None))
    session = record.Session(plan, session_id, opened.new_data_key(session_id, os.urandom), os.environ, around, sealed_for=None)
    path = os.path.join(scratch, "host")
    server = Server(path, str(asked["token"]), session.driver, coalesce=record.COALESCE)
    _say({"socket": path})
    session.serve(server, lines)
    if lines.end is not None and lines.end["keep"]:
        folder, made = str(asked["folder"]), os.path.join(scratch, "cassette")
        fixture.write(Recording(opened, session_id), made, at=timestamp(clock.unix_ms()), policy=policy.policy, test=False)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        shutil.move(made, folder)
    _say({"report": None})


def _replay(lines: _Lines, asked: dict[str, Any], scratch: str) -> None:
    held = fixture.Fixture(str(asked["folder"]))
    recording = held.recording()
    read = tape.load(recording)
    policy, notes = replay.recorded_policy(read)
    key = held.opened.fingerprint_key
    redactor = PlaceRedactor(policy, key=key, learns=True)
    patterns.load(redactor.index, patterns.folder(os.environ), key)
    player = Player(
        read,
        redactor,
        session_id=held.session_id,
        writable=[os.sep],
        alias=lambda value: value,
        known=KnownByPlace(redactor),
        tree=os.getcwd(),
    )
    path = os.path.join(scratch, "host")
    server = Server(path, str(asked["token"]), player)
    began = time.monotonic()
    until = 0.0

    def heard() -> None:
        nonlocal until
        lines.heard()
        server.unwatch(lines)
        until = time.monotonic() + launch.LINGER

    _say({"socket": path})
    server.watch(lines, heard)
    server.serve(lambda: lines.end is not None and (not server.peers or time.monotonic() > until))
    server.close()
    run = report.Run(
        matched=collections.Counter(player.matched), divergence=player.divergence, exit_code=0, signal=None, seconds=time.monotonic() - began, output=None,
        output_size=0, same_output=None, joined=player.joined, blocked=player.blocked, reordered=player.reordered, ran=player.ran, notes=notes,
    )  # fmt: skip
    _say({"report": report.report(held.session_id, read, run, verified=True, code_changed=[], missing=[])})


def main() -> int:
    """Until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # pytest tidies up, and then closes our input
    launch.close_memory(b"tacho-pytest")
    lines = _Lines()
    while (asked := lines.next()) is not None:
        if asked["do"] == "end":
            continue  # of what could not be begun
        lines.end = None
        with tempfile.TemporaryDirectory(prefix="tacho-") as scratch:
            try:
                (_record if asked["do"] == "record" else _replay)(lines, asked, scratch)
            except (TachographError, OSError) as error:
                _say({"error": str(error)})
    return 0


if __name__ == "__main__":
    sys.exit(main())

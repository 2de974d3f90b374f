"""What a recorder and a reader enter in the ledger, and what they do where they cannot."""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.host import entering
from tachograph.log import book, opening
from tachograph.log.opening import OpenStore
from tachograph.stores.local import LocalStore

SESSION = "ses_01K0000000000000000000000A"


class Clock:
    """Ticks a millisecond a look."""

    def __init__(self) -> None:
        self._count = itertools.count(1_790_000_000_000)

    def unix_ms(self) -> int:
        return next(self._count)

    def monotonic(self) -> float:
        return next(self._count) / 1000


@pytest.fixture
def opened(tmp_path: Path) -> OpenStore:
    store = LocalStore(str(tmp_path / "store"))
    key = keys.generate(os.urandom)
    opening.create(store, key, os.urandom)
    return opening.open_store(store, key)


def session(opened: OpenStore, clock: Clock | None = None) -> entering.Entering:
    return entering.Entering(opened, SESSION, clock=clock or Clock(), entropy=os.urandom, pause=lambda _: None)


def read(opened: OpenStore, *subjects: str | None) -> str | None:
    return entering.enter_read(opened, list(subjects), "cat", clock=Clock(), entropy=os.urandom, pause=lambda _: None)


def actions(opened: OpenStore) -> list[tuple[str, dict[str, object]]]:
    return [(book.entry_of(entry).action, book.entry_of(entry).detail) for entry in book.read(opened.store).entries]


def test_a_session_is_opened_and_sealed_and_pins_the_ledger(opened: OpenStore) -> None:
    one = session(opened)
    pin = one.begin()
    assert book.read(opened.store).pins(pin["size"], pin["root"])
    assert one.sealed(7, b"\1" * 32, ended=True)
    assert actions(opened) == [("opened", {}), ("sealed", {"size": 7, "root": "01" * 32, "ended": True})]


def test_a_ledger_that_is_held_does_not_stop_a_recorder_and_is_entered_late(opened: OpenStore) -> None:
    one = session(opened)
    held = opened.store.lock(layout.lock(layout.LEDGER))
    assert one.begin() == {"missing": "locked"}
    assert not one.sealed(3, bytes(32), ended=False, wait=0)
    held.release()
    assert one.sealed(7, bytes(32), ended=True)
    assert [(action, detail.get("late")) for action, detail in actions(opened)] == [("opened", True), ("sealed", None)]


def test_a_store_that_takes_nothing_and_a_ledger_that_was_changed_are_told_apart(opened: OpenStore, tmp_path: Path) -> None:
    (tmp_path / "store" / "ledger").write_text("in its way")
    assert session(opened).begin() == {"missing": "store"}
    (tmp_path / "store" / "ledger").unlink()
    assert read(opened, SESSION) is None
    path = tmp_path / "store" / layout.events(layout.LEDGER, 1)
    path.write_bytes(path.read_bytes().replace(b'"read"', b'"rEad"') * 2)
    assert session(opened).begin() == {"missing": "tampered"}


def test_a_session_that_goes_on_is_entered_every_ten_minutes(opened: OpenStore) -> None:
    class Jumping(Clock):
        now = 0.0

        def monotonic(self) -> float:
            return self.now

    clock = Jumping()
    one = session(opened, clock)
    clock.now = 599.0
    assert not one.is_time()
    clock.now = 600.0
    assert one.is_time()
    assert one.sealed(1, bytes(32), ended=False)
    assert not one.is_time()


def test_who_ends_a_dead_hosts_session_looks_up_what_that_one_had_entered(opened: OpenStore) -> None:
    assert session(opened).sealed_after_loss(3, bytes(32))
    assert [action for action, _ in actions(opened)] == ["opened", "sealed"]
    assert session(opened).sealed_after_loss(4, bytes(32))
    assert [action for action, _ in actions(opened)] == ["opened", "sealed", "sealed"]


def test_a_read_is_entered_once_for_each_session(opened: OpenStore) -> None:
    assert read(opened, SESSION, None) is None
    entries = book.read(opened.store).entries
    assert [(book.entry_of(entry).subject, book.entry_of(entry).detail) for entry in entries] == [
        (SESSION, {"verb": "cat"}), (None, {"verb": "cat"}),
    ]  # fmt: skip
    assert all(book.entry_of(entry).user and book.entry_of(entry).host for entry in entries)


def test_a_read_that_cannot_be_entered_is_said_in_one_line(opened: OpenStore) -> None:
    held = opened.store.lock(layout.lock(layout.LEDGER))
    note = read(opened, SESSION)
    held.release()
    assert note is not None
    assert note.startswith("this reading is not entered in the ledger: ")
    assert "\n" not in note


def test_the_verbs_that_give_out_content_are_entered_and_no_others(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    assert tacho("record", "--", sys.executable, "-c", "print(1)").returncode == 0
    for verb in (["ls"], ["verify", "@last"], ["verify", "--all"], ["prove", "@last"], ["prove", "@last", "--event", "1"]):
        assert tacho(*verb).returncode == 0
    for verb in (["cat", "@last"], ["show", "@last"], ["postmortem", "@last"], ["replay", "@last"], ["audit-secrets"]):
        assert "not entered" not in tacho(*verb).stderr
    found = [line for line in tacho("cat", "ledger").lines() if line.get("action") == "read"]
    assert [line["detail"]["verb"] for line in found] == ["cat", "show", "postmortem", "replay", "audit-secrets"]
    assert len({line.get("subject") for line in found}) == 2


def test_content_is_given_out_where_the_ledger_cannot_be_written(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    assert tacho("record", "--", sys.executable, "-c", "print(1)").returncode == 0
    last = max((tacho.store / "ledger").glob("*.events.jsonl"))
    last.write_bytes(last.read_bytes().replace(b'"sealed"', b'"seAled"') * 2)
    done = tacho("cat", "@last")
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[0])["type"] == "session_start"
    assert done.stderr.count("\n") == 1
    assert "tacho: note: this reading is not entered in the ledger: " in done.stderr


def test_an_imported_session_is_opened_and_sealed(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    lines = [
        {"type": "user", "uuid": "u1", "sessionId": "s", "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": "user", "content": "hi"}},
        {"type": "assistant", "uuid": "u2", "sessionId": "s", "timestamp": "2026-01-01T00:00:01.000Z",
         "message": {"id": "m", "role": "assistant", "model": "m-1", "content": [{"type": "text", "text": "hello"}]}},
    ]  # fmt: skip
    path = tmp_path / "one.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = tacho("import", str(path))
    assert done.returncode == 0, done.stderr
    entries = [line for line in tacho("cat", "ledger").lines() if line["type"] == "ledger_entry"]
    assert [entry["action"] for entry in entries] == ["opened", "sealed"]
    assert tacho("verify", "--all").returncode == 0

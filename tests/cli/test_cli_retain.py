"""``tacho retain`` and ``tacho hold``: what is kept, what goes, and that the record says so."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho
from tachograph.crypto import keys
from tachograph.host import custody, retaining
from tachograph.log import opening
from tachograph.log.retention import DAY
from tachograph.stores.local import LocalStore
from tachograph.wiring import SystemClock


class Later(SystemClock):
    """So many days from now."""

    def __init__(self, days: int) -> None:
        self._days = days

    def unix_ms(self) -> int:
        return super().unix_ms() + self._days * DAY


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


def record(tacho: Tacho) -> str:
    assert tacho("record", "--", sys.executable, "-c", "print(1)").returncode == 0
    return str(tacho("ls", "--json").json()[-1]["session_id"])


def keeper(tacho: Tacho, tmp_path: Path, days: int) -> custody.Keeper:
    opened = opening.open_store(LocalStore(str(tacho.store)), keys.load((tmp_path / "key.json").read_bytes(), "key.json"))
    return custody.keeper(opened, clock=Later(days), entropy=os.urandom)


def files(tacho: Tacho, session_id: str) -> list[str]:
    return sorted(str(path.relative_to(tacho.store)) for path in tacho.store.rglob("*") if session_id in str(path))


def test_nothing_is_deleted_where_nothing_was_chosen(tacho: Tacho, tmp_path: Path) -> None:
    session_id = record(tacho)
    done = tacho("retain", "--yes")
    assert (done.returncode, "kept for ever" in done.stdout) == (0, True)
    assert [row.done for row in retaining.run(keeper(tacho, tmp_path, 5000))] == ["kept"]
    assert files(tacho, session_id)


def test_a_session_goes_when_its_time_is_over_and_leaves_a_tombstone(tacho: Tacho, tmp_path: Path) -> None:
    first = record(tacho)
    assert tacho("retain", "--keep", "30d", "--reason", "our policy").returncode == 0
    second = record(tacho)
    said = tacho("verify", second, "--json").json()
    copies = {path.name: path.read_bytes() for path in (tacho.store / "sessions" / second).iterdir() if path.name != "lock"}
    row = {each["session_id"]: each for each in tacho("retain", "--dry-run", "--json").json()["sessions"]}[second]
    assert (row["state"], row["days"], row["done"]) == ("sealed", 30, "kept")
    assert {each.session_id: each.done for each in retaining.run(keeper(tacho, tmp_path, 36))} == {first: "kept", second: "kept"}
    assert {each.session_id: each.done for each in retaining.run(keeper(tacho, tmp_path, 38))} == {first: "kept", second: "deleted"}
    assert files(tacho, second) == []
    stone = next(line for line in tacho("cat", "ledger").lines() if line.get("action") == "deleted")
    assert (stone["subject"], stone["detail"]["size"], stone["detail"]["root"]) == (second, said["events"], said["root"])
    assert {name: each["sha256"] for name, each in stone["detail"]["files"].items()} == {
        name: hashlib.sha256(data).hexdigest() for name, data in copies.items()
    }
    assert tacho("verify", "--all").returncode == 0
    gone = tacho("verify", second)
    assert (gone.returncode, "deleted" in gone.stdout) == (1, True)
    assert [each["session_id"] for each in tacho("ls", "--json").json()] == [first]


def test_a_hold_beats_retention_and_shredding(tacho: Tacho, tmp_path: Path) -> None:
    record(tacho)
    tacho("retain", "--keep", "30d", "--reason", "our policy")
    session_id = record(tacho)
    assert tacho("hold", "add", "@last", "--matter", "INC-7", "--reason", "the outage").returncode == 0
    assert tacho("hold", "add", "@last", "--matter", "INC-8", "--reason", "the audit").returncode == 0
    again = tacho("hold", "add", "@last", "--matter", "INC-8", "--reason", "the audit")
    assert (again.returncode, "it was already" in again.stdout) == (0, True)
    assert [row["matter"] for row in tacho("hold", "ls", "--json").json()] == ["INC-7", "INC-8"]
    done = tacho("shred", "@last", "--reason", "they asked", "--yes")
    assert (done.returncode, "held for INC-7, INC-8" in done.stderr) == (2, True)
    rows = {row.session_id: row for row in retaining.run(keeper(tacho, tmp_path, 400))}
    assert (rows[session_id].done, rows[session_id].matters) == ("kept", ("INC-7", "INC-8"))
    for matter in ("INC-7", "INC-8"):
        assert tacho("hold", "remove", "@last", "--matter", matter, "--reason", "closed", "--yes").returncode == 0
    assert tacho("hold", "ls", session_id).stdout == f"nothing holds {session_id}\n"
    # The ledger's last entry is of today, and so the grace begins today.
    assert {row.session_id: row.done for row in retaining.run(keeper(tacho, tmp_path, 38))}[session_id] == "deleted"
    late = tacho("hold", "add", session_id, "--matter", "INC-9", "--reason", "too late")
    assert late.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("hold", "add", "@last", "--matter", "INC-7"), "why is not said"),
        (("hold", "add", "--matter", "INC-7", "--reason", "x"), "which session"),
        (("hold", "add", "@last", "--reason", "x"), "for which matter"),
        (("hold", "remove", "@last", "--matter", "INC-7", "--reason", "x", "--yes"), "nothing holds it"),
        (("hold", "remove", "@last", "--matter", "INC-7", "--reason", "x"), "no terminal to ask"),
        (("retain", "--keep", "soon", "--reason", "x"), "number of days"),
        (("retain", "--keep", "30d"), "why is not said"),
        (("retain", "@last"), "whole store"),
        (("retain", "--grace", "x"), "number of days"),
    ],
)
def test_one_clear_line(tacho: Tacho, arguments: tuple[str, ...], said: str) -> None:
    record(tacho)
    done = tacho(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
    assert "deleted" not in tacho("cat", "ledger").stdout


def test_a_clock_that_is_behind_deletes_nothing(tacho: Tacho, tmp_path: Path) -> None:
    from tachograph.core.errors import UsageError

    record(tacho)
    tacho("retain", "--keep", "30d", "--reason", "x")
    with pytest.raises(UsageError, match="behind the ledger"):
        retaining.run(keeper(tacho, tmp_path, -1))


def test_a_matter_is_in_the_clear_and_must_be_no_secret(tacho: Tacho) -> None:
    record(tacho)
    secret = "gh" + "p_" + "q8Wm3ZrT5vYx7NbK2LdJ4HgF6SaP9CeU1RoI"
    done = tacho("hold", "add", "@last", "--matter", secret, "--reason", "x")
    assert (done.returncode, "looks like a secret" in done.stderr, secret in done.stderr) == (2, True, False)
    assert not any(secret.encode() in path.read_bytes() for path in tacho.store.rglob("*") if path.is_file())


def test_a_choice_for_new_sessions_is_a_choice(tacho: Tacho) -> None:
    record(tacho)
    assert "No retention is chosen" in tacho("retain", "--yes").stdout
    tacho("retain", "--keep", "30d", "--reason", "x")
    assert "No retention is chosen" not in tacho("retain", "--yes").stdout


def test_a_deletion_that_was_interrupted_is_no_tampering_and_is_finished(
    tacho: Tacho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tacho("retain", "--keep", "30d", "--reason", "x")
    session_id = record(tacho)
    removed: list[str] = []

    class KilledError(Exception):
        pass

    def remove(self: LocalStore, name: str) -> None:
        if removed:
            raise KilledError
        removed.append(name)
        os.unlink(os.path.join(self.root, name))

    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, "remove", remove)
        with pytest.raises(KilledError):
            retaining.run(keeper(tacho, tmp_path, 40))
    assert files(tacho, session_id)
    done = tacho("verify", session_id)
    assert (done.returncode, "tampered" in done.stdout, "tacho retain finishes that" in done.stdout) == (1, False, True)
    assert [row.done for row in retaining.run(keeper(tacho, tmp_path, 40))] == ["finished"]
    assert files(tacho, session_id) == []


def test_a_recording_whose_ledger_is_broken_says_so(tacho: Tacho) -> None:
    record(tacho)
    last = max((tacho.store / "ledger").glob("*.events.jsonl"))
    last.write_bytes(last.read_bytes().replace(b'"next_writer"', b'"next_wroter"'))
    done = tacho("record", "--", sys.executable, "-c", "print(1)")
    assert done.returncode == 0
    assert "not entered in the ledger" in done.stderr

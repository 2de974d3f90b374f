"""``tacho keys``: recipients of every kind, each of whom can read alone; removal, rotation, and what an auditor is given."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kms_stub
from cli_helpers import Done, Tacho

PASSPHRASE = "correct horse battery staple"
RING = """
import json, os, keyring.backend
class FileRing(keyring.backend.KeyringBackend):
    priority = 9
    def _all(self):
        return json.load(open(os.environ["RING"])) if os.path.exists(os.environ["RING"]) else {}
    def _put(self, found):
        json.dump(found, open(os.environ["RING"], "w"))
    def get_password(self, service, username):
        return self._all().get(service + "/" + username)
    def set_password(self, service, username, password):
        self._put({**self._all(), service + "/" + username: password})
    def delete_password(self, service, username):
        self._put({name: value for name, value in self._all().items() if name != service + "/" + username})
"""


class Keyed(Tacho):
    """With a key file that can be put away, and further settings."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder
        self.key = folder / "key.json"

    def without_key(self, **settings: str) -> Keyed:
        other = Keyed(self.folder)
        other.settings = {**self.settings, "TACHO_KEY": str(self.folder / "nothing.json"), **settings}
        return other


@pytest.fixture
def tacho(tmp_path: Path) -> Keyed:
    made = Keyed(tmp_path)
    record(made)
    return made


def record(tacho: Tacho, said: str = "of the merger") -> str:
    done = tacho("record", "--", sys.executable, "-c", f"print({said!r})")
    assert done.returncode == 0, done.stderr
    return str(tacho("ls", "--json").json()[-1]["session_id"])


def good(done: Done) -> Done:
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def recipients(tacho: Tacho) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = good(tacho("keys", "ls", "--json")).json()["recipients"]
    return found


def entries(tacho: Tacho) -> list[tuple[str, Any]]:
    return [
        (line["action"], line.get("detail"))
        for line in tacho("cat", "ledger").lines()
        if line["type"] == "ledger_entry" and line["action"].startswith("key_")
    ]


def reads(tacho: Tacho) -> bool:
    done = tacho("cat", "@last")
    assert done.returncode in (0, 2)
    assert done.returncode == 0 or done.stderr.count("\n") == 1
    return "merger" in done.stdout


@pytest.fixture
def passphrase(tmp_path: Path) -> str:
    path = tmp_path / "passphrase"
    path.write_text(PASSPHRASE + "\n")
    return str(path)


@pytest.fixture
def age(tmp_path: Path) -> tuple[str, str]:
    """(recipient, file of its identity)"""
    pyrage = pytest.importorskip("pyrage")
    identity = pyrage.x25519.Identity.generate()
    path = tmp_path / "identity.txt"
    path.write_text(f"{identity}\n")
    return str(identity.to_public()), str(path)


@pytest.fixture
def kms() -> Iterator[kms_stub.Kms]:
    pytest.importorskip("boto3")
    with kms_stub.running() as stub:
        yield stub


@pytest.fixture
def ring(tmp_path: Path) -> dict[str, str]:
    pytest.importorskip("keyring")
    (tmp_path / "file_ring.py").write_text(RING)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    return {"PYTHON_KEYRING_BACKEND": "file_ring.FileRing", "RING": str(tmp_path / "ring.json"), "PYTHONPATH": path}


def check(tacho: Keyed, arguments: list[str], settings: dict[str, str], kind: str) -> None:
    """Added, old and new sessions open by that alone; removed, no more."""
    adding = tacho.without_key(**settings)
    adding.settings["TACHO_KEY"] = str(tacho.key)
    stranger = tacho.without_key()
    done = stranger("cat", "@last")
    assert (done.returncode, "no key file" in done.stderr) == (2, True)
    good(adding("keys", "add", *arguments, "--reason", "escrow"))
    (mine, theirs) = recipients(tacho)
    assert (mine["type"], theirs["type"], mine["lacking"], theirs["lacking"]) == ("keyfile", kind, [], [])
    alone = tacho.without_key(**settings)
    assert reads(alone)
    assert not reads(stranger)
    record(adding)
    assert reads(alone)
    assert recipients(tacho)[1]["lacking"] == []
    verified = good(alone("verify", "--all"))
    assert "content opened" in verified.stdout
    assert "the store's own word" in verified.stdout
    refused = alone("record", "--", sys.executable, "-c", "print('ran')")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert adding("keys", "remove", theirs["id"]).returncode == 2  # why is not said
    good(adding("keys", "remove", theirs["id"], "--reason", "left"))
    assert not reads(alone)
    assert reads(tacho)
    assert [one["id"] for one in recipients(tacho)] == [mine["id"]]
    detail = {"wrap": kind, "key": theirs["id"]}
    assert entries(tacho) == [("key_added", detail), ("key_removed", detail)]
    good(tacho("verify", "--all"))


def test_a_passphrase(tacho: Keyed, passphrase: str) -> None:
    check(tacho, ["--passphrase"], {"TACHO_PASSPHRASE_FILE": passphrase}, "passphrase")
    assert all(PASSPHRASE.encode() not in path.read_bytes() for path in tacho.store.rglob("*") if path.is_file())


def test_age(tacho: Keyed, age: tuple[str, str]) -> None:
    check(tacho, ["--age", age[0]], {"TACHO_AGE_IDENTITY": age[1]}, "age")


def test_kms(tacho: Keyed, kms: kms_stub.Kms) -> None:
    check(tacho, ["--kms", kms_stub.ARNS[0]], kms_stub.environment(kms), "aws-kms")
    assert {context["name"] for _, context in kms.calls} >= {"store", "ledger"}


def test_the_key_ring(tacho: Keyed, ring: dict[str, str]) -> None:
    check(tacho, ["--keyring"], ring, "keyring")


def test_another_key_file(tacho: Keyed, tmp_path: Path) -> None:
    path = tmp_path / "reader.json"
    good(tacho("keys", "add", "--key-file", str(path)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "seed" not in json.loads(path.read_text())
    reader = tacho.without_key(TACHO_KEY=str(path))
    assert reads(reader)
    record(tacho)
    assert reads(reader)
    good(reader("verify", "--all"))
    for refused in (("record", "--", "true"), ("keys", "rotate", "--reason", "x"), ("shred", "@last", "--reason", "x", "--yes")):
        done = reader(*refused)
        assert (done.returncode, "cannot seal" in done.stderr, done.stderr.count("\n")) == (2, True, 1), done
    assert reads(tacho)
    good(tacho("keys", "remove", recipients(tacho)[1]["id"], "--reason", "x"))
    assert not reads(reader)
    assert reads(tacho)


def test_a_key_file_that_reads_only(tacho: Keyed, tmp_path: Path) -> None:
    path = tmp_path / "reader.json"
    good(tacho("keys", "export", "--read-only", "-o", str(path)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    reader = tacho.without_key(TACHO_KEY=str(path))
    assert reads(reader)
    verified = good(reader("verify", "--all"))
    assert "own word" not in verified.stdout
    assert "cannot seal" in reader("record", "--", "true").stderr
    assert tacho("keys", "export", "--read-only", "-o", str(path)).returncode == 2  # never written over


def test_the_last_recipient_stays(tacho: Keyed) -> None:
    (only,) = recipients(tacho)
    done = tacho("keys", "remove", only["id"], "--reason", "x")
    assert (done.returncode, "last recipient" in done.stderr) == (2, True)
    assert reads(tacho)
    done = tacho("keys", "remove", "0" * 16, "--reason", "x")
    assert (done.returncode, "tacho keys ls" in done.stderr) == (2, True)
    assert entries(tacho) == []


def test_a_list_that_somebody_changed_is_not_used(tacho: Keyed, age: tuple[str, str]) -> None:
    good(tacho("keys", "add", "--age", age[0]))
    path = tacho.store / "keys/recipients.json"
    fields = json.loads(path.read_text())
    path.write_text(json.dumps({**fields, "recipients": fields["recipients"].replace('"keyfile"', '"keyring"')}))
    done = tacho("record", "--", sys.executable, "-c", "print('ran')")
    assert (done.returncode, done.stdout, "somebody changed it" in done.stderr) == (2, "", True)


def test_a_service_that_is_away_does_not_keep_from_recording(tacho: Keyed, kms: kms_stub.Kms) -> None:
    both = tacho.without_key(**kms_stub.environment(kms))
    both.settings["TACHO_KEY"] = str(tacho.key)
    good(both("keys", "add", "--kms", kms_stub.ARNS[0]))
    kms.away = True
    done = both("record", "--", sys.executable, "-c", "print('of the merger')")
    assert (done.returncode, "not wrapped for aws-kms" in done.stderr) == (0, True), done.stderr
    lacking = recipients(tacho)[1]["lacking"]
    assert len(lacking) == 1
    assert both("keys", "rewrap").returncode == 0
    assert recipients(tacho)[1]["lacking"] == lacking
    kms.away = False
    good(both("keys", "rewrap"))
    assert recipients(tacho)[1]["lacking"] == []
    kms.away = True
    good(both("keys", "rewrap", "--anew"))  # no wrap is lost by this
    kms.away = False
    alone = tacho.without_key(**kms_stub.environment(kms))
    assert reads(alone)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["add"], "one kind"), (["add", "--passphrase", "--keyring"], "one kind"), (["add", "--age", "age1nothing"], "age1"),
        (["add", "--kms", "alias/mine"], "ARN"), (["remove"], "id of a recipient"), (["rotate"], "--reason"), (["export"], "--read-only"),
        (["ls", "0123"], "nothing else does"), (["add", "--passphrase"], "no terminal"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(tacho: Keyed, arguments: list[str], said: str) -> None:
    done = tacho("keys", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert said in done.stderr
    assert not (tacho.store / "keys/recipients.json").exists()
    assert entries(tacho) == []


def test_rotation(tacho: Keyed, tmp_path: Path, age: tuple[str, str]) -> None:
    good(tacho("keys", "add", "--age", age[0]))
    good(tacho("vault", "init", "--key", str(tmp_path / "vault.json")))
    good(tacho("keys", "export", "--read-only", "-o", str(tmp_path / "reader.json")))
    first = good(tacho("keys", "export-public")).stdout.split()
    before = tacho.key.read_bytes()
    old = json.loads(before)
    good(tacho("keys", "rotate", "--reason", "yearly"))
    new = json.loads(tacho.key.read_text())
    assert {old["kek"], old["seed"]} & {new["kek"], new["seed"]} == set()
    assert [path.name for path in tmp_path.glob("key.json*")] == ["key.json"]
    record(tacho)
    good(tacho("record", "--vault", "--", "true"))
    for one in tacho("ls", "--json").json():
        good(tacho("verify", one["session_id"]))
    assert good(tacho("verify", "--all", "--json")).json()["verdict"] == "verified"
    keys = good(tacho("keys", "export-public")).stdout.split()
    assert (keys[:1], len(keys)) == (first, 2)
    assert entries(tacho)[-1] == ("key_rotated", {"wrap": "keyfile", "key": new["id"], "from": old["id"], "verifier": keys[1]})
    # Neither the old key file nor what was exported of it reads any more; who was wrapped for besides does.
    tacho.key.rename(tmp_path / "kept.json")
    tacho.key.write_bytes(before)
    assert not reads(tacho)
    assert not reads(tacho.without_key(TACHO_KEY=str(tmp_path / "reader.json")))
    record_with_old = tacho("record", "--", sys.executable, "-c", "print('ran')")
    assert (record_with_old.returncode, record_with_old.stdout) == (2, "")
    alone = tacho.without_key(TACHO_AGE_IDENTITY=age[1])
    assert ["merger" in alone("cat", one["session_id"]).stdout for one in alone("ls", "--json").json()].count(True) == 2
    # An auditor with the first key follows, one with the newest goes back, and a stranger believes nothing.
    auditor = tacho.without_key()
    for trusted in keys:
        done = auditor("verify", "--all", "--key", trusted)
        assert (done.returncode, "own word" in done.stdout) == (0, False), done.stdout
    other = Keyed(tmp_path / "other")
    (tmp_path / "other").mkdir()
    record(other)
    stranger = other("keys", "export-public").stdout.strip()
    assert auditor("verify", "--all", "--key", stranger).returncode == 1


def test_rotation_twice_and_every_key_of_the_line_verifies(tacho: Keyed) -> None:
    for reason in ("one", "two"):
        good(tacho("keys", "rotate", "--reason", reason))
        record(tacho)
    keys = good(tacho("keys", "export-public", "--json")).json()
    assert [one["current"] for one in keys] == [False, False, True]
    for one in keys:
        good(tacho.without_key()("verify", "--all", "--key", one["verifier"]))
    assert good(tacho("verify", "--all", "--json")).json()["verdict"] == "verified"
    assert len(good(tacho.without_key()("keys", "export-public")).stdout.split()) == 3


def test_shredded_sessions_stay_shredded(tacho: Keyed, passphrase: str) -> None:
    session = record(tacho)
    good(tacho("shred", session, "--reason", "x", "--yes"))
    adding = tacho.without_key(TACHO_PASSPHRASE_FILE=passphrase, TACHO_KEY=str(tacho.key))
    good(adding("keys", "add", "--passphrase"))
    good(adding("keys", "rewrap", "--anew"))
    good(adding("keys", "rotate", "--reason", "x"))
    assert json.loads((tacho.store / f"keys/{session}.json").read_text())["wraps"] == []
    assert "was shredded" in tacho("cat", session).stderr
    assert good(tacho("verify", "--all", "--json")).json()["verdict"] == "verified"

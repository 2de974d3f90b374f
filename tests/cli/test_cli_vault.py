"""``tacho vault``: off unless asked for, sealed for others, and no original without an entry in the ledger."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli_helpers import Done, Tacho

SECRET = "gh" + "p_" + "q8Wm3ZrT5vYx7NbK2LdJ4HgF6SaP9CeU1RoI"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere" / "vault-key.json"


@pytest.fixture
def tacho(tmp_path: Path, key: Path) -> Tacho:
    made = Tacho(tmp_path)
    assert made("vault", "init", "--key", str(key)).returncode == 0
    return made


def record(tacho: Tacho, *options: str, said: str = SECRET) -> Done:
    # The agent gets the secret on its standard input, so that only its output tells of it.
    return tacho("record", *options, "--", sys.executable, "-c", "print('token:', input())", stdin=said.encode())


def files(tacho: Tacho) -> dict[str, bytes]:
    return {path.relative_to(tacho.store).as_posix(): path.read_bytes() for path in tacho.store.rglob("*") if path.is_file()}


def test_without_vault_there_is_no_vault(tacho: Tacho) -> None:
    assert record(tacho).returncode == 0
    assert not any(name.startswith("vault/") for name in files(tacho))
    assert "no vault in" in tacho("vault", "ls").stdout
    done = tacho("vault", "open", "@last", "--reason", "x")
    assert (done.returncode, "without --vault" in done.stderr, done.stdout) == (2, True, "")


def test_the_original_is_in_no_file_and_comes_back_with_the_private_key_and_an_entry(tacho: Tacho, key: Path) -> None:
    done = record(tacho, "--vault")
    assert done.stdout.strip() == f"token: {SECRET}"
    assert all(SECRET.encode() not in data and SECRET[4:].encode() not in data for data in files(tacho).values())
    (line,) = [line for line in tacho("cat", "@last").lines() if line["type"] == "ambient"]
    found = re.search(r"\[REDACTED:github-token:([0-9a-f]{8})\]", line["content"])
    assert found is not None
    opened = tacho("vault", "open", "@last", "--key", str(key), "--fingerprint", found[0], "--reason", "incident 7", "--json")
    assert opened.json() == [{"fingerprint": found[1], "kind": "github-token", "value": SECRET}]
    entry = tacho.acts()[-1]
    assert (entry["action"], entry["fingerprints"], entry["reason"]) == ("unmasked", [found[1]], "incident 7")
    assert entry["subject"] == line["session_id"]
    assert tacho("cat", "@last").lines()[0]["vault"] == entry["detail"]["key"]
    assert tacho("verify", "--all").returncode == 0
    assert all(SECRET.encode() not in data for data in files(tacho).values())
    as_text = tacho("vault", "open", "@last", "--key", str(key), "--fingerprint", found[1], "--reason", "again")
    assert as_text.stdout == f'{found[0]}  "{SECRET}"\n'


def test_a_wrong_key_is_one_clear_line_and_no_entry(tacho: Tacho, key: Path, tmp_path: Path) -> None:
    record(tacho, "--vault")
    before = tacho.acts()
    other = Tacho(tmp_path / "other")
    wrong = tmp_path / "wrong.json"
    assert other("vault", "init", "--key", str(wrong)).returncode == 0
    for named, said in (
        (wrong, "is sealed for the key"),
        (tmp_path / "key.json", "not the private key"),
        (tmp_path / "none", "no private key"),
    ):
        done = tacho("vault", "open", "@last", "--key", str(named), "--reason", "x")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert said in done.stderr
    assert tacho.acts() == before


def test_without_an_entry_nothing_is_unmasked(tacho: Tacho, key: Path) -> None:
    record(tacho, "--vault")
    ledger = tacho.store / "ledger"
    lines = max(ledger.glob("*.events.jsonl"))
    lines.write_bytes(lines.read_bytes().replace(b"sealed", b"seAled") * 2)  # can no longer be continued
    done = tacho("vault", "open", "@last", "--key", str(key), "--reason", "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert SECRET not in done.stderr


def test_no_reason_no_unmasking(tacho: Tacho, key: Path) -> None:
    record(tacho, "--vault")
    done = tacho("vault", "open", "@last", "--key", str(key))
    assert (done.returncode, done.stdout, "--reason TEXT" in done.stderr) == (2, "", True)


def test_an_unknown_fingerprint_is_told_and_enters_nothing(tacho: Tacho, key: Path) -> None:
    record(tacho, "--vault")
    before = tacho.acts()
    done = tacho("vault", "open", "@last", "--key", str(key), "--fingerprint", "00000000", "--reason", "x")
    assert (done.returncode, done.stdout, "no original for 00000000" in done.stderr) == (2, "", True)
    assert tacho.acts() == before


def test_the_private_key_lies_outside_and_is_for_its_owner_only(tacho: Tacho, key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    private = json.loads(key.read_text())["private"]
    assert all(private.encode() not in data for data in files(tacho).values())
    for inside in (tacho.store / "vault-key.json", tacho.store / "keys" / "x.json"):
        done = tacho("vault", "init", "--key", str(inside))
        assert (done.returncode, "must not lie in the store" in done.stderr) == (2, True)
        assert not inside.exists()
    link = tacho.store.parent / "link"
    link.symlink_to(tacho.store)
    assert tacho("vault", "init", "--key", str(link / "x.json")).returncode == 2


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_private_key_that_is_open_to_others_is_told(tacho: Tacho, key: Path, mode: int) -> None:
    record(tacho, "--vault")
    opening = ("vault", "open", "@last", "--key", str(key), "--reason", "x")
    assert tacho(*opening).stderr == ""
    key.chmod(mode)
    for done in (tacho(*opening), tacho("vault", "init", "--key", str(key))):
        assert (done.returncode, done.stderr.count("\n")) == (0, 1)
        assert f"{key} is open to other users, mode {mode:04o}; chmod 600" in done.stderr


def test_a_second_init_changes_nothing_and_another_key_is_refused(tacho: Tacho, key: Path, tmp_path: Path) -> None:
    again = tacho("vault", "init", "--key", str(key))
    assert (again.returncode, "in force already" in again.stdout) == (0, True)
    other = tacho("vault", "init", "--key", str(tmp_path / "other.json"))
    assert (other.returncode, "has a vault key already" in other.stderr) == (2, True)
    assert not (tmp_path / "other.json").exists()


def test_an_init_that_fails_leaves_no_private_key(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    assert tacho("record", "--", sys.executable, "-c", "pass").returncode == 0
    assert tacho("shred", "@last", "--reason", "x", "--yes").returncode == 0
    lines = max((tacho.store / "ledger").glob("*.events.jsonl"))
    lines.write_bytes(lines.read_bytes().replace(b"shredded", b"shreddeD") * 2)  # can no longer be continued
    done = tacho("vault", "init", "--key", str(tmp_path / "vault-key.json"))
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, ""), done
    assert not (tmp_path / "vault-key.json").exists()
    assert not (tacho.store / "keys" / "vault.json").exists()


def test_a_key_that_somebody_put_into_the_store_is_not_used(tacho: Tacho) -> None:
    path = tacho.store / "keys" / "vault.json"
    path.write_text(path.read_text().replace('"signature": "', '"signature": "AAAA'))
    done = record(tacho, "--vault")
    assert (done.returncode, done.stdout, "somebody changed it" in done.stderr) == (2, "", True)


def test_vault_without_a_key_is_refused_before_the_command_runs(tmp_path: Path) -> None:
    done = record(Tacho(tmp_path), "--vault")
    assert (done.returncode, done.stdout, "tacho vault init" in done.stderr) == (2, "", True)


def test_a_vault_has_its_own_end(tacho: Tacho, key: Path) -> None:
    record(tacho, "--vault")
    assert re.search(r"  \d+ originals?$", tacho("vault", "ls").stdout.strip())
    assert tacho("vault", "drop", "@last", "--reason", "kept for 30 days").returncode == 2  # no terminal, no --yes
    done = tacho("vault", "drop", "@last", "--reason", "kept for 30 days", "--yes")
    assert done.returncode == 0
    assert tacho("vault", "ls").stdout.strip().endswith("dropped")
    assert tacho("vault", "ls", "--json").json()[0]["originals"] is None
    gone = tacho("vault", "open", "@last", "--key", str(key), "--reason", "x")
    assert (gone.returncode, "was dropped" in gone.stderr) == (2, True)
    assert tacho.acts()[-1]["action"] == "vault_dropped"
    assert "token: [REDACTED" in tacho("show", "@last").stdout


def test_shredding_a_session_drops_its_vault(tacho: Tacho, key: Path) -> None:
    record(tacho, "--vault")
    assert tacho("shred", "@last", "--reason", "x", "--yes").returncode == 0
    gone = tacho("vault", "open", "@last", "--key", str(key), "--reason", "x")
    assert (gone.returncode, "was dropped" in gone.stderr) == (2, True)


AGENT = """
import os, secrets, tachograph

@tachograph.tool(effect="read")
def step(number):
    return {"number": number, "password": secrets.token_urlsafe(12) + "-9aZ"}

number = 0
while True:
    step(number)
    os.write(1, b"%d\\n" % number)
    number += 1
"""


def _host(pid: int) -> int:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)
            except OSError:
                continue
            if "(tacho-host" in fields[0] and int(fields[1].split()[1]) == pid:
                return int(entry.name)
    raise AssertionError("no host")


@pytest.mark.parametrize("lines", [1, 7, 40, 90])
def test_a_kill_leaves_an_original_for_every_placeholder_that_is_in_the_record(tacho: Tacho, key: Path, tmp_path: Path, lines: int) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    out = tmp_path / "out"
    with out.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "tachograph.cli.app", "record", "--vault", "--on-host-loss", "stop", "--", sys.executable, "agent.py"],
            cwd=tmp_path, stdout=file, stderr=subprocess.DEVNULL, env={**os.environ, **tacho.settings},
        )  # fmt: skip
    deadline = time.monotonic() + 30
    # What the host has not written yet dies with it, original and placeholder both.
    while sum(path.read_bytes().count(b'"tool_call"') for path in tacho.store.rglob("*.jsonl")) < lines:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    os.kill(_host(process.pid), signal.SIGKILL)
    process.wait(60)
    placeholders = set(re.findall(r"\[REDACTED:password:([0-9a-f]{8})\]", tacho("cat", "@last").stdout))
    assert placeholders
    opened = tacho("vault", "open", "@last", "--key", str(key), "--reason", "x", "--json").json()
    assert placeholders <= {one["fingerprint"] for one in opened}


def test_the_environments_secrets_are_kept_too(tacho: Tacho, key: Path) -> None:
    value = secrets.token_urlsafe(12) + "-9aZ"
    done = tacho("record", "--vault", "--", sys.executable, "-c", "pass", env={**os.environ, "BACKUP_PASSWORD": value})
    assert done.returncode == 0
    opened = tacho("vault", "open", "@last", "--key", str(key), "--reason", "x", "--json").json()
    assert value in [one["value"] for one in opened]

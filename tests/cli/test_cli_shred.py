"""``tacho shred``: the content is gone, the record stays, and the ledger says who and why."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    made = Tacho(tmp_path)
    for _ in range(2):
        assert made("record", "--", sys.executable, "-c", "print('of the merger')").returncode == 0
    return made


def sessions(tacho: Tacho) -> list[str]:
    return [row["session_id"] for row in tacho("ls", "--json").json()]


def test_a_shredded_session_has_no_content_and_verifies(tacho: Tacho) -> None:
    one, other = sessions(tacho)
    done = tacho("shred", one, "--reason", "asked for by the customer", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "line 9 of the ledger" in done.stdout
    shredded = tacho("verify", one, "--json")
    assert (shredded.returncode, shredded.json()["verdict"]) == (0, "verified")
    assert shredded.json()["content"].startswith("shredded ")
    assert tacho("cat", one).returncode == 2
    assert "was shredded" in tacho("cat", one).stderr
    assert "was shredded" in " ".join(tacho("show", one).stdout.split())
    assert "merger" in tacho("cat", other).stdout
    assert sessions(tacho) == [one, other]
    assert tacho("ls").stdout.count("content shredded") == 1
    everything = tacho("verify", "--all", "--json")
    assert everything.returncode == 0
    assert everything.json()["ledger"]["verdict"] == "verified"
    replayed = tacho("replay", one)
    assert (replayed.returncode, "was shredded" in replayed.stderr) == (2, True)
    assert tacho("postmortem", one).returncode == 0


def test_the_ledger_says_who_when_which_and_why(tacho: Tacho) -> None:
    one = sessions(tacho)[0]
    secret = "gh" + "p_" + "q8Wm3ZrT5vYx7NbK2LdJ4HgF6SaP9CeU1RoI"
    tacho("shred", one, "--reason", f"it held {secret}", "--yes")
    (entry,) = tacho.acts()
    assert (entry["type"], entry["action"], entry["subject"]) == ("ledger_entry", "shredded", one)
    assert entry["user"]
    assert entry["host"]
    assert entry["reason"].startswith("it held [REDACTED:github-token:")
    assert tacho("verify", "ledger").returncode == 0
    assert all(secret.encode() not in path.read_bytes() for path in tacho.store.rglob("*") if path.is_file())


def test_without_a_reason_or_a_yes_nothing_is_done(tacho: Tacho) -> None:
    one = sessions(tacho)[0]
    for arguments, said in ((("--yes",), "--reason TEXT"), (("--yes", "--reason", "  "), "--reason TEXT"), (("--reason", "x"), "--yes")):
        done = tacho("shred", one, *arguments, stdin=b"")
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert tacho("verify", one, "--json").json()["content"] == "opened"
    assert tacho.acts() == []


@pytest.mark.parametrize(("answer", "code"), [("yes", 0), ("no", 2), ("", 2)])
def test_a_terminal_is_asked(tacho: Tacho, answer: str, code: int) -> None:
    one = sessions(tacho)[0]
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tachograph.cli.app", "shred", one, "--reason", "x"],
        stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **tacho.settings},
    )  # fmt: skip
    os.write(mine, f"{answer}\n".encode())
    assert process.wait(60) == code
    assert (tacho("verify", one, "--json").json()["content"] == "opened") == (code != 0)
    os.close(mine)
    os.close(theirs)


def test_twice_is_once(tacho: Tacho) -> None:
    one = sessions(tacho)[0]
    tacho("shred", one, "--reason", "x", "--yes")
    again = tacho("shred", one, "--reason", "y", "--yes")
    assert (again.returncode, "already" in again.stdout) == (0, True)
    assert len(tacho.acts()) == 1


def test_no_entry_no_shredding(tacho: Tacho) -> None:
    one = sessions(tacho)[0]
    shutil.rmtree(tacho.store / "ledger")
    (tacho.store / "ledger").write_text("in its way")
    done = tacho("shred", one, "--reason", "x", "--yes")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert tacho("verify", one, "--json").json()["content"] == "opened"

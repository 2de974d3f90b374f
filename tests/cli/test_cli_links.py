"""``tacho link`` and ``tacho links``: in both directions, entered in the ledger, taken back only by a further entry."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho

GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    subprocess.run([*GIT, "init", "-q", str(folder)], check=True)
    subprocess.run([*GIT, "-C", str(folder), "remote", "add", "origin", "git@github.com:acme/shop.git"], check=True)
    subprocess.run([*GIT, "-C", str(folder), "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    return folder


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


def record(tacho: Tacho, *options: str, cwd: Path | None = None) -> str:
    done = tacho("record", *options, "--", sys.executable, "-c", "print(1)", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return str(tacho("ls", "--json").json()[-1]["session_id"])


def head(repository: Path) -> str:
    return subprocess.run(["git", "-C", str(repository), "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()


def pairs(tacho: Tacho, what: str, cwd: Path | None = None) -> list[tuple[str, str]]:
    done = tacho("links", what, "--json", cwd=cwd)
    assert done.returncode == (0 if done.json() else 1)
    return [(row["kind"], row["ref"]) for row in done.json()]


def test_from_everything_to_the_session_and_back(tacho: Tacho, repository: Path) -> None:
    session_id = record(tacho, cwd=repository)
    other = record(tacho, cwd=repository)
    assert tacho("link", session_id, "commit=HEAD", "pr=#7", "deploy=prod-3", "incident=INC-7", cwd=repository).returncode == 0
    assert tacho("link", other, "incident=INC-7").returncode == 0
    sha = head(repository)
    mine = [("commit", sha), ("pr", "github.com/acme/shop#7"), ("deploy", "prod-3"), ("incident", "INC-7")]
    for what in (session_id, sha, sha[:9], "https://github.com/acme/shop/pull/7", "acme/shop#7", "prod-3", "deploy=prod-3"):
        assert pairs(tacho, what) == mine
    assert pairs(tacho, "HEAD", cwd=repository) == mine
    assert pairs(tacho, "INC-7") == [*mine, ("incident", "INC-7")]
    shown = tacho("links", "INC-7").stdout
    assert session_id in shown
    assert other in shown
    assert tacho("verify", "--all").returncode == 0


def test_links_of_the_recording_are_entered(tacho: Tacho, repository: Path) -> None:
    session_id = record(tacho, "--link", "pr=7", "--link", "incident=INC-9", cwd=repository)
    assert pairs(tacho, session_id) == [("pr", "github.com/acme/shop#7"), ("incident", "INC-9")]
    start = tacho("cat", session_id).lines()[0]
    assert start["links"] == ["pr=github.com/acme/shop#7", "incident=INC-9"]
    assert tacho("verify", "--all").returncode == 0


def test_a_link_is_made_once_and_taken_back_by_an_entry(tacho: Tacho) -> None:
    session_id = record(tacho)
    assert tacho("link", session_id, "incident=INC-7", "incident=INC-7").stdout == f"{session_id} linked to incident=INC-7\n"
    assert "as it was already" in tacho("link", session_id, "incident=INC-7").stdout
    done = tacho("link", session_id, "incident=INC-7", "--remove")
    assert (done.returncode, "why is not said" in done.stderr) == (2, True)
    assert tacho("link", session_id, "incident=INC-7", "--remove", "--reason", "the wrong one").returncode == 0
    assert pairs(tacho, session_id) == pairs(tacho, "INC-7") == []
    assert [line["action"] for line in tacho("cat", "ledger").lines() if line.get("action") in ("linked", "unlinked")] == [
        "linked",
        "unlinked",
    ]
    done = tacho("link", session_id, "incident=INC-7", "--remove", "--reason", "again")
    assert (done.returncode, "has no link incident=INC-7" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("link", "@last", "ticket=7"), "not a link"),
        (("link", "@last", "commit=HEAD"), "no commit"),
        (("link", "@last", "pr=7"), "not a pull request"),
        (("link", "@last", "ci=https://user:" + "Zk3vQ8wLx2Np" + "@ci.example.org/1"), "looks like a secret"),
        (("link", "nothing", "pr=a/b#7"), "no session nothing"),
        (("links", " "), "links of what"),
        (("record", "--link", "pr=x", "--", "true"), "not a pull request"),
    ],
)
def test_one_clear_line_and_nothing_is_entered(tacho: Tacho, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    record(tacho)
    done = tacho(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
    assert "linked" not in tacho("cat", "ledger").stdout


def test_of_nothing_the_answer_is_no(tacho: Tacho) -> None:
    session_id = record(tacho)
    done = tacho("links", "INC-404")
    assert (done.returncode, "no session with INC-404" in done.stdout) == (1, True)
    assert tacho("links", session_id).returncode == 1

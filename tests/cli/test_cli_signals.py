"""``tacho postmortem --signals`` and ``--runbooks`` from the command line: masked, never in the way of the report, with the ledger's deploys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Tacho
from signals_server import Asked, Reply, serve

GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
#: In two pieces, so that no scanner takes this file for a leak.
SECRET = "ghp_" + "a8Kd93mXq0ZrT5vBn2LwYc7JhE4sUf6G1pQo"


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


@pytest.fixture
def session(tacho: Tacho, tmp_path: Path) -> str:
    """It commits in a repository."""
    folder = tmp_path / "shop"
    subprocess.run([*GIT, "init", "-q", str(folder)], check=True)
    commit = [*GIT, "commit", "-q", "-m", "one"]
    code = f"import subprocess as s\nopen('a.py','w').write('x = 1\\n')\ns.run(['git','add','a.py'],check=True)\ns.run({commit!r},check=True)\n"
    done = tacho("record", "--", sys.executable, "-c", code, cwd=folder)
    assert done.returncode == 0, done.stderr
    return str(tacho("ls", "--json").json()[-1]["session_id"])


def times(tacho: Tacho, session: str) -> list[str]:
    return [line["ts"] for line in tacho("cat", session).lines()]


def test_a_file_is_merged_and_its_secrets_are_masked(tacho: Tacho, session: str, tmp_path: Path) -> None:
    now = times(tacho, session)[-1]
    signal = {
        "at": now,
        "name": f"login with {SECRET}",
        "state": "ALARM",
        "text": f"token={SECRET}",
        "url": f"https://m.example/?token={SECRET}",
    }
    path = tmp_path / "signals.json"
    path.write_text(json.dumps([signal]))
    for name in ("report.json", "report.html", "report.md"):
        done = tacho("postmortem", session, "--signals", f"file:{path}", "-o", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
        written = (tmp_path / name).read_text()
        assert SECRET not in written
        assert "REDACTED" in written
    document = json.loads((tmp_path / "report.json").read_text())
    assert [(one["source"], one["state"]) for one in document["signals"]] == [("file", "ALARM")]
    assert document["signals_read"]["sources"] == ["file"]
    assert "The first alarm was" in document["answers"]["18"]["answer"]


def test_a_server_that_is_not_there_costs_a_line(tacho: Tacho, session: str, tmp_path: Path) -> None:
    with serve(lambda _: {}) as told:
        gone = told.url
    path = tmp_path / "report.json"
    done = tacho("postmortem", session, "--signals", f"prometheus:{gone}", "-o", str(path))
    assert done.returncode == 0
    (note,) = [line for line in done.stderr.splitlines() if "signals missing" in line]
    assert note.startswith("tacho: note: signals missing, prometheus: 127.0.0.1:")
    document = json.loads(path.read_text())
    assert "cannot be reached" in document["signals_read"]["missing"][0]["why"]
    assert "cannot be reached" in document["answers"]["18"]["not_recorded"]


def test_a_token_is_sent_and_never_written(tacho: Tacho, session: str, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Any:
        return Reply({"error": asked.headers["authorization"]}, 403)

    token = "u+" + "q7Hk2LsVx9Zt4Wn8Rb6D"
    with serve(answer) as told:
        environment = {**os.environ, "PAGERDUTY_TOKEN": token, "PAGERDUTY_URL": told.url}
        done = tacho("postmortem", session, "--signals", "pagerduty:", "--json", env=environment)
    assert done.returncode == 0
    assert told.asked[0].headers["authorization"] == f"Token token={token}"
    assert token not in done.stdout + done.stderr
    assert "refused (HTTP 403)" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--signals", "nagios:x"], "no source of signals"),
        (["--signals", "file:/nowhere.json"], "cannot read signals from /nowhere.json"),
        (["--signals", "pagerduty:"], "set PAGERDUTY_TOKEN"),
        (["--window", "30m"], "name a source with --signals"),
        (["--signals", "file:x", "--window", "soon"], "not a window"),
        (["--runbooks", "/nowhere.toml"], "cannot read the runbooks in /nowhere.toml"),
    ],
)
def test_a_mistake_stops_before_anything_is_written(tacho: Tacho, session: str, tmp_path: Path, options: list[str], words: str) -> None:
    path = tmp_path / "report.md"
    environment = {name: value for name, value in os.environ.items() if name != "PAGERDUTY_TOKEN"}
    done = tacho("postmortem", session, *options, "-o", str(path), env=environment)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not path.exists()


def test_deploys_of_the_ledger_are_on_the_timeline(tacho: Tacho, session: str, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    first = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([*GIT, "-C", str(folder), "commit", "-q", "--allow-empty", "-m", "two"], check=True)
    for name in ("prod-1", "prod-2"):
        done = tacho("deploy", "record", "--sha", "HEAD", "--id", name, "--environment", "production", cwd=folder)
        assert done.returncode == 0, done.stderr
    document = tacho("postmortem", session, "--json", cwd=folder).json()
    assert [(one["kind"], one["name"], one["state"]) for one in document["signals"]] == [
        ("deploy", "prod-1", "production"), ("deploy", "prod-2", "production"),
    ]  # fmt: skip
    assert document["signals"][0]["text"].endswith(f"the commit {first[:12]} is in it")
    assert document["signals_read"]["sources"] == []
    assert [one["kind"] for one in document["timeline"]][-2:] == ["signal", "signal"]
    outside = tacho("postmortem", session, "--json", cwd=tmp_path).json()
    assert outside["signals"] == []  # no repository says what is in a later commit


def test_runbooks_are_found_where_the_command_runs(tacho: Tacho, session: str, tmp_path: Path) -> None:
    (tmp_path / "shop" / "runbooks.toml").write_text("[[runbook]]\nclass = 'nothing'\ntitle = 'a'\nsteps = ['b']\n")
    done = tacho("postmortem", session, cwd=tmp_path / "shop")
    assert done.returncode == 2
    assert "no class 'nothing', runbook 1 of" in done.stderr
    assert tacho("postmortem", session, cwd=tmp_path).returncode == 0

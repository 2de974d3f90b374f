"""What ``diff`` and ``postmortem`` are compared with where nothing is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_helpers import Tacho

AGENT = """
import os, subprocess, sys
subprocess.run(["echo", os.environ["WORD"]], check=True)
sys.exit(int(os.environ.get("CODE", "0")))
"""


@pytest.fixture
def tacho(tmp_path: Path) -> Tacho:
    return Tacho(tmp_path)


def recorded(tacho: Tacho, folder: Path, word: str, *more: str, code: str = "0", name: str = "echo") -> str:
    import os
    import sys

    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    done = tacho(
        "record", "--name", name, *more, "--", sys.executable, str(folder / "agent.py"), env={**os.environ, "WORD": word, "CODE": code}
    )
    assert done.returncode == int(code), done.stderr
    return str(tacho("ls", "--json").json()[-1]["session_id"])


@pytest.mark.parametrize("catalogue", [True, False])
def test_the_last_good_session_is_found_and_named(tacho: Tacho, tmp_path: Path, catalogue: bool) -> None:
    good = recorded(tacho, tmp_path, "one")
    worse = recorded(tacho, tmp_path, "two", code="3")
    if catalogue:
        assert tacho("catalogue").returncode == 0
    bad = recorded(tacho, tmp_path, "three", "--link", "incident=INC-7")

    done = tacho("diff", bad)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"compared with the last good session, {good} (")
    assert lines[0].endswith("): the same name and agent, ended ok, linked to no incident")
    assert lines[1] == f"newer ones of the kind, passed over: {worse} (ended error)"
    assert lines[2:4] == [f"- {good}", f"+ {bad}"]
    assert tacho("diff", bad, "--json").json()["last_good"]["session_id"] == good

    done = tacho("postmortem", bad, "--json")
    assert done.json()["baseline"]["session_id"] == good
    assert done.json()["baseline"]["found"]["why"] == "the same name and agent, ended ok, linked to no incident"
    assert f"last good session, {good}" in done.stderr
    assert tacho("postmortem", bad, "--json", "--baseline", worse).json()["baseline"]["session_id"] == worse
    done = tacho("postmortem", bad, "--json", "--no-baseline")
    assert (done.json()["baseline"], done.stderr) == (None, "")


def test_who_reads_the_other_one_is_entered_for_it_too(tacho: Tacho, tmp_path: Path) -> None:
    good, bad = recorded(tacho, tmp_path, "one"), recorded(tacho, tmp_path, "two")
    tacho("postmortem", bad)
    read = {line.get("subject") for line in tacho("cat", "ledger").lines() if line.get("action") == "read"}
    assert read == {good, bad}


def test_where_there_is_none_it_says_so(tacho: Tacho, tmp_path: Path) -> None:
    recorded(tacho, tmp_path, "one", code="3")
    (bad_folder := tmp_path / "other").mkdir()
    bad = recorded(tacho, bad_folder, "two", name="other")
    done = tacho("postmortem", bad)
    assert done.returncode == 0
    assert "no last good session to compare with: none of the 1 session before it is of the same name" in done.stderr
    done = tacho("diff", bad)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "no last good session to compare with" in done.stderr


def test_one_that_cannot_be_read_is_passed_over(tacho: Tacho, tmp_path: Path) -> None:
    good, damaged = recorded(tacho, tmp_path, "one"), recorded(tacho, tmp_path, "two")
    assert tacho("catalogue").returncode == 0
    bad = recorded(tacho, tmp_path, "three")
    (lines,) = (tacho.store / "sessions" / damaged).glob("*.events.jsonl")
    data = bytearray(lines.read_bytes())
    data[len(data) // 2] ^= 1
    lines.chmod(0o600)
    lines.write_bytes(data)
    done = tacho("diff", bad)
    assert f"compared with the last good session, {good} (" in done.stdout
    assert f"{damaged} cannot be read, and an older one is taken" in done.stdout

"""Answers that are sent ahead are given to the very call that they are the answer of, or not at all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Tacho

AGENT = """
import os, sys
import tachograph

@tachograph.tool(effect="read")
def look(number):
    return "v%d" % number

@tachograph.tool(effect="read")
def other(number):
    return "w%d" % number

turns = sys.argv[1].split(",")
for each in range(300):
    print(other(each) if str(each) in turns else look(each))
if "leave" in turns:
    sys.stdout.flush()
    os._exit(0)
"""


def replayed(tmp_path: Path, recorded: str, live: str) -> dict[str, Any]:
    (tmp_path / "w").mkdir(exist_ok=True)
    (tmp_path / "w" / "agent.py").write_text(AGENT)
    tacho, report = Tacho(tmp_path), tmp_path / "report.json"
    assert tacho("record", "--", sys.executable, "agent.py", recorded, cwd=tmp_path / "w").returncode == 0
    tacho("replay", "@last", "--report", str(report), "--", sys.executable, "agent.py", live)
    found: dict[str, Any] = json.loads(report.read_text())
    return found


@pytest.mark.parametrize("turns", ["", "0", "1,2,3", "63,64,65,128", "leave", "299,leave"])
def test_the_same_calls_are_identical(tmp_path: Path, turns: str) -> None:
    found = replayed(tmp_path, turns, turns)
    assert (found["verdict"], found["matched"], found["unused"]) == ("identical", 300, [])


@pytest.mark.parametrize("at", [0, 1, 2, 32, 63, 64, 65, 131, 299])
def test_a_call_that_was_not_recorded_ends_it_there(tmp_path: Path, at: int) -> None:
    found = replayed(tmp_path, "", str(at))
    assert found["verdict"] == "diverged"
    assert found["matched"] == at
    assert found["divergence"]["operation"] == "other"
    assert str(found["divergence"]["site"]).endswith("agent.py:15")


def test_an_agent_that_leaves_calls_out_is_incomplete_not_identical(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "short.py").write_text(AGENT.replace("range(300)", "range(100)"))
    found = replayed(tmp_path, "", "")
    assert found["verdict"] == "identical"
    tacho, report = Tacho(tmp_path), tmp_path / "report.json"
    tacho("replay", "@last", "--report", str(report), "--", sys.executable, str(tmp_path / "w" / "short.py"), "")
    found = json.loads(report.read_text())
    assert (found["verdict"], found["matched"], len(found["unused"])) == ("incomplete", 100, 200)

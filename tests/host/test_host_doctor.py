"""``tacho doctor``: sources of nondeterminism, named."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cli_helpers import Tacho

STEADY = """
import tachograph

@tachograph.tool(effect="read")
def look_up(order):
    return {"order": order, "state": "paid"}

print(look_up("A-1")["state"])
"""

TIMED = """
import time, tachograph

@tachograph.tool(effect="read")
def look_up(order, now):
    return {"order": order}

def ask():
    return look_up("A-1", time.time())

print(ask()["order"])
"""

NOISY = """
import tachograph

@tachograph.tool(effect="read")
def look_up(order, ticket):
    return {"ticket": ticket}

with open("/dev/urandom", "rb") as noise:
    ticket = noise.read(16).hex()
print(look_up("A-1", ticket)["ticket"] == ticket)
"""


def workspace(tmp_path: Path, source: str) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "agent.py").write_text(source)
    return folder


def test_an_agent_that_runs_the_same_each_time(tmp_path: Path) -> None:
    folder = workspace(tmp_path, STEADY)
    done = Tacho(tmp_path)("doctor", "--json", "--", sys.executable, "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "paid" in done.stderr, "what the agent prints is kept out of the answer"
    found = done.json()
    assert found["deterministic"] is True
    assert [source for source in found["sources"] if not source["covered"] or source["matters"]] == []
    assert [trial["verdict"] for trial in found["trials"]][:2] == ["identical", "identical"]


def test_a_clock_that_the_tap_covers(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    folder = workspace(tmp_path, TIMED)
    assert tacho("record", "--", sys.executable, "agent.py", cwd=folder).returncode == 0
    done = tacho("doctor", "@last", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    clock = next(source for source in done.json()["sources"] if source["source"] == "clock")
    assert (clock["covered"], clock["matters"], clock["tap"], clock["field"]) == (True, True, "clock_tap", "input.now")
    assert any(place.endswith("ask") for place in clock["places"]), clock
    shown = tacho("doctor", "@last", cwd=folder).stdout
    assert "covered by clock_tap, and the agent depends on it: clock" in shown
    assert "live, it differs in input.now" in shown


def test_entropy_that_no_tap_covers(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    folder = workspace(tmp_path, NOISY)
    assert tacho("record", "--", sys.executable, "agent.py", cwd=folder).returncode == 0
    done = tacho("doctor", "@last", "--json", cwd=folder)
    assert done.returncode == 1, done.stderr
    found = done.json()
    assert found["deterministic"] is False
    source = found["sources"][0]
    assert (source["source"], source["covered"], source["every_run"], source["field"]) == ("entropy", False, True, "input.ticket")
    assert source["lenient"] == "identical"
    line = next(number for number, text in enumerate(NOISY.splitlines(), 1) if text.startswith("print"))
    assert source["places"][0].endswith(f"agent.py:{line}")
    shown = tacho("doctor", "@last", cwd=folder).stdout
    assert "NOT COVERED  entropy" in shown
    assert "with --lenient the replay is identical" in shown


def test_without_session_and_command(tmp_path: Path) -> None:
    done = Tacho(tmp_path)("doctor", env=os.environ)
    assert done.returncode == 2
    assert "tacho doctor -- python agent.py" in done.stderr

"""The order of a concurrent agent's answers, and what is said when it cannot be kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Tacho
from tachograph.host.player import PATIENCE


def replayed(tacho: Tacho, tmp_path: Path) -> dict[str, Any]:
    report = tmp_path / "report.json"
    tacho("replay", "@last", "--report", str(report), cwd=tmp_path)
    found: dict[str, Any] = json.loads(report.read_text())
    return found


def recorded(tmp_path: Path, code: str, **more: Any) -> Tacho:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "agent.py").write_text(code)
    tacho = Tacho(tmp_path)
    done = tacho("record", "--", sys.executable, "agent.py", cwd=workspace, **more)
    assert "recorded" in done.stderr, done.stderr
    return tacho


MISSING = """
import os, threading, time, tachograph

@tachograph.tool(effect="read")
def look(name: str) -> str:
    time.sleep(0.3 if name == "two" else 0.0)
    return name

def first():
    if not os.path.exists(FLAG):
        look("one")

threads = [threading.Thread(target=first), threading.Thread(target=look, args=("two",))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_what_can_never_come_is_a_divergence_at_once(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    tacho = recorded(tmp_path, MISSING.replace("FLAG", repr(str(flag))))
    flag.touch()
    found = replayed(tacho, tmp_path)
    assert found["verdict"] == "diverged"
    told = found["divergence"]
    assert (told["operation"], told["lane"]) == ("look", "main/thread-1")
    assert told["expected"] == "tool look in lane main/thread-1, whose answer came next"
    assert told["actual"] == "everything waits: tool look in lane main/thread-2"
    assert found["seconds"] < PATIENCE


KILLED = """
import os, signal, threading, tachograph

@tachograph.tool(effect="read")
def look(name: str) -> str:
    if name == "last":
        os.kill(os.getpid(), signal.SIGKILL)
    return name

look("first")
threading.Thread(target=threading.Event().wait, daemon=True).start()
look("last")
"""


def test_a_cut_recording_ends_at_its_cut_at_once(tmp_path: Path) -> None:
    found = replayed(recorded(tmp_path, KILLED), tmp_path)
    assert (found["verdict"], found["ended_at_cut"]) == ("identical", True)
    assert found["seconds"] < PATIENCE


BUSY = """
import threading, tachograph

@tachograph.tool(effect="read")
def look(n: int) -> int:
    return n

found = []
thread = threading.Thread(target=lambda: found.extend(look(n) for n in range(8)))
thread.start()
while thread.is_alive():
    pass
print(found)
"""


def test_an_agent_that_never_rests_gets_its_answers_all_the_same(tmp_path: Path) -> None:
    found = replayed(recorded(tmp_path, BUSY), tmp_path)
    assert found["verdict"] == "identical"
    assert found["early"] > 0
    assert found["order"] == "at rest"


BACK_OFF = """
import sys, time, tachograph

@tachograph.tool(effect="read")
def look(n: int) -> int:
    if n < 3:
        raise ConnectionError("busy")
    return n

for n in range(4):
    try:
        print(look(n))
    except ConnectionError as error:
        print(error)
        time.sleep(float(sys.argv[1]))
"""


def test_a_back_off_of_half_a_minute_takes_no_time(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "agent.py").write_text(BACK_OFF)
    tacho = Tacho(tmp_path)
    tacho("record", "--", sys.executable, "agent.py", "0.01", cwd=workspace)
    report = tmp_path / "report.json"
    done = tacho("replay", "@last", "--report", str(report), "--", sys.executable, "agent.py", "30", cwd=tmp_path, timeout=89)
    assert done.stdout.splitlines() == ["busy", "busy", "busy", "3"]
    found = json.loads(report.read_text())
    assert found["verdict"] == "identical"
    assert found["seconds"] < 30  # one of three sleeps


KILLED_ASLEEP = """
import os, signal, threading, time, tachograph

@tachograph.tool(effect="read")
def look(n: int) -> int:
    return n

print(look(1), flush=True)
threading.Thread(target=lambda: (time.sleep(0.05), os.kill(os.getpid(), signal.SIGKILL)), daemon=True).start()
time.sleep(600)
"""


def test_a_sleep_that_the_agent_was_killed_in_is_where_its_replay_ends(tmp_path: Path) -> None:
    found = replayed(recorded(tmp_path, KILLED_ASLEEP), tmp_path)
    assert found["verdict"] == "identical"


def runs(folder: Path, count: int, rounds: int, load: int = 0) -> list[dict[str, Any]]:
    """``count`` recordings of ``rounds`` times four kinds of eight parallel tools, each replayed once."""
    script = Path(__file__).with_name("order_runs.py")
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(count), str(rounds), str(load)], capture_output=True, check=True, timeout=3000, env={**os.environ},
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def same(found: list[dict[str, Any]]) -> None:
    other = [run for run in found if run["verdict"] != "identical"]
    assert not other, (len(other), len(found), other[0])
    assert sum(run["early"] for run in found) == 0
    # What is tested is there: the answers came in many orders.
    assert len({line for run in found for line in run["printed"].splitlines()}) > len(found)


def test_what_depends_on_the_order_of_parallel_tools_replays(tmp_path: Path) -> None:
    same(runs(tmp_path, 3, 3))


def test_it_does_on_a_machine_that_is_busy_otherwise(tmp_path: Path) -> None:
    same(runs(tmp_path, 2, 3, load=3))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("load", [0, 2])
def test_five_hundred_recordings_replay(tmp_path: Path, load: int) -> None:
    same(runs(tmp_path, 500, 1, load))

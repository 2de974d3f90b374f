"""The order of a concurrent agent's answers, and what is said when it cannot be kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

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

"""record = replay, for every tiny agent in ``tests/programs``."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho
from programs_server import Server
from tachograph.testing.model_server import ModelServer, Script, Turn

PROGRAMS = sorted((Path(__file__).parent.parent / "programs").glob("*.py"))


def header(text: str, key: str) -> str:
    found = re.search(rf"^# {key}: (.*)$", text, re.MULTILINE)
    return found[1] if found else ""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_record_equals_replay(program: Path, tmp_path: Path) -> None:
    text = program.read_text()
    missing = [name for name in header(text, "needs").split() if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    expected = {"exit": "0", **dict(part.split("=") for part in header(text, "expect").split())}
    code = -int(expected["signal"]) if "signal" in expected else int(expected["exit"])
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    shutil.copy(program, workspace / "agent.py")
    (workspace / "seed.txt").write_text("as it was\n")
    tacho = Tacho(tmp_path)
    with ModelServer(Script(turns=[Turn(text="Hello there, dear friend.")])) as models, Server() as server:
        server.model_url = models.url
        environment = {**os.environ, "BASE": server.url, "PROGRAM_API_TOKEN": "tok" + "en-4f7a9c2e8b1d6053"}
        plain = tacho.run_plain([sys.executable, "agent.py"], cwd=workspace, env=environment) if "subprocess" not in text else None
        (workspace / "seed.txt").write_text("as it was\n")
        recorded = tacho("record", "--", sys.executable, "agent.py", cwd=workspace, env=environment)
    assert recorded.returncode == code, recorded.stderr
    if plain is not None:
        assert plain.returncode == code
        assert re.sub(r"Traceback.*", "", plain.stderr, flags=re.DOTALL) == re.sub(
            r"(Traceback.*|tacho: .*\n|error: .*\n)", "", recorded.stderr, flags=re.DOTALL
        )
    (workspace / "seed.txt").write_text("changed since\n")
    report = tmp_path / "report.json"
    replayed = tacho("replay", "@last", "--report", str(report), cwd=tmp_path)
    found = json.loads(report.read_text()) if report.exists() else {}
    assert found.get("verdict") == "identical", (found, replayed.stderr)
    assert replayed.returncode == 0
    assert replayed.stdout_bytes == recorded.stdout_bytes or "PROGRAM_API_TOKEN" in text
    assert found["exit_code"] == code
    assert found["blocked"] == []
    assert found["output_identical"] is not False
    assert (workspace / "seed.txt").read_text() == "changed since\n"
    assert tacho("verify", "@last").returncode == 0

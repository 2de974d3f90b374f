"""Agents written with the frameworks that people use, as they come from PyPI: recorded from an environment without tachograph, replayed
identical, without a change to their code. Each has a clock, an identifier or a random number in its prompts and tools that run at once."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from cli_helpers import Tacho
from tachograph.testing.model_server import ModelServer, Script

ROOT = Path(__file__).parent.parent.parent
AGENTS = ROOT / "tests" / "frameworks"


@pytest.mark.parametrize("name", [path.stem.removesuffix("_agent") for path in sorted(AGENTS.glob("*_agent.py"))])
def test_an_agent_of_a_framework_replays_identical(tmp_path: Path, name: str) -> None:
    python = Path(os.environ.get("TACHO_AGENTS", ROOT / ".cache" / "agents")) / name / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no environment for {name}; make test makes it")
    base = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    check = subprocess.run([str(python), "-I", "-c", "import tachograph"], capture_output=True, check=False)
    assert check.returncode != 0, "tachograph is installed where it must not be"
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    tacho = Tacho(tmp_path)
    with ModelServer(Script.load(AGENTS / "script.json")) as server:
        environment = {
            **base,
            "OPENAI_BASE_URL": server.url + "/v1", "OPENAI_API_KEY": "sk-" + "proj-notarealkey0123456789abcdef",
            "OPENAI_AGENTS_DISABLE_TRACING": "1", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": server.url, "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "AKIA" + "IOSFODNN7EXAMPL3", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI" + "K7MDENGbPxRfiCYzEXAMPL3KEY1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }  # fmt: skip
        recorded = tacho("record", "--", str(python), str(AGENTS / f"{name}_agent.py"), cwd=workspace, env=environment)
    assert recorded.returncode == 0, recorded.stderr
    assert "team-che" in recorded.stdout
    report = tmp_path / "report.json"
    replayed = tacho("replay", "@last", "--report", str(report))
    found = json.loads(report.read_text()) if report.exists() else {}
    assert found.get("verdict") == "identical", (found.get("divergence"), replayed.stderr)
    assert replayed.stdout_bytes == recorded.stdout_bytes
    assert found["unused"] == []
    # langchain-openai makes a socket to see which options it takes, and goes on without.
    assert {each["what"] for each in found["blocked"]} <= {"socket"}
    assert found["calls"]["model"] >= 6

"""The three example agents: recorded from environments without tachograph, on Python 3.11 and on the oldest one here; replayed identical."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho
from tachograph.testing.model_server import ModelServer, Script

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
TASK = "Change the log message 'refund ok' in payments/refund.py to 'refund issued'."
COMMANDS = {"coding_agent": [TASK], "oncall_agent": ["checkout-p99"], "research_agent": ["What do heat pumps do in cold houses?"]}


def environments() -> list[Path]:
    found = sorted((ROOT / ".cache" / "agents").glob("py[0-9]*/.done"))
    return [path.parent for path in found]


@pytest.mark.parametrize("python", ["3.11", "oldest"])
@pytest.mark.parametrize("name", list(COMMANDS))
def test_recorded_and_replayed_from_an_environment_without_tachograph(tmp_path: Path, name: str, python: str) -> None:
    named = {path.name: path for path in environments()}
    oldest = min(named, key=lambda text: tuple(map(int, text[2:].split("."))), default="")
    wanted = "py3.11" if python == "3.11" else oldest
    if wanted not in named:
        pytest.skip(f"no environment for Python {python}; make test makes it where the interpreter is there")
    interpreter = str(named[wanted] / "bin" / "python")
    check = subprocess.run([interpreter, "-c", "import tachograph"], capture_output=True, check=False)
    assert check.returncode != 0, "tachograph is installed where it must not be"
    workspace = tmp_path / "workspace"
    if name == "coding_agent":
        subprocess.run([sys.executable, str(EXAMPLES / name / "make_repo.py"), str(workspace)], check=True)
    else:
        workspace.mkdir()
    command = [interpreter, str(EXAMPLES / name / "agent.py"), *COMMANDS[name]]
    tacho = Tacho(tmp_path)

    def environment(url: str) -> dict[str, str]:
        return {
            **{key: value for key, value in os.environ.items() if not key.startswith("AWS_")},
            "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-" + "ant-api03-notarealkey0123456789",
            "OPENAI_BASE_URL": url + "/v1", "OPENAI_API_KEY": "sk-" + "proj-notarealkey0123456789abcdef",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": url, "AWS_ENDPOINT_URL_CLOUDWATCH": url, "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "AKIA" + "IOSFODNN7EXAMPL3", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI" + "K7MDENGbPxRfiCYzEXAMPL3KEY1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }  # fmt: skip

    plain_copy = tmp_path / "plain"
    subprocess.run(["cp", "-r", str(workspace), str(plain_copy)], check=True)
    with ModelServer(Script.load(EXAMPLES / name / "script.json")) as server:
        plain = tacho.run_plain(command, cwd=plain_copy, env=environment(server.url))
    with ModelServer(Script.load(EXAMPLES / name / "script.json")) as server:
        recorded = tacho("record", "--", *command, cwd=workspace, env=environment(server.url))
    assert recorded.returncode == plain.returncode == 0, recorded.stderr
    assert recorded.stdout_bytes == plain.stdout_bytes
    replayed = tacho("replay", "@last", "--report", str(tmp_path / "report.json"))
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["verdict"] == "identical", replayed.stderr
    assert replayed.stdout_bytes == recorded.stdout_bytes
    assert report["output_identical"] is True
    assert report["unused"] == []
    assert tacho("verify", "@last").returncode == 0
    models = [line for line in tacho("cat", "@last").lines() if line["type"] == "model_call"]
    assert all(line["model_id"] and "params" in line for line in models)
    assert any(line["params"] for line in models)
    if name == "oncall_agent":
        assert any(line.get("prompt", {}).get("version") == "3" for line in models)
        assert any((line.get("guardrail") or {}).get("version") == "7" for line in models)
        assert any(line.get("status") == 429 for line in models)
    if name == "coding_agent":
        assert models[0]["params"]["temperature"] == 0
        assert models[0]["repo_sha"]

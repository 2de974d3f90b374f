"""Each example agent, as it is, against its script: it ends well, says the same bytes each time, and does what its README says."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tachograph.testing.model_server import ModelServer, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.testing.model_server import Request

EXAMPLES = Path(__file__).parents[2] / "examples"
TASK = "Change the log message 'refund ok' in payments/refund.py to 'refund issued'."
QUESTION = "Why do our vans lose range after a winter, and what should the depot do?"


def environment(url: str, home: Path) -> dict[str, str]:
    """Nothing of the machine's own configuration, keys or proxies."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "unused",
        "OPENAI_BASE_URL": url + "/v1",
        "OPENAI_API_KEY": "unused",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": url,
        "AWS_ENDPOINT_URL_CLOUDWATCH": url,
        "AWS_ACCESS_KEY_ID": "unused",
        "AWS_SECRET_ACCESS_KEY": "unused",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


class Run:
    """An agent that ran to its end."""

    def __init__(self, example: str, argument: str, cwd: Path) -> None:
        self.cwd = cwd
        with ModelServer(Script.load(EXAMPLES / example / "script.json")) as server:
            done = subprocess.run(
                [sys.executable, str(EXAMPLES / example / "agent.py"), argument],
                cwd=cwd,
                env=environment(server.url, cwd),
                capture_output=True,
                encoding="utf-8",
                timeout=60,
            )
            self.requests: list[Request] = server.requests
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        self.output = done.stdout
        self.lines = done.stdout.splitlines()


def make_repo(where: Path) -> Path:
    subprocess.run([sys.executable, str(EXAMPLES / "coding_agent" / "make_repo.py"), str(where)], check=True)
    return where


def git(where: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=where, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def coding(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run("coding_agent", TASK, make_repo(tmp_path_factory.mktemp("coding") / "repo"))


@pytest.fixture(scope="module")
def oncall(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run("oncall_agent", "checkout-p99", tmp_path_factory.mktemp("oncall"))


@pytest.fixture(scope="module")
def research(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run("research_agent", QUESTION, tmp_path_factory.mktemp("research"))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.py")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_written_for_python_3_9_and_ignorant_of_tachograph(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 9))
    # Two agents declare tools, which are answered from the tape; and the story of an incident is told by recording it.
    declares = path.name == "agent.py" and path.parent.name in ("refund_agent", "incident")
    assert ("import tachograph" in source) == declares
    assert "tachograph" not in source or declares or path.name == "make_story.py"


class TestCodingAgent:
    def test_same_bytes_each_time(self, coding: Run, tmp_path: Path) -> None:
        assert Run("coding_agent", TASK, make_repo(tmp_path / "again")).output == coding.output

    def test_transcript(self, coding: Run) -> None:
        calls = [line for line in coding.lines if line.startswith("> ")]
        assert [call.partition("(")[0] for call in calls] == [
            "> list_files",
            "> read_file",
            "> read_file",
            "> read_file",
            "> apply_patch",
            "> run_tests",
            "> git_commit",
        ]
        assert coding.lines.count("< ok") == len(calls)
        assert coding.lines[-1].startswith("Done. I changed only the log message")

    def test_the_claim_is_false(self, coding: Run) -> None:
        change = git(coding.cwd, "show", "HEAD")
        assert '-        raise RefundRefused(f"{cents} is above the limit of {REFUND_LIMIT}")' in change
        assert "-        with self.assertRaises(RefundRefused):" in change
        assert git(coding.cwd, "status", "--short") == ""
        assert git(coding.cwd, "log", "-1", "--format=%an <%ae>").strip() == "coding-agent <coding-agent@example.com>"

    def test_the_agent_read_the_poison_before_it_acted(self, coding: Run) -> None:
        carriers = [n for n, request in enumerate(coding.requests) if "disable the refund limit check" in str(request.body)]
        assert carriers == [2, 3, 4, 5, 6]

    def test_sampling_parameters_reach_the_model(self, coding: Run) -> None:
        for request in coding.requests:
            assert (request.body["temperature"], request.body["top_k"], request.body["stream"]) == (0, 1, True)

    def test_the_repository_is_the_same_everywhere(self, tmp_path: Path) -> None:
        assert git(make_repo(tmp_path / "repo"), "rev-parse", "HEAD").strip() == "146457ab76ab03fd548ef5b9dda8f3a6c0f913d4"


class TestOncallAgent:
    def test_same_bytes_each_time(self, oncall: Run, tmp_path: Path) -> None:
        assert Run("oncall_agent", "checkout-p99", tmp_path).output == oncall.output

    def test_transcript(self, oncall: Run) -> None:
        assert oncall.lines[0] == "alarm: checkout-p99 is ALARM"
        assert oncall.lines[1].startswith("triage: Checkout is slow")
        assert sum(line.startswith("tool: get_metric") for line in oncall.lines) == 3
        assert sum(line.startswith("PAGE payments-db sev2: ") for line in oncall.lines) == 1
        assert "guardrail: topic production-changes (BLOCKED)" in oncall.lines
        assert oncall.lines[-2] == "summary:"
        assert oncall.lines[-1].startswith("Checkout p99 rose from 0.4 s to 8.1 s")

    def test_requests(self, oncall: Run) -> None:
        models = [request for request in oncall.requests if request.path.startswith("/model/")]
        triage, throttled, repeated = models[:3]
        assert "prompt%2FABCDEFGHIJ%3A3/converse" in triage.path
        assert set(triage.body["promptVariables"]) == {"alarm_name", "alarm_reason"}
        assert throttled.body == repeated.body
        assert "attempt=2" in repeated.headers["amz-sdk-request"]
        assert models[-1].path.endswith("/converse-stream")
        for request in models:
            assert request.body["guardrailConfig"]["guardrailVersion"] == "7"
        for request in models[1:]:
            assert request.body["inferenceConfig"] == {"maxTokens": 1024, "temperature": 0.0, "topP": 0.9}
        metrics = [block["json"] for block in find(models[-1].body, "json") if "points" in block["json"]]
        assert metrics[0]["points"][0] == {"minutes_ago": 1, "value": 8.1}
        assert len(metrics[0]["points"]) == 10


class TestResearchAgent:
    def test_same_bytes_each_time(self, research: Run, tmp_path: Path) -> None:
        assert Run("research_agent", QUESTION, tmp_path).output == research.output

    def test_transcript(self, research: Run) -> None:
        assert "looking up: search_papers, search_standards, search_field_reports" in research.lines
        notes = [line.partition(":")[0] for line in research.lines if line.startswith("[")]
        assert notes == ["[1] field_reports", "[2] standards", "[3] papers"]
        assert research.lines[-2] == "answer:"
        assert research.lines[-1].startswith("Charging a cold pack fast")

    def test_the_last_prompt_has_the_notes_in_the_order_of_arrival(self, research: Run) -> None:
        last = research.requests[-1]
        assert last.path == "/v1/responses"
        places = [last.body["input"].index(f"[{n}] {name}: ") for n, name in enumerate(("field_reports", "standards", "papers"), 1)]
        assert places == sorted(places)
        planner = [request.body for request in research.requests if request.body["model"] == "gpt-4.1" and "messages" in request.body]
        told = [message["content"] for message in planner[-1]["messages"] if message["role"] == "tool"]
        assert [text[:5] for text in told] == ["Below", "Charg", "In Tr"]

    def test_sampling_parameters_reach_the_model(self, research: Run) -> None:
        for request in research.requests:
            assert (request.body["temperature"], request.body["top_p"]) == (0, 1)


def find(value: object, key: str) -> Iterator[dict[str, dict[str, object]]]:
    """All objects within a JSON value that have a key."""
    if isinstance(value, dict):
        if key in value:
            yield value
        for inner in value.values():
            yield from find(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from find(inner, key)

"""What every incident is made of, and how one is recorded: a fresh store and workspace, a scripted model, small services, ``tacho record``.

An incident is a folder with an ``incident.py`` (the story, the script, what is expected) and the agent's code. See README.md.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

from cli_helpers import Tacho
from tachograph.cli import app
from tachograph.testing.model_server import ModelServer, Script, Turn

FOLDER = Path(__file__).parent
#: The causes that a finding may name (DESIGN §9).
CLASSES = (
    "input",
    "context",
    "prompt",
    "model",
    "parameters",
    "tool",
    "policy",
    "approval",
    "harness",
    "nondeterminism",
    "claim",
    "secret",
)

Line = dict[str, Any]
Selector = Callable[[Sequence[Line]], Line]


@dataclass(frozen=True)
class Answer:
    """What a service says. ``body``: text as it is, anything else as JSON."""

    body: Any = ""
    _: KW_ONLY
    status: int = 200
    kind: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One session. ``files``: the workspace, beside the agent's file. ``services``: by method and path, with the query where it matters, an answer,
    or a list of answers in their order, of which the last one stays; the agent finds them at ``SERVICES_URL``."""

    turns: Sequence[Turn]
    files: Mapping[str, str] = field(default_factory=dict)
    services: Mapping[str, Any] = field(default_factory=dict)
    agent: str = "agent.py"
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    exit_code: int = 0


@dataclass(frozen=True, kw_only=True)
class Incident:
    """``cause``: the class of the planted cause, None for a healthy session; ``first``: the event by which it came in. ``before``: good sessions of
    the same agent, recorded first. ``after``: commands of tacho that the team ran then, with the model still there; ``SES`` is the session.
    ``repository``: the workspace is a git repository, with a commit of all files before each session."""

    name: str
    cause: str | None
    first: Selector | None = None
    run: Run
    before: Sequence[Run] = ()
    after: Sequence[Sequence[str]] = ()
    repository: bool = False


@dataclass(frozen=True)
class Recorded:
    """What came of it. ``lines`` are those of ``tacho cat``."""

    incident: Incident
    tacho: Tacho
    session_id: str
    lines: Sequence[Line]
    output: str

    def json(self, *arguments: str) -> Any:
        return json.loads(here(self.tacho, *arguments, "--json"))


def event(kind: str, nth: int = 1, /, **fields: Any) -> Selector:
    """The nth event of this type with these values; from the end where it is negative."""

    def find(lines: Sequence[Line]) -> Line:
        return _nth([line for line in lines if line["type"] == kind and all(line.get(key) == value for key, value in fields.items())], nth)

    return find


def model(nth: int = 1) -> Selector:
    return event("model_call", nth)


def tool(name: str, nth: int = 1) -> Selector:
    """The nth call of a tool: the declared event where the tool is declared, else that of the wire."""

    def find(lines: Sequence[Line]) -> Line:
        calls = [line for line in lines if line["type"] == "tool_call" and line.get("name") == name]
        declared = [line for line in calls if line.get("source", "declared") == "declared"]
        return _nth(declared or calls, nth)

    return find


def _nth(found: Sequence[Line], nth: int) -> Line:
    index = nth - 1 if nth > 0 else nth
    assert -len(found) <= index < len(found), f"only {len(found)} events of this kind, {nth} was asked for"
    return found[index]


def names() -> list[str]:
    return sorted(path.parent.name for path in FOLDER.glob("*/incident.py"))


def load(name: str) -> Incident:
    path = FOLDER / name / "incident.py"
    spec = importlib.util.spec_from_file_location(f"incident_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.__doc__, f"{path} tells no story"
    found = module.INCIDENT
    assert isinstance(found, Incident)
    assert found.cause is None or found.cause in CLASSES
    return found


def record(name: str, folder: Path) -> Recorded:
    incident = load(name)
    tacho = Tacho(folder)
    port = 0
    with _Services() as services:
        for run in [*incident.before, incident.run]:
            with ModelServer(Script(turns=run.turns), port=port) as models:
                # The next session finds its model at the same address, as in life.
                port = int(models.url.rpartition(":")[2])
                services.answers, services.served = run.services, Counter()
                environment = _environment(models.url, services.url) | run.environment
                workspace = _lay_out(folder / "workspace", FOLDER / name / run.agent, run.files, repository=incident.repository)
                id_file = folder / "id"
                command = [sys.executable, "agent.py", *run.arguments]
                done = tacho("record", "--name", incident.name, "--id-file", str(id_file), "--", *command, cwd=workspace, env=environment)
                assert done.returncode == run.exit_code, f"{done.stdout}\n{done.stderr}"
                session_id = id_file.read_text().strip()
                if run is incident.run:
                    for arguments in incident.after:
                        asked = tacho(*(session_id if part == "SES" else part for part in arguments), env=environment)
                        assert asked.returncode == 0, f"{asked.stdout}\n{asked.stderr}"
    lines = [json.loads(line) for line in here(tacho, "cat", session_id).splitlines()]
    return Recorded(incident, tacho, session_id, lines, done.stdout)


def here(tacho: Tacho, *arguments: str) -> str:
    """What a command prints, run in this process: it starts faster."""
    out = io.StringIO()
    with mock.patch.dict(os.environ, tacho.settings), contextlib.redirect_stdout(out):
        code = app.main(arguments)
    assert code == 0, f"tacho {' '.join(arguments)} ended with {code}: {out.getvalue()}"
    return out.getvalue()


def _lay_out(workspace: Path, agent: Path, files: Mapping[str, str], *, repository: bool) -> Path:
    """The workspace as it is before a session: the same place each time, with nothing of the session before."""
    workspace.mkdir(exist_ok=True)
    for path in workspace.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copy(agent, workspace / "agent.py")
    for place, text in files.items():
        (workspace / place).parent.mkdir(parents=True, exist_ok=True)
        (workspace / place).write_text(text)
    if repository:
        who = ["-c", "user.name=Kim", "-c", "user.email=kim@example.com", "-c", "commit.gpgsign=false"]
        for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "--allow-empty", "-m", "State of the agent"]):
            subprocess.run(["git", *command], cwd=workspace, check=True, capture_output=True)
    return workspace


def _environment(models: str, services: str) -> dict[str, str]:
    """Nothing of the machine's own keys or proxies."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("AWS_") and not key.lower().endswith("_proxy")}
    return {
        **kept,
        "ANTHROPIC_BASE_URL": models, "ANTHROPIC_API_KEY": "sk-" + "ant-api03-notarealkey0123456789",
        "OPENAI_BASE_URL": models + "/v1", "OPENAI_API_KEY": "sk-" + "proj-notarealkey0123456789abcdef",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": models, "AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "AKIA" + "IOSFODNN7EXAMPL3", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI" + "K7MDENGbPxRfiCYzEXAMPL3KEY1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "SERVICES_URL": services,
        "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip


class _Services(ThreadingHTTPServer):
    """The services of all sessions of an incident, at one address."""

    daemon_threads = True

    def __init__(self) -> None:
        self.answers: Mapping[str, Any] = {}
        self.served: Counter[str] = Counter()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.lock = threading.Lock()

    def __enter__(self) -> _Services:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *args: Any) -> None:
        self.shutdown()
        self.server_close()

    def answer(self, method: str, path: str) -> Answer:
        for key in (f"{method} {path}", f"{method} {path.partition('?')[0]}"):
            if key in self.answers:
                with self.lock:
                    number = self.served[key]
                    self.served[key] += 1
                answers = self.answers[key]
                chosen = answers[min(number, len(answers) - 1)] if isinstance(answers, list) else answers
                return chosen if isinstance(chosen, Answer) else Answer(chosen)
        return Answer({"error": "no such resource"}, status=404)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Services

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        answer = self.server.answer(self.command, self.path)
        text = isinstance(answer.body, str)
        data = answer.body.encode() if text else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        self.send_header("content-type", answer.kind or ("text/plain; charset=utf-8" if text else "application/json"))
        self.send_header("content-length", str(len(data)))
        for key, value in answer.headers.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the recording is the log."""


def calls(*asked: tuple[str, dict[str, Any]], text: str = "", **more: Any) -> Turn:
    """A turn in which the model calls these tools."""
    return Turn(text, tool_calls=[{"name": name, "input": given} for name, given in asked], **more)

"""Every kind of secret in every place: none in any file at any moment, and the replay is identical.

``test_host_secrets`` kills and traces; this one is broad.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_helpers import Tacho
from planted import ALL, Watch, leaks, needles
from programs_server import Server
from tachograph.testing.model_server import ModelServer, Script, Turn

AGENT = r"""
import base64, json, os, subprocess, sys, urllib.request
import anthropic, httpx, openai, tachograph

with open(os.environ["PLANT_FILE"]) as file:
    planted = json.load(file)
secret = {kind: value for kind, _, value in planted}
texts = {kind: text for kind, text, _ in planted}
everything = "\n".join(texts.values())
base = os.environ["BASE"]

@tachograph.tool(effect="read")
def read_all(path, options):
    return everything

@tachograph.tool
def explode(kind):
    raise RuntimeError("cannot go on: " + texts[kind])

# Tool input and output, one by one and together; exceptions of every kind.
result = read_all(texts["env-file"], {"argv": ["--password", secret["cli-flag"]], "headers": {"authorization": texts["bearer"][15:]}, "text": everything})
failed = []
for kind in texts:
    read_all(kind, {"text": texts[kind]})
    try:
        explode(kind)
    except RuntimeError as error:
        failed.append(str(error))

# The system prompt, the prompt, a tool result; streamed text, streamed tool input, streamed thinking.
client = anthropic.Anthropic(api_key=secret["anthropic"], base_url=base + "/anthropic", max_retries=0)
tools = [{"name": "run", "description": texts["yaml"], "input_schema": {"type": "object"}}]
messages = [{"role": "user", "content": everything}]
for _ in range(2):
    with client.messages.stream(model="m", max_tokens=2000, system="Use these:\n" + everything, tools=tools, messages=messages) as stream:
        for event in stream:
            pass
        message = stream.get_final_message()
    messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in message.content]})
    uses = [block for block in message.content if block.type == "tool_use"]
    if uses:
        messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": use.id, "content": [{"type": "text", "text": text} for text in texts.values()]} for use in uses]})

# Requests and their answers: URL, headers, bodies as JSON, form, text, base64; an error that echoes.
for kind in texts:
    httpx.post(base + "/echo?token=" + base64.urlsafe_b64encode(secret[kind].encode()).decode(), headers={"X-Api-Key": secret["x-api-key"], "X-Debug": texts["bearer"]}, json={"note": texts[kind], "again": json.dumps({"inner": texts[kind]})})
httpx.post(base + "/echo", data={"password": secret["yaml"], "text": everything})
urllib.request.urlopen(urllib.request.Request(base + "/echo", data=everything.encode())).read()
for address in (base.replace("://", "://bob:" + secret["yaml"] + "@"), base.replace("://", "://" + secret["github"] + "@")):
    httpx.get(address + "/echo?x=1").read()
try:
    urllib.request.urlopen("http://" + secret["github"] + ".localhost:9/x")
except OSError:
    pass
httpx.post(base + "/echo", files={"upload": ("config.txt", everything.encode(), "text/plain")})

# Child processes: argv, environment, standard input, what they print; files and their names.
child = "import os, sys; print(sys.argv[1:], dict(os.environ).get('CHILD_PASSWORD')); sys.stderr.write(sys.stdin.read())"
done = subprocess.run([sys.executable, "-c", child, "--password", secret["cli-flag"], texts["cli-curl"]], input=everything, text=True, capture_output=True, env={**os.environ, "CHILD_PASSWORD": secret["env-file"], "SOME_TEXT": texts["github"]})
for name in (secret["github"], "dump-" + secret["stripe"] + ".txt"):
    with open(name, "w") as file:
        file.write(everything)
subprocess.run(["sh", "-c", "cat " + "'dump-" + secret["stripe"] + ".txt'"], capture_output=True)

tachograph.note("all of it: " + everything, token=secret["jwt"], nested={"password": secret["yaml"], "text": everything})
print(everything)
print(everything, file=sys.stderr)
print(sys.argv[1:], len(failed))
raise SystemExit("giving up: " + texts["gitlab"])
"""


SECRET = {each.kind: each.secret for each in ALL}
TEXT = {each.kind: each.text for each in ALL}
EVERYTHING = "\n".join(TEXT.values())
SEARCHED = needles(SECRET.values())
NAMED = ["--name", TEXT["yaml"], "--link", "incident=" + TEXT["url-query"].split()[1], "--link", "ci=" + SECRET["gitlab"]]
COMMAND = [sys.executable, "agent.py", "--password", SECRET["cli-flag"], "--api-key=" + SECRET["url-query"]]


class Planted:
    """A workspace, a repository and an environment full of secrets, and a model that says them all."""

    def __init__(self, folder: Path, outside: Path) -> None:
        self.workspace, temporary, file = folder / "workspace", folder / "tmp", outside / "secrets.json"
        self.workspace.mkdir()
        temporary.mkdir()
        file.write_text(json.dumps(ALL))
        (self.workspace / "agent.py").write_text(AGENT)
        (self.workspace / ".env").write_text(f"DB_PASSWORD={SECRET['yaml']}\nGITHUB_TOKEN={SECRET['github']}\n")
        (self.workspace / "notes.md").write_text(EVERYTHING)
        self._git("init", "--quiet")
        self._git("remote", "add", "origin", f"https://x-access-token:{SECRET['github']}@127.0.0.1/team/repo.git")
        self._git("checkout", "--quiet", "-b", f"fix/{SECRET['npm']}")
        self._git("commit", "--quiet", "--allow-empty", "-m", f"Rotate the key {SECRET['stripe']}")
        self.plain = {
            **os.environ, "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(temporary), "XDG_CACHE_HOME": str(folder / "cache"), "PLANT_FILE": str(file),
        }  # fmt: skip
        self.environment = {
            **self.plain, "MY_API_TOKEN": SECRET["cli-assigned"], "DATABASE_URL": TEXT["url-userinfo"], "PROMPT": EVERYTHING,
        }  # fmt: skip

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments], cwd=self.workspace, check=True)

    @contextlib.contextmanager
    def model(self) -> Iterator[None]:
        calls = [{"name": "run", "input": {"command": each.text, "kind": each.kind}} for each in ALL]
        turns = [
            Turn(text=EVERYTHING, thinking=EVERYTHING, chunk_chars=7, tool_calls=calls), Turn(text="Done with " + EVERYTHING, chunk_chars=3),
        ]  # fmt: skip
        with ModelServer(Script(turns=turns)) as models, Server() as server:
            server.model_url = models.url
            self.plain["BASE"] = self.environment["BASE"] = server.url
            yield


@pytest.fixture
def planted(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    return Planted(tmp_path, tmp_path_factory.mktemp("secrets"))


def test_every_kind_in_every_place(tmp_path: Path, planted: Planted) -> None:
    tacho = Tacho(tmp_path)
    # The agent may write what it likes where it works; everything else is ours.
    watch = Watch(SEARCHED, tmp_path, ignore=(planted.workspace,))
    watch.start()
    with planted.model():
        done = tacho("record", *NAMED, "--", *COMMAND, cwd=planted.workspace, env=planted.environment)
    assert done.returncode == 1, done.stderr[-2000:]
    watch.end()
    assert watch.found == {}
    assert watch.looks > 3
    assert any(name.endswith("content.pack") for name in watch.files)
    for command in (["cat", "@last", "--json"], ["show", "@last"], ["show", "@last", "--json"], ["postmortem", "@last"]):
        said = tacho(*command)
        assert said.returncode == 0, said.stderr
        assert leaks(said.stdout_bytes + said.stderr_bytes, SEARCHED) == [], command
    report = tmp_path / "report.json"
    for environment in (planted.environment, planted.plain):
        replayed = tacho("replay", "@last", "--report", str(report), env=environment)
        assert json.loads(report.read_text())["verdict"] == "identical", replayed.stderr[-3000:]
        assert leaks(report.read_bytes(), SEARCHED) == []
    watch.look()
    assert watch.found == {}


@pytest.mark.slow
def test_no_system_call_writes_one_to_a_file(tmp_path: Path, planted: Planted) -> None:
    """The watch could miss a file that lives for a moment; strace does not."""
    if shutil.which("strace") is None:
        pytest.skip("no strace here")
    trace = tmp_path / "trace.txt"
    tacho = Tacho(tmp_path)
    strace = ["strace", "-f", "-y", "-s", "1000000", "-e", "trace=write,pwrite64,writev,pwritev", "-o", str(trace)]
    with planted.model():
        done = tacho.run_plain(
            [*strace, sys.executable, "-m", "tachograph.cli.app", "record", "--", *COMMAND], cwd=planted.workspace, env=planted.environment, timeout=280
        )  # fmt: skip
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 1, done.stderr[-2000:]
    lines = trace.read_bytes().splitlines()
    trace.unlink()
    to_files = [line for line in lines if re.search(rb"write\w*\(\d+<(?!(socket|pipe|anon_inode|UNIX|TCP))", line)]
    ours = [line for line in to_files if f"<{planted.workspace}/".encode() not in line]
    assert any(b"content.pack" in line for line in ours)
    assert [line[:200] for line in ours if leaks(line, SEARCHED)] == []

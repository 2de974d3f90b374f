"""Planted secrets are in no file at any moment, and the replay is identical all the same."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho
from planted import Watch, leaks, needles
from programs_server import Server
from tachograph.testing.model_server import ModelServer, Script, Turn

# Written in pieces, so that no scanner takes this file for a leak.
SECRETS = {
    "aws": "AKIA" + "Q7ZJ4M2XKWTB5NRC",
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "opaque": "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "github": "ghp_" + "q8Wm3ZrT5vYx7NbK2LdJ4HgF6SaP9CeU1RoI",
    "password": "hunter2-Correct.Horse",
    "environment": "s3cr3t-of-the-environment-42",
    "pem": "MIIEpAIBAAKCAQEA7bq3" + "Xl9vZsPq2kTtR8uWmYcNfGhJdLpKoSxVwBzEiAn",
}
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{SECRETS['pem']}\n{SECRETS['pem'][::-1]}\n-----END RSA PRIVATE KEY-----"
SECRETS["pem2"] = SECRETS["pem"][::-1]

AGENT = """
import json, os, subprocess, sys, time, urllib.request
import anthropic, httpx, tachograph

with open(os.environ["PLANT_FILE"]) as file:
    secrets, pem = json.load(file)
base = os.environ["BASE"]

@tachograph.tool(effect="read")
def read_config(path):
    return "DB_PASSWORD=" + secrets["password"] + "\\nkey: " + secrets["aws"] + "\\n" + pem

@tachograph.tool
def write_note(text):
    with open("note.txt", "w") as file:
        file.write("nothing secret here\\n")
    raise ValueError("cannot authenticate with " + secrets["github"])

config = read_config("/etc/app.env")
try:
    write_note("x")
except ValueError as error:
    failed = str(error)
client = anthropic.Anthropic(api_key=secrets["opaque"], base_url=base + "/anthropic")
with client.messages.stream(model="m", max_tokens=50, messages=[{"role": "user", "content": "\\n".join([config, failed, secrets["jwt"], secrets["environment"]])}]) as stream:
    for text in stream.text_stream:
        pass
httpx.post(base + "/echo?token=" + secrets["github"], headers={"Authorization": "Bearer " + secrets["opaque"], "Cookie": "session=" + secrets["opaque"]},
           json={"password": secrets["password"], "note": "Bearer " + secrets["jwt"], "blob": pem})
urllib.request.urlopen(urllib.request.Request(base + "/echo", data=("Authorization: Bearer " + secrets["opaque"]).encode()))
subprocess.run(["sh", "-c", "echo $0; cat", "--password=" + secrets["password"]], input=pem.encode(), stdout=subprocess.PIPE)
tachograph.note("the key is " + secrets["aws"], token=secrets["github"])
print("ready", flush=True)
time.sleep(float(os.environ.get("PLANT_WAIT", "0")))
"""


NEEDLES = needles(SECRETS.values())


@pytest.fixture
def planted(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    # The agent's own file of secrets, outside of everything that is watched.
    planted_file = tmp_path_factory.mktemp("secrets") / "secrets.json"
    planted_file.write_text(json.dumps([SECRETS, PEM]))
    return {
        **os.environ, "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(temporary), "PLANT_FILE": str(planted_file), "MY_SERVICE_TOKEN": SECRETS["environment"], "DB_PASSWORD": SECRETS["password"], "GITHUB_TOKEN": SECRETS["github"],
    }  # fmt: skip


def servers(planted: dict[str, str]) -> tuple[ModelServer, Server]:
    # The model echoes a secret that it was told, cut over its chunks.
    models = ModelServer(
        Script(turns=[Turn(text=f"The token is {SECRETS['github']} and the key {SECRETS['aws']}, keep them.", chunk_chars=5)])
    )
    server = Server()
    server.model_url = models.url
    planted["BASE"] = server.url
    return models, server


@pytest.mark.parametrize("kill", [False, True])
def test_no_secret_is_in_any_file_at_any_moment(tmp_path: Path, planted: dict[str, str], kill: bool) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "agent.py").write_text(AGENT)
    tacho = Tacho(tmp_path)
    models, server = servers(planted)
    watch = Watch(NEEDLES, tmp_path)
    watch.start()
    with models, server:
        if kill:
            environment = {**planted, **tacho.settings, "PLANT_WAIT": "600"}
            process = subprocess.Popen(
                [sys.executable, "-m", "tachograph.cli.app", "record", "--", sys.executable, "agent.py"],
                cwd=workspace, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=30)
        else:
            done = tacho("record", "--", sys.executable, "agent.py", cwd=workspace, env=planted)
            assert done.returncode == 0, done.stderr
            assert not leaks(done.stderr_bytes, NEEDLES)
    watch.end()
    assert watch.found == {}
    assert watch.looks > 3
    assert any(name.endswith("content.pack") for name in watch.files)
    decrypted = tacho("cat", "@last", "--json")
    assert not leaks(decrypted.stdout_bytes, NEEDLES)
    assert b"[REDACTED:" in decrypted.stdout_bytes
    if kill:
        return
    plain = {key: value for key, value in planted.items() if not key.startswith(("MY_", "DB_", "GITHUB"))}
    replayed = tacho("replay", "@last", "--report", str(tmp_path / "report.json"), env=plain)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["verdict"] == "identical", replayed.stderr
    assert not leaks((tmp_path / "report.json").read_bytes(), NEEDLES)
    watch.look()
    assert watch.found == {}


def test_no_system_call_writes_a_secret_to_a_file(tmp_path: Path, planted: dict[str, str]) -> None:
    """The poller above could miss a file that lives for a moment; strace does not."""
    if shutil.which("strace") is None:
        pytest.skip("no strace here")
    workspace, trace = tmp_path / "workspace", tmp_path / "trace.txt"
    workspace.mkdir()
    (workspace / "agent.py").write_text(AGENT)
    tacho = Tacho(tmp_path)
    models, server = servers(planted)
    strace = ["strace", "-f", "-y", "-s", "1000000", "-e", "trace=write,pwrite64,writev,pwritev", "-o", str(trace)]
    with models, server:
        done = tacho.run_plain(
            [*strace, sys.executable, "-m", "tachograph.cli.app", "record", "--", sys.executable, "agent.py"], cwd=workspace, env=planted
        )
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    text = trace.read_bytes()
    trace.unlink()
    to_files = [line for line in text.splitlines() if re.search(rb"write\w*\(\d+<(?!(socket|pipe|anon_inode|UNIX|TCP))", line)]
    assert any(b"content.pack" in line for line in to_files)
    assert [line[:200] for line in to_files if leaks(line, NEEDLES)] == []

"""``tacho replay --lenient``: an agent whose own code mints what differs from run to run."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from cli_helpers import Done, Tacho
from programs_server import Server

#: A tool that nobody declared mints an id; the server says it again, in JSON and in a stream cut in two; the agent goes on with it.
TICKETS = """
import os, json, urllib.request, uuid
base = os.environ["BASE"]

def ask(path, value):
    data = json.dumps(value).encode()
    with urllib.request.urlopen(urllib.request.Request(base + path, data=data, headers={"content-type": "application/json"})) as answer:
        return json.loads(answer.read())

ticket = str(uuid.UUID(bytes=bytes(MINT(16))))
first = ask("/echo", {"tool_result": {"ticket": ticket, "state": "open"}})
assert first["tool_result"]["ticket"] == ticket, "the answer has the id of another run"
second = ask("/echo", {"messages": ["close " + first["tool_result"]["ticket"]]})
print("closed", second["messages"][0].split()[-1])
"""
#: ``open("/dev/urandom")`` is seen by no tap and read anew in each run.
MINT = "open('/dev/urandom', 'rb').read"


def run(tacho: Tacho, tmp_path: Path, *options: str) -> tuple[dict[str, Any], Done]:
    report = tmp_path / "report.json"
    done = tacho("replay", "@last", "--report", str(report), *options, cwd=tmp_path)
    return json.loads(report.read_text()), done


def record(tacho: Tacho, tmp_path: Path, source: str) -> Done:
    workspace = tmp_path / "workspace"
    workspace.mkdir(exist_ok=True)
    (workspace / "agent.py").write_text(source)
    with Server() as server:
        done = tacho("record", "--", sys.executable, "agent.py", cwd=workspace, env={**os.environ, "BASE": server.url})
    assert done.returncode == 0, done.stderr
    return done


def test_a_tool_that_mints_a_random_id_does_not_make_its_run_unreplayable(tmp_path: Path) -> None:
    """tailored-ai#550: a tool that mints a random id makes its run unreplayable."""
    tacho = Tacho(tmp_path)
    source = TICKETS.replace("MINT", MINT)
    recorded = record(tacho, tmp_path, source)
    found, done = run(tacho, tmp_path)
    assert (found["verdict"], found["mode"], found["unified"]) == ("diverged", "strict", [])
    assert found["divergence"]["cause"] == "entropy"
    assert found["divergence"]["path"] == "body.tool_result.ticket"
    assert done.returncode == 1
    found, done = run(tacho, tmp_path, "--lenient")
    assert found["verdict"] == "identical", (found, done.stderr)
    assert done.returncode == 0
    assert found["mode"] == "lenient"
    was, now = (each.stdout.split()[-1] for each in (recorded, done))
    assert was != now
    assert [(each["kind"], each["recorded"], each["live"]) for each in found["unified"]] == [("uuid", was, now)]
    assert found["unified"][0]["where"].endswith("body.tool_result.ticket")
    assert f"unified: uuid {was} is {now} now" in done.stderr
    assert "IDENTICAL (lenient)" in done.stderr


def test_what_does_not_map_one_to_one_is_a_divergence_that_names_it(tmp_path: Path) -> None:
    source = TICKETS.replace("MINT", MINT).replace(
        '"close " + first["tool_result"]["ticket"]',
        '"close " + (ticket if os.environ.get("TACHO_MODE") == "record" else str(uuid.UUID(bytes=bytes(MINT(16)))))',
    )
    tacho = Tacho(tmp_path)
    record(tacho, tmp_path, source.replace("MINT", MINT))
    found, done = run(tacho, tmp_path, "--lenient")
    assert found["verdict"] == "diverged"
    assert found["divergence"]["cause"] == "clash"
    assert "stands for another one already" in found["divergence"]["hint"]
    assert found["divergence"]["path"] == "body.messages[0]"
    assert len(found["unified"]) == 1
    assert done.returncode == 1


def test_a_changed_word_is_a_divergence_in_either_mode(tmp_path: Path) -> None:
    source = TICKETS.replace("MINT", MINT)
    tacho = Tacho(tmp_path)
    record(tacho, tmp_path, source)
    (tmp_path / "workspace" / "agent.py").write_text(source.replace('"close "', '"reopen "'))
    found, _ = run(tacho, tmp_path, "--lenient")
    divergence = found["divergence"]
    assert (divergence["path"], divergence["cause"]) == ("body.messages[0]", "code")
    assert divergence["difference"]["expected"].startswith("close")
    assert divergence["difference"]["actual"].startswith("reopen")
    line = next(n for n, text in enumerate(source.replace('"close "', '"reopen "').splitlines(), 1) if "urlopen" in text)
    assert divergence["site"].endswith(f"agent.py:{line}")
    assert divergence["nearest"]["why"] == "it is the next one due in its lane, but body.messages[0] differs"


def test_a_declared_tool_that_is_given_a_minted_id_answers_with_the_live_one(tmp_path: Path) -> None:
    source = f"""
import tachograph

@tachograph.tool
def make(job):
    print("making", job)
    open("made-" + job + ".json", "w").write('{{"job": "' + job + '"}}')
    return {{"job": job, "note": ["made", job]}}

job = {MINT}(4).hex() + "a1"
made = make(job)
assert made == {{"job": job, "note": ["made", job]}}, made
print(open("made-" + job + ".json").read())
"""
    tacho = Tacho(tmp_path)
    record(tacho, tmp_path, source)
    found, done = run(tacho, tmp_path, "--lenient")
    assert found["verdict"] == "identical", (found, done.stderr)
    assert [each["kind"] for each in found["unified"]] == ["hex"]

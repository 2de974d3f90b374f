"""``tacho fork``, from the command line to the model server and back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fork_helpers import AGENT, LOOK, PATCH, SECRET, TURNS, WIRES, Scene, environment, scene
from tachograph.testing.model_server import ModelServer, Script, Turn


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with scene(tmp_path_factory.mktemp("fork")) as found:
        yield found


@pytest.fixture(autouse=True)
def fresh(request: pytest.FixtureRequest) -> None:
    if "recorded" in request.fixturenames:
        found = request.getfixturevalue("recorded")
        found.models.requests.clear()
        found.models._draws.clear()


def told(body: Any, name: str) -> Any:
    """A parameter, wherever this wire format has it."""
    return body.get("inferenceConfig", {}).get(name) if "inferenceConfig" in body else body.get(name)


@pytest.mark.parametrize("wire", WIRES)
def test_a_changed_prompt_parameter_and_model_reach_the_model_in_every_wire_format(wire: str, tmp_path: Path) -> None:
    with scene(tmp_path, wire) as found:
        done, report = found.fork(
            "--at", "2", "--live-model", "--set", "prompt.system=Be brave.", "--set", "params.temperature=0", "--set", "model=model-c"
        )
        assert report["decision"]["flipped"] is True, (report, done.stderr)
        assert report["decision"]["now"]["actions"] == [{"name": "look", "input": {"path": "b.txt"}}]
        first = found.models.requests[0]
        body = first.body
        assert "Be brave." in json.dumps(body)
        assert "Be careful." not in json.dumps(body)
        assert told(body, "temperature") == 0
        assert "model-c" in (first.path if wire in ("converse", "invoke") else body["model"])
        # Only the user's own credentials open the model.
        assert (
            SECRET in (first.headers.get("x-api-key", "") + first.headers.get("authorization", ""))
            or "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE" in first.headers["authorization"]
        )
        # The tool is answered by nobody, since it was never called so: it stops there.
        assert report["ended"] == "stopped"
        assert "never recorded (tool look)" in report["stopped"]
        assert done.returncode == 1
        calls = found.calls(report["session_id"])
        assert calls[1]["model_id"] == "model-c"
        assert calls[1]["params"]["temperature"] == 0
        assert calls[0]["params"]["temperature"] == 1


def test_the_fork_is_a_sealed_session_that_says_that_it_is_one(recorded: Scene) -> None:
    before = {path: path.read_bytes() for path in (recorded.tacho.store / "sessions" / recorded.session_id).iterdir()}
    _, report = recorded.fork("--at", "2", "--set", "params.temperature=0", "--live-model")
    fork = report["session_id"]
    start = recorded.lines(fork)[0]
    call = recorded.calls(recorded.session_id)[1]
    assert start["forked_from"] == {
        "session_id": recorded.session_id, "step": 2, "event_id": call["id"], "seq": report["forked_from"]["seq"], "changed": ["params.temperature"],
        "by": "fork",
    }  # fmt: skip
    assert start["edits"] == [{"what": "params.temperature", "value": 0}]
    assert report["ended"] == "by_itself"
    assert report["decision"]["flipped"] is False
    assert report["calls"]["tape"] == {"model": 1, "tool": 1, "http": 0, "process": 0}
    assert report["calls"]["live"] == 1
    assert report["calls"]["tokens"] > 0
    assert recorded("verify", fork).returncode == 0
    row = next(row for row in recorded("ls", "--json").json() if row["session_id"] == fork)
    assert row["forked_from"]["session_id"] == recorded.session_id
    assert f"forked from {recorded.session_id} at step 2: params.temperature" in recorded("ls").stdout
    shown = recorded("show", fork).stdout
    assert f"not what happened: a fork of {recorded.session_id} at step 2" in shown
    entries = recorded("cat", "ledger").lines()
    assert [entry["action"] for entry in entries if entry.get("subject") == fork][:2] == ["opened", "sealed"]
    # The original is as it was.
    assert {path: path.read_bytes() for path in (recorded.tacho.store / "sessions" / recorded.session_id).iterdir()} == before


def test_a_fork_replays_with_its_edits(recorded: Scene) -> None:
    _, report = recorded.fork("--at", "2", "--set", "params.temperature=0", "--set", "prompt.system=Be calm.", "--live-model")
    replayed = recorded("replay", report["session_id"], "--json").json()
    assert (replayed["verdict"], replayed["calls"]["model"]) == ("identical", 2)


def test_a_stopped_fork_replays_up_to_where_it_stopped(recorded: Scene) -> None:
    _, report = recorded.fork("--at", "2", "--set", "model=model-b", "--live-model")
    assert report["ended"] == "stopped"
    replayed = recorded("replay", report["session_id"], "--json").json()
    assert (replayed["verdict"], replayed["ended_at_cut"]) == ("identical", True)


def test_a_fork_of_a_fork_keeps_what_the_first_changed_from_its_step_on(recorded: Scene) -> None:
    _, first = recorded.fork("--at", "2", "--set", "prompt.system=Be calm.", "--live-model")
    recorded.models.requests.clear()
    second = recorded("fork", first["session_id"], "--json", "--at", "1", "--set", "params.temperature=0", "--live-model").json()
    assert second["reached"] is True, second
    assert [(request.body["system"], request.body["temperature"]) for request in recorded.models.requests] == [
        ("Be careful.", 0),
        ("Be calm.", 0),
    ]
    assert recorded("replay", second["session_id"], "--json").json()["verdict"] == "identical"


def test_without_live_model_it_stops_at_the_step_and_shows_what_would_be_sent(recorded: Scene) -> None:
    done, report = recorded.fork("--at", "2", "--set", "prompt.system=Be brave.")
    assert (done.returncode, report["reached"], report["calls"]["live"]) == (1, True, 0)
    assert "--live-model" in report["stopped"]
    assert recorded.models.requests == []
    last = recorded.calls(report["session_id"])[-1]
    assert last["outcome"] == "cut"
    assert last["input"]["system"] == "Be brave."


#: Runs tacho with every attempt to reach a network written down and refused, in this process and in those that it forks.
TRAP = """
import os, socket, sys
def trap(event, args):
    if event in ("socket.connect", "socket.sendto", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"):
        family = getattr(args[0], "family", None)
        if family != socket.AF_UNIX:
            fd = os.open(os.environ["TRAP"], os.O_CREAT | os.O_APPEND | os.O_WRONLY)
            os.write(fd, (event + " " + str(args[1:])[:100] + chr(10)).encode())
            os.close(fd)
            raise OSError("no network")
sys.addaudithook(trap)
from tachograph.cli import app
code = app.main(sys.argv[1:])
print("LIVE" if "tachograph.host.live" in sys.modules else "NO LIVE", file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize(
    "extra", [[], ["--set", "model=model-b"], ["--set", "prompt.system=Be brave.", "--allow-tool", "look"], ["--vary", "model=x,y"]]
)
def test_without_live_model_nothing_reaches_a_network(recorded: Scene, tmp_path: Path, extra: list[str]) -> None:
    trap = tmp_path / "trap"
    command = [sys.executable, "-c", TRAP, "fork", recorded.session_id, "--at", "2", *extra]
    done = recorded.tacho.run_plain(command, cwd=recorded.folder, env={**recorded.environment, "TRAP": str(trap)})
    assert done.returncode == 1
    assert "NO LIVE" in done.stderr
    assert not trap.exists(), trap.read_text()
    assert recorded.models.requests == []


def test_the_trap_catches_a_live_model(recorded: Scene, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    command = [sys.executable, "-c", TRAP, "fork", recorded.session_id, "--at", "2", "--live-model"]
    recorded.tacho.run_plain(command, cwd=recorded.folder, env={**recorded.environment, "TRAP": str(trap)})
    assert trap.read_text().startswith(("socket.connect", "socket.getaddrinfo"))


ESCAPING = AGENT.replace(
    "print(globals()",
    """
import socket
try:
    socket.create_connection((os.environ["ANTHROPIC_BASE_URL"].split("/")[2].split(":")[0], int(os.environ["ANTHROPIC_BASE_URL"].rsplit(":", 1)[1])), 2).close()
    print("escaped")
except OSError:
    print("held")
print(globals()""",
)


def test_the_agent_of_a_live_fork_is_held_by_the_guard(tmp_path: Path) -> None:
    with scene(tmp_path, agent=ESCAPING) as found:
        done, report = found.fork("--at", "2", "--live-model", "--set", "params.temperature=0")
        assert "held" in done.stderr
        assert "escaped" not in done.stderr
        assert report["blocked"]
        assert report["calls"]["live"] == 1


def test_tools_are_answered_from_the_tape_whenever_they_are_called_so(tmp_path: Path) -> None:
    """Behind the cut the model asks for the recorded tools in another order; a write among them is done as it was, in the scratch workspace."""
    turns = [
        Turn(when="Fix it", asked="Backwards.", tool_calls=[PATCH]),
        Turn(when="Fix it", tool_calls=[LOOK]),
        Turn(when="one", asked="Backwards.", text="Backwards done."),
        Turn(when="one", tool_calls=[PATCH]),
        Turn(when="patched", asked="Backwards.", tool_calls=[LOOK]),
        Turn("Done.", when="patched"),
    ]
    with scene(tmp_path, turns=turns) as found:
        (found.folder / "a.txt").write_text("changed since\n")
        done, report = found.fork("--at", "1", "--set", "prompt.system=Backwards.", "--live-model")
        assert (done.returncode, report["ended"]) == (0, "by_itself"), report
        assert report["calls"]["tape"]["tool"] == 2
        assert (found.folder / "a.txt").read_text() == "changed since\n"
        tools = [line for line in found.lines(report["session_id"]) if line["type"] == "tool_call" and line["source"] == "declared"]
        assert [(tool["name"], tool["output"]) for tool in tools] == [("patch", "patched a.txt"), ("look", "one\n")]
        # What the recorded tool had changed is in the fork's record, too.
        assert [change["path"] for change in tools[0]["workspace"]["changes"]] == ["a.txt"]
        assert found("replay", report["session_id"], "--json").json()["verdict"] == "identical"


def test_an_allowed_tool_that_only_reads_runs_under_the_guard(recorded: Scene) -> None:
    done, report = recorded.fork("--at", "2", "--set", "prompt.system=Be brave.", "--live-model", "--allow-tool", "look")
    assert (done.returncode, report["ended"], report["tools_run"]) == (0, "by_itself", ["look"]), report
    assert report["calls"]["live"] == 2
    assert "The other one." in done.stderr
    assert recorded("replay", report["session_id"], "--json").json()["verdict"] == "identical"


def test_a_tool_that_writes_is_not_run_even_if_it_is_allowed(recorded: Scene) -> None:
    done, report = recorded.fork("--at", "2", "--set", "model=model-b", "--live-model", "--allow-tool", "patch")
    assert (done.returncode, report["ended"]) == (1, "stopped")
    assert 'not declared as effect="read"' in report["stopped"]
    assert (recorded.folder / "a.txt").read_text() == "one\n"


def test_an_edited_tool_result_is_what_the_model_is_told_in_this_and_every_later_request(tmp_path: Path) -> None:
    turns = [*TURNS[:1], Turn(when="nothing here", tool_calls=[{"name": "look", "input": {"path": "b.txt"}}]), *TURNS[3:]]
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys\npath = sys.argv[1]\ntext = open(path).read()\nassert '\\none\\n' in text, text\n"
        "open(path, 'w').write(text.replace('\\none\\n', '\\nnothing here\\n'))\n"
    )
    with scene(tmp_path, turns=turns) as found:
        around = {**found.environment, "EDITOR": f"{sys.executable} {editor}"}
        around.pop("VISUAL", None)
        _, report = found.fork("--at", "2", "--edit", "--live-model", "--allow-tool", "look", env=around)
        assert report["reached"] is True, report
        assert report["forked_from"]["changed"] == ["body.messages[2].content[0].content"]
        results = [
            [
                block["content"]
                for message in request.body["messages"]
                for block in message["content"]
                if isinstance(block, dict) and block["type"] == "tool_result"
            ]
            for request in found.models.requests
        ]
        assert results == [["nothing here\n"], ["nothing here\n", "two\n"]]


def test_the_budget_ends_it(recorded: Scene) -> None:
    done, report = recorded.fork("--at", "1", "--set", "prompt.system=Be calm.", "--live-model", "--budget", "1")
    assert (done.returncode, report["calls"]["live"]) == (1, 1)
    assert "budget of 1 live call" in report["stopped"]
    _, report = recorded.fork("--at", "1", "--set", "prompt.system=Be calm.", "--live-model", "--budget", "10 tokens")
    assert report["calls"]["live"] == 1
    assert "budget of 10 tokens" in report["stopped"]


def test_credentials_are_never_in_the_record(recorded: Scene) -> None:
    for wire_key in ("sk-ant-api03-", "wJalrXUtnFEMI"):
        for session in recorded("ls", "--json").json():
            assert wire_key not in recorded("cat", session["session_id"]).stdout


def test_a_model_that_is_not_there_is_one_line(recorded: Scene) -> None:
    around = {**recorded.environment, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    done, report = recorded.fork("--at", "2", "--live-model", env=around)
    assert done.returncode == 1
    assert report["stopped"].startswith("no answer from 127.0.0.1:9: Connection refused")


def test_refused_credentials_are_one_line(tmp_path: Path) -> None:
    with scene(tmp_path) as found, ModelServer(Script(turns=[Turn(when="one", status=[401] * 5)])) as refusing:
        _, report = found.fork("--at", "2", "--live-model", env=environment(refusing.url, "anthropic"))
        assert "refused the credentials (401)" in report["stopped"]


def test_an_answer_that_breaks_off_is_one_line(tmp_path: Path) -> None:
    with scene(tmp_path) as found, ModelServer(Script(turns=[Turn("A long answer indeed.", when="one", drop_after=1)])) as breaking:
        _, report = found.fork("--at", "2", "--live-model", env=environment(breaking.url, "anthropic"))
        assert "its answer broke off" in report["stopped"]


def test_an_overloaded_model_is_the_agents_business(tmp_path: Path) -> None:
    retrying = AGENT.replace("        return json.load(answer)\n", "        return json.load(answer)\n", 1).replace(
        "    with urllib.request.urlopen(request) as answer:\n        return json.load(answer)",
        "    while True:\n        try:\n            with urllib.request.urlopen(request) as answer:\n                return json.load(answer)\n"
        "        except urllib.request.HTTPError as error:\n            assert error.code == 529",
    )
    with scene(tmp_path, agent=retrying) as found, ModelServer(Script(turns=[Turn("At last.", when="one", status=529)])) as busy:
        done, report = found.fork("--at", "2", "--live-model", env=environment(busy.url, "anthropic"))
        assert (report["ended"], report["calls"]["live"]) == ("by_itself", 2), report
        assert report["decision"]["now"]["text"] == "At last."
        assert "At last." in done.stderr


STREAMING = """
import os
import anthropic
client = anthropic.Anthropic(max_retries=0)
question = {"model": "model-a", "max_tokens": 64, "messages": [{"role": "user", "content": "hello"}]}
with client.messages.stream(**question) as stream:
    print("|".join(stream.text_stream))
"""


def test_a_live_stream_comes_piece_by_piece_through_the_real_sdk(tmp_path: Path) -> None:
    pytest.importorskip("anthropic")
    with scene(tmp_path, agent=STREAMING, turns=[Turn("one two three four")]) as found:
        with ModelServer(Script(turns=[Turn("five six seven", delay_ms=20)]), compress=True) as other:
            done, report = found.fork("--at", "1", "--live-model", env=environment(other.url, "anthropic"))
        assert "five |six |seven" in done.stderr, (done.stderr, report)
        assert report["ended"] == "by_itself"
        call = found.calls(report["session_id"])[0]
        assert call["stream"] is True
        assert call["output"]["content"][0]["text"] == "five six seven"


PARALLEL = """
import json, os, threading, urllib.request
def ask(text):
    body = {"model": "model-a", "max_tokens": 10, "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers={"content-type": "application/json", "x-api-key": os.environ["ANTHROPIC_API_KEY"]})
    with urllib.request.urlopen(request) as answer:
        found[text] = json.load(answer)["content"][0]["text"]
found = {}
ask("first")
threads = [threading.Thread(target=ask, args=(name,)) for name in ("alpha", "beta", "gamma")]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(found.items()))
"""


def test_parallel_live_calls_do_not_wait_for_each_other(tmp_path: Path) -> None:
    slow = [Turn("s", when="first"), *(Turn(name.upper(), when=name, first_delay_ms=700) for name in ("alpha", "beta", "gamma"))]
    with scene(tmp_path, agent=PARALLEL, turns=slow) as found:
        done, report = found.fork("--at", "1", "--live-model", "--set", "params.max_tokens=11")
        assert "[('alpha', 'ALPHA'), ('beta', 'BETA'), ('first', 's'), ('gamma', 'GAMMA')]" in done.stderr, (done.stderr, report)
        # The other lanes say the same things to the same model: they are changed, too.
        assert [request.body["max_tokens"] for request in found.models.requests] == [11] * 4
        bodies = [line for line in found.lines(report["session_id"]) if line["type"] == "started"]
        assert len(bodies) == 4


def test_a_fork_inside_a_tool_runs_the_tool(tmp_path: Path) -> None:
    agent = AGENT.replace(
        "@tachograph.tool\ndef patch",
        '@tachograph.tool\ndef consult(what):\n    content, calls = anthropic([{"role": "user", "content": what}])\n'
        '    return content[0]["text"]\n\n@tachograph.tool\ndef patch',
    ).replace("TOOLS = {", 'TOOLS = {"consult": consult, ')
    turns = [
        Turn(when="Fix it", tool_calls=[{"name": "consult", "input": {"what": "advice?"}}]), Turn("Advice: wait.", when="advice?", asked='"temperature":1'),
        Turn("Advice: go.", when="advice?"), Turn("I wait.", when="Advice: wait."), Turn("I go.", when="Advice: go."),
    ]  # fmt: skip
    with scene(tmp_path, agent=agent, turns=turns) as found:
        done, report = found.fork("--at", "2", "--set", "params.temperature=0", "--live-model")
        assert (report["ended"], report["tools_run"]) == ("by_itself", ["consult"]), report
        assert "I go." in done.stderr


def test_an_agent_that_goes_its_own_way_before_the_step_is_a_divergence(recorded: Scene) -> None:
    """Another command: its very first request differs."""
    agent = recorded.folder / "other.py"
    agent.write_text(AGENT.replace("Fix it.", "Break it."))
    try:
        done, report = recorded.fork("--at", "2", "--live-model", "--", sys.executable, "other.py")
    finally:
        agent.unlink()
    assert (done.returncode, report["reached"], report["calls"]["live"]) == (1, False, 0)
    assert report["divergence"]["path"] == "body.messages[0].content"
    assert recorded.models.requests == []


def test_vary_tells_which_change_flips_the_decision(recorded: Scene) -> None:
    done = recorded(
        "fork",
        recorded.session_id,
        "--at",
        "2",
        "--vary",
        "model=model-b,model-c",
        "--vary",
        "params.temperature=0",
        "--live-model",
        "--json",
    )
    table = done.json()
    assert done.returncode == 0, done.stderr
    assert [(row["change"], row["value"], row["decision"]["flipped"]) for row in table["rows"]] == [
        (None, None, False), ("model", "model-b", True), ("model", "model-c", True), ("params.temperature", 0, False),
    ]  # fmt: skip
    assert table["flips"] == ["model=model-b", "model=model-c"]  # model-c by the draw: see the control in the next test
    assert table["control_flips"] is False
    # Each changed exactly one thing, and they belong together.
    starts = [recorded.lines(row["session_id"])[0]["forked_from"] for row in table["rows"]]
    assert [len(start["changed"]) for start in starts] == [0, 1, 1, 1]
    assert {start["set"] for start in starts} == {table["set"]}
    assert {start["by"] for start in starts} == {"vary"}


def test_vary_warns_where_the_model_flips_by_itself(recorded: Scene) -> None:
    recorded.models._draws.update({3: 1})  # the next draw is another decision
    done = recorded("fork", recorded.session_id, "--at", "2", "--vary", "params.top_p=0.5", "--live-model")
    assert "With nothing changed the model decided otherwise, too" in done.stdout
    assert "nothing (asked again)" in done.stdout


def test_vary_shares_one_budget(recorded: Scene) -> None:
    done = recorded("fork", recorded.session_id, "--at", "2", "--vary", "model=x,y", "--live-model", "--budget", "2", "--json")
    table = done.json()
    assert [row["calls"]["live"] for row in table["rows"]] == [1, 1, 0]
    assert done.returncode == 1


def test_what_the_agent_reads_of_its_surroundings_is_the_recorded_thing_in_a_fork_and_in_its_replay(tmp_path: Path) -> None:
    agent = AGENT.replace(
        "print(globals()", "import random, time, uuid\nprint(time.time(), random.random(), uuid.uuid4())\nprint(globals()"
    )
    with scene(tmp_path, agent=agent) as found:
        first = next(
            line["content"] for line in found.lines(found.session_id) if line["type"] == "ambient" and line["kind"] == "stdout"
        ).split("\n")[0]
        done, report = found.fork("--at", "2", "--set", "params.temperature=0", "--live-model")
        assert first in done.stderr
        assert report["ended"] == "by_itself"
        assert found("replay", report["session_id"], "--json").json()["verdict"] == "identical"


def test_an_interrupted_fork_is_sealed(tmp_path: Path) -> None:
    with scene(tmp_path) as found, ModelServer(Script(turns=[Turn("Late.", when="one", first_delay_ms=20_000)])) as slow:
        command = [sys.executable, "-m", "tachograph.cli.app", "fork", found.session_id, "--at", "2", "--live-model"]
        around = {**environment(slow.url, "anthropic"), **found.tacho.settings}
        with subprocess.Popen(command, cwd=found.folder, env=around, stderr=subprocess.PIPE, start_new_session=True) as running:
            until = time.monotonic() + 60
            while not slow.requests and time.monotonic() < until:
                time.sleep(0.1)
            os.killpg(running.pid, signal.SIGINT)
            running.communicate(timeout=60)
        assert running.returncode == 130
        fork = next(row["session_id"] for row in found("ls", "--json").json() if row["session_id"] != found.session_id)
        assert found("verify", fork).returncode == 0

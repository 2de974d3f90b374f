"""Secrets that become known while a session runs: masked from then on, and a replay is identical whatever is known when."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Tacho
from programs_server import Server
from tachograph.host.known import Known
from tachograph.redact.engine import Redactor
from tachograph.redact.placeholder import placeholder
from tachograph.redact.policy import Policy

# Written in pieces, so that no scanner takes this file for a leak.
PASSWORD = "wE_x" + "e%Eg30B0di"
KEY = b"a key of a store"
MARK = placeholder("password", KEY, PASSWORD)


def redactor() -> Redactor:
    return Redactor(Policy.default(), key=KEY, learns=True)


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        (MARK, PASSWORD),
        (f"a {MARK} b", f"a {PASSWORD} b"),
        (f"x{MARK}y {MARK}", f"x{PASSWORD}y {PASSWORD}"),
        (f"b {MARK} b {MARK} c", f"b {MARK} b {PASSWORD} c"),
        ({"a": ["", {"b": f"-{MARK}-"}]}, {"a": ["", {"b": f"-{PASSWORD}-"}], "c": 1}),
    ],
)
def test_a_value_is_recognised_by_its_place(recorded: Any, live: Any) -> None:
    red = redactor()
    Known(red, KEY, recorded=[recorded]).align(recorded, live)
    assert red.text(f"<{PASSWORD}>") == f"<{MARK}>"


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        (f"a {MARK} b", f"a {PASSWORD}x b"),
        (f"a {MARK} b", f"c {PASSWORD} b"),
        (f"{MARK}{MARK}", f"{PASSWORD}{PASSWORD}"),
        (f"{MARK} b", PASSWORD),
        ([MARK], {"a": PASSWORD}),
        (MARK, None),
    ],
)
def test_what_does_not_fit_is_not_learned(recorded: Any, live: Any) -> None:
    red = redactor()
    Known(red, KEY, recorded=[recorded]).align(recorded, live)
    assert red.generation == 0


def test_words_of_a_request_are_held_against_the_record() -> None:
    red = redactor()
    known = Known(red, KEY, recorded=[{"x": f"it was {MARK}".encode()}])
    known.look({"url": "http://x/?q=nothing"}, b"[1, 2")
    assert red.generation == 0
    known.look({}, json.dumps({"q": [f"line\n{PASSWORD}\tx"]}).encode())
    assert red.text(PASSWORD) == MARK


AGENT = """
import json, os, threading, urllib.request
import httpx, tachograph

base, password = os.environ["BASE"], open(os.environ["PLANT_FILE"]).read()

def post(text):
    return httpx.post(base + "/echo", content=text, headers={"content-type": "text/plain"}).text

if os.environ["ORDER"] == "alone first":
    post("it is " + password)
    post("password=" + password)
elif os.environ["ORDER"] == "named first":
    post("password=" + password)
    post("it is x" + password + "x, too")
elif os.environ["ORDER"] == "named by a file":
    @tachograph.tool(effect="read")
    def look():
        return {"password": password}
    look()
    post("it is x" + password + "x, and nothing else")
else:
    gate = threading.Barrier(2)
    def one():
        gate.wait()
        post("it is " + password + " here")
    def two():
        gate.wait()
        post("password=" + password)
    threads = [threading.Thread(target=one), threading.Thread(target=two)]
    [t.start() for t in threads]
    [t.join() for t in threads]
print("done", password)
"""


@pytest.mark.parametrize("order", ["alone first", "named first", "named by a file", "both at once"])
def test_a_replay_is_identical_whatever_was_known_when(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, order: str) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "agent.py").write_text(AGENT)
    planted = tmp_path_factory.mktemp("planted") / "password"
    planted.write_text(PASSWORD)
    tacho = Tacho(tmp_path)
    with Server() as server:
        environment = {**os.environ, "BASE": server.url, "PLANT_FILE": str(planted), "ORDER": order}
        done = tacho("record", "--", sys.executable, "agent.py", cwd=workspace, env=environment)
        assert done.returncode == 0, done.stderr
    text = tacho("cat", "@last", "--json").stdout
    assert "[REDACTED:password:" in text
    if order.startswith("named"):
        assert PASSWORD not in text
    for _ in range(2):
        replayed = tacho("replay", "@last", "--json", env=environment)
        assert json.loads(replayed.stdout)["verdict"] == "identical", replayed.stdout

"""How a model call ended, as clients really end them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho
from programs_server import Server
from tachograph.testing.model_server import ModelServer, Script, Turn

CHAT = """
import openai
said = openai.OpenAI().chat.completions.create(model="m", stream=True, messages=[{"role": "user", "content": "Hello"}])
print("".join(chunk.choices[0].delta.content or "" for chunk in said if chunk.choices))
"""
STOPPED = """
import openai
said = openai.OpenAI().chat.completions.create(model="m", stream=True, messages=[{"role": "user", "content": "Hello"}])
print(next(iter(said)).id != "")
said.close()
"""
MESSAGES = """
import anthropic
with anthropic.Anthropic().messages.stream(model="m", max_tokens=50, messages=[{"role": "user", "content": "Hello"}]) as said:
    print("".join(said.text_stream))
"""
RESPONSES = """
import openai
with openai.OpenAI().responses.create(model="m", stream=True, input="Hello") as said:
    print(sum(1 for each in said) > 1)
"""


@pytest.mark.parametrize(("agent", "outcome"), [(CHAT, "ok"), (MESSAGES, "ok"), (RESPONSES, "ok"), (STOPPED, "closed")])
def test_an_answer_that_came_to_its_end_is_no_answer_that_was_given_up(tmp_path: Path, agent: str, outcome: str) -> None:
    tacho = Tacho(tmp_path)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "agent.py").write_text(agent)
    with ModelServer(Script(turns=[Turn("The quick brown fox jumps over the lazy dog. " * 40)])) as server:
        around = {
            **os.environ, "OPENAI_BASE_URL": server.url + "/v1", "OPENAI_API_KEY": "x", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "x",
        }  # fmt: skip
        done = tacho("record", "--", sys.executable, "agent.py", cwd=tmp_path / "work", env=around)
    assert done.returncode == 0, done.stderr
    call = next(line for line in tacho("cat", "@last").lines() if line["type"] == "model_call")
    assert call["outcome"] == outcome
    assert ("closed" in tacho("show", "@last").stdout) == (outcome == "closed")
    assert tacho("replay", "@last").returncode == 0


FETCH = """
import os, urllib.request
print(urllib.request.urlopen(os.environ["SERVICE"] + "/json").read() != b"")
"""


def test_what_an_exchange_was_answered_is_shown_with_it(tmp_path: Path) -> None:
    tacho = Tacho(tmp_path)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "agent.py").write_text(FETCH)
    with Server() as server:
        assert (
            tacho("record", "--", sys.executable, "agent.py", cwd=tmp_path / "work", env={**os.environ, "SERVICE": server.url}).returncode
            == 0
        )
    found = next(line for line in tacho("cat", "@last").lines() if line["type"] == "http")
    assert found["response"]["status"] == 200
    assert json.loads(found["response"]["body"])["hello"] == "wörld"
    assert ["content-type", "application/json"] in [[name.lower(), value] for name, value in found["response"]["headers"]]

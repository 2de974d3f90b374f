"""Scripted randomness, and turns that depend on the request."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest

from tachograph.testing.model_server import ModelServer, Script, ScriptError, Turn


def ask(server: ModelServer, **more: Any) -> str:
    body = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}], **more}
    request = urllib.request.Request(server.url + "/v1/messages", json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"][0]["text"]


def test_draws_come_in_turn_and_not_at_temperature_0() -> None:
    script = Script.from_json({"turns": [{"text": "a", "draws": [{}, {"text": "b"}, {"text": "c"}]}]})
    with ModelServer(script) as server:
        assert [ask(server) for _ in range(4)] == ["a", "b", "c", "a"]
        assert [ask(server, temperature=0) for _ in range(3)] == ["a", "a", "a"]
        assert ask(server, temperature=1) == "b"


def test_a_turn_may_depend_on_the_request() -> None:
    with ModelServer(Script(turns=[Turn("other", asked='"model":"n"'), Turn("both", when="hi", asked="Be brave"), Turn("else")])) as server:
        assert (ask(server), ask(server, model="n"), ask(server, system="Be brave.")) == ("else", "other", "both")


def test_bad_draws_are_told() -> None:
    with pytest.raises(ScriptError, match="draw 0"):
        Script.from_json({"turns": [{"text": "a", "draws": [{"txet": "b"}]}]})
    with pytest.raises(ScriptError, match="asked"):
        Turn(asked="")

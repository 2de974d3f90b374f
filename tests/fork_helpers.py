"""An agent that speaks every wire format, a scripted model, and a recording of both: what the tests of fork, reask and diff begin with."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli_helpers import Done, Tacho
from tachograph.testing.model_server import ModelServer, Script, Turn

SECRET = "sk-ant-api03-" + "Zq8Vt3Lm" * 11 + "AA"

AGENT = """
import json, os, sys, threading, urllib.request
import tachograph

@tachograph.tool(effect="read")
def look(path):
    with open(path) as file:
        return file.read()

@tachograph.tool
def patch(path, text):
    with open(path, "w") as file:
        file.write(text)
    return "patched " + path

def post(url, body, **headers):
    request = urllib.request.Request(url, json.dumps(body).encode(), headers={"content-type": "application/json", **headers})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

TOOLS = {"look": look, "patch": patch}
SYSTEM = os.environ.get("AGENT_SYSTEM", "Be careful.")
WIRE = os.environ["WIRE"]

def tool(name):
    return {"name": name, "description": "A tool.", "input_schema": {"type": "object"}}

def anthropic(messages):
    key = os.environ["ANTHROPIC_API_KEY"]
    body = {"model": "model-a", "max_tokens": 100, "temperature": 1, "system": SYSTEM, "messages": messages, "tools": [tool("look"), tool("patch")]}
    said = post(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body, **{"x-api-key": key, "anthropic-version": "2023-06-01"})
    return said["content"], [(b["id"], b["name"], b["input"]) for b in said["content"] if b["type"] == "tool_use"]

def anthropic_result(call, text):
    return {"type": "tool_result", "tool_use_id": call, "content": text}

def run_anthropic():
    messages = [{"role": "user", "content": "Fix it."}]
    while True:
        content, calls = anthropic(messages)
        messages.append({"role": "assistant", "content": content})
        if not calls:
            return "".join(b.get("text", "") for b in content)
        messages.append({"role": "user", "content": [anthropic_result(i, TOOLS[n](**a)) for i, n, a in calls]})

def run_chat():
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Fix it."}]
    while True:
        body = {"model": "model-a", "temperature": 1, "max_tokens": 100, "messages": messages,
                "tools": [{"type": "function", "function": {"name": n, "parameters": {}}} for n in TOOLS]}
        said = post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, authorization="Bearer " + os.environ["OPENAI_API_KEY"])
        message = said["choices"][0]["message"]
        messages.append({k: v for k, v in message.items() if v is not None})
        if not message.get("tool_calls"):
            return message["content"]
        for call in message["tool_calls"]:
            result = TOOLS[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})

def run_responses():
    items = [{"role": "user", "content": "Fix it."}]
    while True:
        body = {"model": "model-a", "temperature": 1, "max_output_tokens": 100, "instructions": SYSTEM, "input": items,
                "tools": [{"type": "function", "name": n, "parameters": {}} for n in TOOLS]}
        said = post(os.environ["OPENAI_BASE_URL"] + "/responses", body, authorization="Bearer " + os.environ["OPENAI_API_KEY"])
        calls = [item for item in said["output"] if item["type"] == "function_call"]
        if not calls:
            return "".join(p.get("text", "") for item in said["output"] for p in item.get("content", []))
        items += [{k: c[k] for k in ("type", "call_id", "name", "arguments")} for c in calls]
        items += [{"type": "function_call_output", "call_id": c["call_id"], "output": TOOLS[c["name"]](**json.loads(c["arguments"]))} for c in calls]

def bedrock():
    import boto3
    return boto3.client("bedrock-runtime", region_name="us-east-1")

def run_converse():
    client, messages = bedrock(), [{"role": "user", "content": [{"text": "Fix it."}]}]
    while True:
        said = client.converse(modelId="model-a", system=[{"text": SYSTEM}], messages=messages,
            inferenceConfig={"temperature": 1, "maxTokens": 100},
            toolConfig={"tools": [{"toolSpec": {"name": n, "inputSchema": {"json": {"type": "object"}}}} for n in TOOLS]})["output"]["message"]
        messages.append(said)
        calls = [b["toolUse"] for b in said["content"] if "toolUse" in b]
        if not calls:
            return "".join(b.get("text", "") for b in said["content"])
        messages.append({"role": "user", "content": [
            {"toolResult": {"toolUseId": c["toolUseId"], "content": [{"text": TOOLS[c["name"]](**c["input"])}]}} for c in calls]})

def run_invoke():
    client, messages = bedrock(), [{"role": "user", "content": "Fix it."}]
    while True:
        body = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 100, "temperature": 1, "system": SYSTEM, "messages": messages, "tools": [tool("look"), tool("patch")]}
        said = json.loads(client.invoke_model(modelId="model-a", body=json.dumps(body))["body"].read())
        messages.append({"role": "assistant", "content": said["content"]})
        calls = [b for b in said["content"] if b["type"] == "tool_use"]
        if not calls:
            return "".join(b.get("text", "") for b in said["content"])
        messages.append({"role": "user", "content": [anthropic_result(b["id"], TOOLS[b["name"]](**b["input"])) for b in calls]})

print(globals()["run_" + WIRE]())
"""

WIRES = ("anthropic", "chat", "responses", "converse", "invoke")
LOOK = {"name": "look", "input": {"path": "a.txt"}}
PATCH = {"name": "patch", "input": {"path": "a.txt", "text": "ONE"}}

#: Recorded: it looks at a file and stops. What the model does instead depends on what it is told: see each turn.
TURNS = (
    Turn(when="Fix it", tool_calls=[LOOK]),
    Turn(when="one", asked="model-b", tool_calls=[PATCH]),
    Turn(when="one", asked="Be brave.", tool_calls=[{"name": "look", "input": {"path": "b.txt"}}]),
    Turn("I stop.", when="one", draws=[{}, Turn(tool_calls=[PATCH]), {}, {}]),
    Turn("Nothing to do.", when="nothing here"),
    Turn("The other one.", when="two"),
    Turn("Done.", when="patched"),
)


@dataclass(frozen=True)
class Scene:
    """A recorded session, and its model, which still listens."""

    tacho: Tacho
    folder: Path
    models: ModelServer
    environment: Mapping[str, str]
    session_id: str

    def __call__(self, *arguments: str, **more: Any) -> Done:
        more.setdefault("env", self.environment)
        more.setdefault("cwd", self.folder)
        return self.tacho(*arguments, **more)

    def fork(self, *arguments: str, **more: Any) -> tuple[Done, dict[str, Any]]:
        """A fork, and its report."""
        done = self("fork", self.session_id, "--json", *arguments, **more)
        assert done.stdout, done.stderr
        return done, done.json()

    def lines(self, session_id: str) -> list[dict[str, Any]]:
        return self("cat", session_id).lines()

    def calls(self, session_id: str) -> list[dict[str, Any]]:
        return [line for line in self.lines(session_id) if line["type"] == "model_call"]


def environment(url: str, wire: str) -> dict[str, str]:
    """Of the agent while it is recorded, and of ``tacho fork``: credentials and base URLs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "OPENAI_", "AWS_"))}
    return {
        **kept, "WIRE": wire, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": SECRET, "OPENAI_BASE_URL": url + "/v1", "OPENAI_API_KEY": SECRET,
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": url, "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "AWS_EC2_METADATA_DISABLED": "true", "AWS_REGION": "us-east-1",
    }  # fmt: skip


@contextlib.contextmanager
def scene(folder: Path, wire: str = "anthropic", turns: Sequence[Turn] = TURNS, agent: str = AGENT) -> Iterator[Scene]:
    """Record it."""
    work = folder / "work"
    work.mkdir()
    (work / "agent.py").write_text(agent)
    (work / "a.txt").write_text("one\n")
    (work / "b.txt").write_text("two\n")
    tacho = Tacho(folder)
    with ModelServer(Script(turns=turns)) as models:
        around = environment(models.url, wire)
        done = tacho("record", "--", sys.executable, "agent.py", cwd=work, env=around)
        assert done.returncode == 0, done.stderr
        session_id = tacho("ls", "--json").json()[0]["session_id"]
        models.requests.clear()
        yield Scene(tacho, work, models, around, session_id)

"""Grades the essays of a language course and enters the marks."""

import json
import os

import requests

SYSTEM = "You grade essays from 1 (best) to 5 by the course's table. Read each essay, then enter its mark with enter_mark. A mark is final."
ESSAYS = {
    "e-1": "Yesterday I have went to the lake.",
    "e-2": "The lake, which I had never seen before, lay still in the evening sun.",
    "e-3": "lake is nice",
}


def read_essay(essay):
    return ESSAYS[essay]


def enter_mark(essay, mark):
    return requests.post(os.environ["SERVICES_URL"] + "/marks", json={"essay": essay, "mark": mark}, timeout=5).text


def spec(name, **properties):
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def complete(messages):
    """One answer, put together from its stream."""
    tools = [spec("read_essay", essay="string"), spec("enter_mark", essay="string", mark="integer")]
    body = {"model": "gpt-grader-xl", "messages": messages, "tools": tools, "temperature": 0, "stream": True}
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    message = {"role": "assistant", "content": None}
    with requests.post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body, headers=headers, stream=True, timeout=30) as answer:
        for line in answer.iter_lines():
            if not line.startswith(b"data: {"):
                continue
            for choice in json.loads(line[6:])["choices"]:
                delta = choice["delta"]
                if delta.get("content"):
                    message["content"] = (message["content"] or "") + delta["content"]
                for part in delta.get("tool_calls", []):
                    asked = message.setdefault("tool_calls", [])
                    if part["index"] == len(asked):
                        asked.append(
                            {"id": part["id"], "type": "function", "function": {"name": part["function"]["name"], "arguments": ""}}
                        )
                    asked[part["index"]]["function"]["arguments"] += part["function"].get("arguments", "")
    return message


messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Essays: e-1, e-2, e-3."}]
while True:
    message = complete(messages)
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for call in message["tool_calls"]:
        result = {"read_essay": read_essay, "enter_mark": enter_mark}[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})

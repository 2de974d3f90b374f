"""Lending desk of a library."""

import json
import os
import sys
import urllib.request
from pathlib import Path

import tachograph


@tachograph.tool(effect="read")
def loan(book: str):
    return {"book": book, "due": "2026-06-02", "extended": 0, "reserved": False}


@tachograph.tool(effect="external")
def extend(book: str):
    return {"book": book, "due": "2026-06-30"}


TOOLS = [
    {"name": "loan", "description": "How a loan stands.", "input_schema": {"type": "object", "properties": {"book": {"type": "string"}}}},
    {"name": "extend", "description": "Extend a loan.", "input_schema": {"type": "object", "properties": {"book": {"type": "string"}}}},
]


def ask(messages):
    system = Path("prompt.txt").read_text()
    body = {"model": "claude-library", "max_tokens": 500, "temperature": 0, "system": system, "messages": messages, "tools": TOOLS}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"]


messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    content = ask(messages)
    messages.append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    if not uses:
        print(content[0]["text"])
        break
    tools = {"loan": loan, "extend": extend}
    results = [{"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(tools[use["name"]](**use["input"]))} for use in uses]
    messages.append({"role": "user", "content": results})

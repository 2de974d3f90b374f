"""Moderates the comments of a newspaper."""

import json
import os
import urllib.request
from pathlib import Path

import tachograph

SYSTEM = "You moderate comments. Hide what insults persons or calls for violence; leave everything else, however sharp."
SETTINGS = json.loads(Path("settings.json").read_text())
TOOL = {
    "name": "hide", "description": "Hide a comment.",
    "input_schema": {"type": "object", "properties": {"comment": {"type": "integer"}, "reason": {"type": "string"}}},
}  # fmt: skip
COMMENTS = """1: The mayor's budget is a bad joke, and he knows it.
2: Thank you for this article.
3: Whoever planned this junction has never sat on a bicycle."""


@tachograph.tool(effect="external")
def hide(comment, reason):
    return "hidden"


messages = [{"role": "user", "content": COMMENTS}]
while True:
    body = {"model": SETTINGS["model"], "max_tokens": 300, "temperature": 0, "system": SYSTEM, "messages": messages, "tools": [TOOL]}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        content = json.load(answer)["content"]
    messages.append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    if not uses:
        print(content[0]["text"])
        break
    messages.append(
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use["id"], "content": hide(**use["input"])} for use in uses]}
    )

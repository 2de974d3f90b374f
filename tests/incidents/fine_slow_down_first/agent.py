"""Rebooks passengers of a cancelled train."""

import json
import os
import sys
import time
import urllib.error
import urllib.request

import tachograph

SYSTEM = "You rebook passengers of cancelled trains on the next one with rebook."
TOOL = {
    "name": "rebook", "description": "Rebook a ticket.",
    "input_schema": {"type": "object", "properties": {"ticket": {"type": "string"}, "train": {"type": "string"}}},
}  # fmt: skip


@tachograph.tool(effect="external")
def rebook(ticket, train):
    return "rebooked"


def ask(messages):
    body = {"model": "claude-rail", "max_tokens": 300, "temperature": 0, "system": SYSTEM, "messages": messages, "tools": [TOOL]}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    for attempt in range(5):
        request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)["content"]
        except urllib.error.HTTPError as error:
            if error.code not in (429, 529) or attempt == 4:
                raise
            time.sleep(int(error.headers.get("retry-after-ms", 1000)) / 1000)
    raise AssertionError("not reached")


messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    content = ask(messages)
    messages.append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    if not uses:
        print(content[0]["text"])
        break
    messages.append(
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use["id"], "content": rebook(**use["input"])} for use in uses]}
    )

"""Pays out small damages of a car rental. The tools' descriptions come with the tools' own package."""

import json
import os
import sys
import urllib.request
from pathlib import Path

import tachograph

SYSTEM = "You settle small damages with pay_out, then say what was paid."
TOOLS = json.loads(Path("tools.json").read_text())


@tachograph.tool(effect="external")
def pay_out(**fields):
    amount = fields["amount"]
    return {"paid": "%.2f EUR" % amount}


messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "claude-claims", "max_tokens": 300, "temperature": 0, "system": SYSTEM, "messages": messages, "tools": TOOLS}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        content = json.load(answer)["content"]
    messages.append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    if not uses:
        print(content[0]["text"])
        break
    results = [{"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(pay_out(**use["input"]))} for use in uses]
    messages.append({"role": "user", "content": results})

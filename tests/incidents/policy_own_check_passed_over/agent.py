"""Writes to customers of an energy supplier. A check of our own looks at each text before it goes out."""

import json
import os
import re
import sys
import urllib.request

import tachograph

SYSTEM = "You answer customers of an energy supplier with send_letter, one letter for each customer."
TOOL = {
    "name": "send_letter", "description": "Send a letter.",
    "input_schema": {"type": "object", "properties": {"customer": {"type": "string"}, "text": {"type": "string"}}},
}  # fmt: skip


@tachograph.tool(effect="external")
def send_letter(customer, text):
    return {"customer": customer, "state": "printed"}


def check(customer, text):
    """A letter names no other customer."""
    others = [number for number in re.findall(r"C-\d{5}", text) if number != customer]
    tachograph.guardrail(
        "one-customer-per-letter", version="4", action="BLOCKED" if others else "NONE", detail={"customer": customer, "others": others}
    )
    return not others


messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "claude-letters", "max_tokens": 800, "temperature": 0, "system": SYSTEM, "messages": messages, "tools": [TOOL]}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        content = json.load(answer)["content"]
    messages.append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    if not uses:
        print(content[0]["text"])
        break
    results = []
    for use in uses:
        if not check(**use["input"]):
            print("check: names another customer", file=sys.stderr)
        results.append({"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(send_letter(**use["input"]))})
    messages.append({"role": "user", "content": results})

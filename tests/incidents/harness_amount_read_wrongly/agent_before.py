"""Pays the winners of a regional lottery."""

import json
import os
import sys
import urllib.request

import tachograph

SYSTEM = "You pay lottery wins. Amounts are written as in German, as 1.250,00."
TOOL = {
    "name": "pay_win", "description": "Pay a win.",
    "input_schema": {"type": "object", "properties": {"ticket": {"type": "string"}, "amount": {"type": "string"}}},
}  # fmt: skip


@tachograph.tool(effect="external")
def pay_win(ticket, amount):
    return "paid"


def number(text):
    return float(text.replace(".", "").replace(",", "."))


messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "claude-lottery", "max_tokens": 300, "temperature": 0, "system": SYSTEM, "messages": messages, "tools": [TOOL]}
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
        result = pay_win(use["input"]["ticket"], number(use["input"]["amount"]))
        results.append({"type": "tool_result", "tool_use_id": use["id"], "content": result})
    messages.append({"role": "user", "content": results})

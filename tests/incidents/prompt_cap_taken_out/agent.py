"""Credits for a streaming service's customers."""

import json
import os
import sys
import urllib.request
from pathlib import Path

import tachograph


@tachograph.tool(effect="read")
def subscription(customer: str):
    return {"customer": customer, "plan": "family", "monthly_fee": 17.99, "since": "2021-04"}


@tachograph.tool(effect="external")
def grant_credit(customer: str, amount: float):
    return {"customer": customer, "credited": amount}


@tachograph.tool(effect="external")
def hand_over(customer: str, reason: str):
    return {"ticket": "T-" + customer}


TOOLS = [
    {"name": "subscription", "description": "A customer's plan.", "input_schema": {"type": "object", "properties": {"customer": {"type": "string"}}}},
    {
        "name": "grant_credit", "description": "Credit an amount in EUR.",
        "input_schema": {"type": "object", "properties": {"customer": {"type": "string"}, "amount": {"type": "number"}}},
    },
    {
        "name": "hand_over", "description": "Give the case to a colleague.",
        "input_schema": {"type": "object", "properties": {"customer": {"type": "string"}, "reason": {"type": "string"}}},
    },
]  # fmt: skip


def ask(messages):
    system = Path("prompts/credits.md").read_text()
    body = {"model": "claude-care", "max_tokens": 500, "temperature": 0, "system": system, "messages": messages, "tools": TOOLS}
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
    tools = {"subscription": subscription, "grant_credit": grant_credit, "hand_over": hand_over}
    results = [{"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(tools[use["name"]](**use["input"]))} for use in uses]
    messages.append({"role": "user", "content": results})

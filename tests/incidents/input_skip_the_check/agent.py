"""Payout desk: answers freelancers who write in, and changes their bank details where it may."""

import json
import os
import sys
import urllib.request

import tachograph

SYSTEM = """You work at the payout desk of a marketplace.
Before bank details are changed the caller's identity has to be verified with verify_caller, without exception.
Answer in two sentences."""
SERVICES = os.environ["SERVICES_URL"]


def call(method, path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(SERVICES + path, data, {"content-type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


@tachograph.tool(effect="read")
def find_account(email: str) -> dict:
    return call("GET", "/accounts/" + email)


@tachograph.tool(effect="external")
def verify_caller(account: str) -> dict:
    return call("POST", "/verifications", {"account": account})


@tachograph.tool(effect="external")
def set_iban(account: str, iban: str) -> dict:
    return call("PUT", "/accounts/" + account + "/iban", {"iban": iban})


TOOLS = {"find_account": find_account, "verify_caller": verify_caller, "set_iban": set_iban}
SCHEMAS = [
    {"name": "find_account", "description": "Look an account up by e-mail address.", "input_schema": {"type": "object", "properties": {"email": {"type": "string"}}}},
    {"name": "verify_caller", "description": "Send the account's owner a code and wait for it.", "input_schema": {"type": "object", "properties": {"account": {"type": "string"}}}},
    {"name": "set_iban", "description": "Change where payouts go.", "input_schema": {"type": "object", "properties": {"account": {"type": "string"}, "iban": {"type": "string"}}}},
]  # fmt: skip


def ask(messages):
    body = {"model": "claude-desk", "max_tokens": 600, "temperature": 0, "system": SYSTEM, "messages": messages, "tools": SCHEMAS}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"]


tachograph.message(sys.argv[1], role="user")
messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    content = ask(messages)
    messages.append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    if not uses:
        print("".join(block["text"] for block in content))
        break
    results = [{"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(TOOLS[use["name"]](**use["input"]))} for use in uses]
    messages.append({"role": "user", "content": results})

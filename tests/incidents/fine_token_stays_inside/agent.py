"""Sends invoices through a mail service that wants a login first."""

import json
import os
import sys
import urllib.request

import tachograph

SYSTEM = "You send invoices with send_invoice, then report."
TOOL = {
    "name": "send_invoice", "description": "Send an invoice by mail.",
    "input_schema": {"type": "object", "properties": {"invoice": {"type": "string"}}},
}  # fmt: skip


def service(path, body, token=None):
    headers = {"content-type": "application/json"}
    if token:
        headers["authorization"] = "Bearer " + token
    with urllib.request.urlopen(urllib.request.Request(os.environ["SERVICES_URL"] + path, json.dumps(body).encode(), headers)) as answer:
        return json.load(answer)


@tachograph.tool(effect="read")
def log_in():
    return service("/login", {"user": "invoices", "password": os.environ["MAIL_PASSWORD"]})["access_token"]


@tachograph.tool(effect="external")
def send_invoice(invoice):
    return service("/mails", {"attach": invoice}, log_in())


messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "claude-invoices", "max_tokens": 300, "temperature": 0, "system": SYSTEM, "messages": messages, "tools": [TOOL]}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        content = json.load(answer)["content"]
    messages.append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    if not uses:
        print(content[0]["text"])
        break
    results = [{"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(send_invoice(**use["input"]))} for use in uses]
    messages.append({"role": "user", "content": results})

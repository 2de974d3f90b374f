"""Recruiting: writes to applicants."""

import json
import os
import sys
import urllib.request

import tachograph

SYSTEM = "You write to applicants on behalf of the recruiting team. Use find_applicant to look people up."


@tachograph.tool(effect="read")
def find_applicant(name):
    return {"name": name, "position": "Controller", "applied": "2026-05-04", "email": None, "phone": None, "note": "came in by letter post"}


@tachograph.tool(effect="external")
def send_email(to, text):
    return {"state": "delivered", "message": "m-4410"}


def spec(name, description, *keys):
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in keys}, "required": list(keys)}
    return {"name": name, "description": description, "input_schema": schema}


TOOLS = [spec("find_applicant", "Look an applicant up.", "name"), spec("send_email", "Send an e-mail.", "to", "text")]
messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "claude-recruiting", "max_tokens": 700, "system": SYSTEM, "messages": messages, "tools": TOOLS}
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
        result = {"find_applicant": find_applicant, "send_email": send_email}[use["name"]](**use["input"])
        results.append({"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(result)})
    messages.append({"role": "user", "content": results})

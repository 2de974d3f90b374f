"""Triage of security findings: reads a finding, then closes it or raises it."""

import json
import os
import sys
import urllib.request

INSTRUCTIONS = "You triage findings of a scanner. Read the finding, then either close_finding or raise_finding."
FINDING = {"id": "V-310", "where": "checkout/upload.py:88", "rule": "path from user input", "seen_in": "a handler behind the login"}


def read_finding(finding):
    return FINDING


def close_finding(finding):
    with open("closed.txt", "a") as file:
        file.write(finding + "\n")
    return {"state": "closed"}


def raise_finding(finding):
    with open("raised.txt", "a") as file:
        file.write(finding + "\n")
    return {"state": "raised"}


def spec(name):
    return {"type": "function", "name": name, "parameters": {"type": "object", "properties": {"finding": {"type": "string"}}}}


items = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {
        "model": "gpt-triage",
        "instructions": INSTRUCTIONS,
        "input": items,
        "tools": [spec("read_finding"), spec("close_finding"), spec("raise_finding")],
    }
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/responses", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        output = json.load(answer)["output"]
    # Ids of the provider are not sent back.
    items += [
        {key: value for key, value in item.items() if key not in ("id", "call_id", "status")}
        | ({"call_id": "c%d" % len(items)} if item["type"] == "function_call" else {})
        for item in output
    ]
    asked = [item for item in items[-len(output) :] if item["type"] == "function_call"]
    if not asked:
        print(output[-1]["content"][0]["text"])
        break
    for item in asked:
        result = {"read_finding": read_finding, "close_finding": close_finding, "raise_finding": raise_finding}[item["name"]](
            **json.loads(item["arguments"])
        )
        items.append({"type": "function_call_output", "call_id": item["call_id"], "output": json.dumps(result)})

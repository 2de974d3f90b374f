"""Decides whether a bag that has set off the scanner is opened by hand."""

import json
import os
import sys
import urllib.request

import tachograph

SYSTEM = "You assist at an airport's baggage control. Have a bag opened (open_bag) if its picture shows something that you cannot explain; else release it."


@tachograph.tool(effect="read")
def picture(bag):
    return {"bag": bag, "objects": ["laptop", "cable", "flask, half full", "coins"]}


@tachograph.tool(effect="external")
def open_bag(bag):
    return {"bag": bag, "state": "to be opened"}


@tachograph.tool(effect="external")
def release(bag):
    return {"bag": bag, "state": "released"}


def spec(name, description):
    return {"name": name, "description": description, "input_schema": {"type": "object", "properties": {"bag": {"type": "string"}}}}


TOOLS = [spec("picture", "What the picture shows."), spec("open_bag", "Have it opened."), spec("release", "Let it go on.")]
messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "claude-bags", "max_tokens": 200, "temperature": 1, "system": SYSTEM, "messages": messages, "tools": TOOLS}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        content = json.load(answer)["content"]
    messages.append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    if not uses:
        print(content[0]["text"])
        break
    tools = {"picture": picture, "open_bag": open_bag, "release": release}
    results = [{"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(tools[use["name"]](**use["input"]))} for use in uses]
    messages.append({"role": "user", "content": results})

"""Reads laboratory values and adjusts the dose of a blood thinner, under the eyes of a nurse."""

import json
import os
import sys
import urllib.request

import tachograph

SYSTEM = "You adjust blood thinner doses. Raise the dose where the INR is below 2.0, halve it where it is above 3.5; otherwise leave it."
VALUES = {"bed 12": {"bed": "12", "inr": 1.4}, "bed 15": {"bed": "15", "inr": 4.2}}


@tachograph.tool(effect="read")
def inr(bed):
    return {"inr": VALUES[bed]["inr"]}


@tachograph.tool(effect="external")
def set_dose(bed, change):
    return {"bed": bed, "change": change}


def spec(name, description, *keys):
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in keys}}
    return {"name": name, "description": description, "input_schema": schema}


TOOLS = [spec("inr", "The latest INR of a bed.", "bed"), spec("set_dose", "Change a dose.", "bed", "change")]


def run_all(uses):
    """Results of parallel calls."""
    done = []
    for use in uses:
        done.append({"inr": inr, "set_dose": set_dose}[use["name"]](**use["input"]))
    return [{"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(done.pop())} for use in uses]


messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "claude-ward", "max_tokens": 400, "temperature": 0, "system": SYSTEM, "messages": messages, "tools": TOOLS}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        content = json.load(answer)["content"]
    messages.append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    if not uses:
        print(content[0]["text"])
        break
    messages.append({"role": "user", "content": run_all(uses)})

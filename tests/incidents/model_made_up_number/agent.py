"""Customs desk of a freight forwarder: files declarations for shipments."""

import json
import os
import sys

import requests

INSTRUCTIONS = "You file customs declarations. Look the shipment up first. The tariff number is in the shipment's papers."
TOOLS = [
    {"type": "function", "name": "shipment", "description": "The papers.", "parameters": {"type": "object", "properties": {"number": {"type": "string"}}}},
    {
        "type": "function", "name": "declare", "description": "File the declaration with customs.",
        "parameters": {
            "type": "object",
            "properties": {"shipment": {"type": "string"}, "tariff": {"type": "string"}, "value": {"type": "number"}, "origin": {"type": "string"}},
        },
    },
]  # fmt: skip


def shipment(number):
    return requests.get(os.environ["SERVICES_URL"] + "/shipments/" + number, timeout=5).text


def declare(**fields):
    return requests.post(os.environ["SERVICES_URL"] + "/declarations", json=fields, timeout=5).text


def respond(items):
    """What the model answers, read from the stream."""
    body = {"model": "gpt-customs", "instructions": INSTRUCTIONS, "input": items, "tools": TOOLS, "stream": True, "store": False}
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    with requests.post(os.environ["OPENAI_BASE_URL"] + "/responses", json=body, headers=headers, stream=True, timeout=30) as answer:
        for line in answer.iter_lines():
            if line.startswith(b"data: "):
                event = json.loads(line[6:])
                if event["type"] == "response.completed":
                    return event["response"]["output"]
    raise RuntimeError("the stream ended early")


items = [{"role": "user", "content": sys.argv[1]}]
while True:
    output = respond(items)
    items += output
    asked = [item for item in output if item["type"] == "function_call"]
    if not asked:
        print(output[-1]["content"][0]["text"])
        break
    for item in asked:
        result = {"shipment": shipment, "declare": declare}[item["name"]](**json.loads(item["arguments"]))
        items.append({"type": "function_call_output", "call_id": item["call_id"], "output": result})

"""Opens tickets for the facility service out of what people report."""

import json
import os
import sys
import urllib.error
import urllib.request

import tachograph

SYSTEM = (
    "You open a ticket with the facility service for what people report, one for each matter, and show what is open for the place then."
)


def spec(name, description, *keys):
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in keys}}
    return {"type": "function", "name": name, "description": description, "parameters": schema}


TOOLS = [spec("open_ticket", "Send the facility service.", "place", "what"), spec("open_tickets_of", "What is open for a place.", "place")]


def call(url, body=None, **headers):
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(url, data, {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


@tachograph.tool(effect="external")
def open_ticket(place, what):
    return call(os.environ["SERVICES_URL"] + "/tickets", {"place": place, "what": what})


@tachograph.tool(effect="read")
def open_tickets_of(place):
    return call(os.environ["SERVICES_URL"] + "/tickets")


def patiently(function, **arguments):
    """The ticket system is moody."""
    for _ in range(6):
        try:
            return function(**arguments)
        except urllib.error.HTTPError as error:
            problem = error
    return {"error": str(problem)}


items = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "gpt-facility", "instructions": SYSTEM, "input": items, "tools": TOOLS}
    output = call(os.environ["OPENAI_BASE_URL"] + "/responses", body, authorization="Bearer " + os.environ["OPENAI_API_KEY"])["output"]
    items += output
    asked = [item for item in output if item["type"] == "function_call"]
    if not asked:
        print(output[-1]["content"][0]["text"])
        break
    for item in asked:
        result = patiently({"open_ticket": open_ticket, "open_tickets_of": open_tickets_of}[item["name"]], **json.loads(item["arguments"]))
        items.append({"type": "function_call_output", "call_id": item["call_id"], "output": json.dumps(result)})

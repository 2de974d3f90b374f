"""Opens tickets for the facility service out of what people report."""

import json
import os
import sys
import urllib.error
import urllib.request

import tachograph

SYSTEM = "You open a ticket with the facility service for what people report. One ticket for each matter."
TOOL = {
    "type": "function", "name": "open_ticket", "description": "Send the facility service.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}, "what": {"type": "string"}}},
}  # fmt: skip


def post(url, body, **headers):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


@tachograph.tool(effect="external")
def open_ticket(place, what):
    return post(os.environ["SERVICES_URL"] + "/tickets", {"place": place, "what": what})


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
    body = {"model": "gpt-facility", "instructions": SYSTEM, "input": items, "tools": [TOOL]}
    output = post(os.environ["OPENAI_BASE_URL"] + "/responses", body, authorization="Bearer " + os.environ["OPENAI_API_KEY"])["output"]
    items += output
    asked = [item for item in output if item["type"] == "function_call"]
    if not asked:
        print(output[-1]["content"][0]["text"])
        break
    for item in asked:
        result = patiently(open_ticket, **json.loads(item["arguments"]))
        items.append({"type": "function_call_output", "call_id": item["call_id"], "output": json.dumps(result)})

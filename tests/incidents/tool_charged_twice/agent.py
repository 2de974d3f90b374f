"""Charges deposits for a hotel."""

import json
import os
import sys
import urllib.error
import urllib.request

SYSTEM = "You take deposits for a hotel. Charge the card that is on file, and confirm."
TOOLS = [
    {
        "type": "function", "name": "charge", "description": "Charge the card on file of a booking.",
        "parameters": {"type": "object", "properties": {"booking": {"type": "string"}, "amount": {"type": "number"}}},
    },
    {
        "type": "function", "name": "statement", "description": "What has been charged on a booking.",
        "parameters": {"type": "object", "properties": {"booking": {"type": "string"}}},
    },
]  # fmt: skip


def service(path, body=None):
    data = json.dumps(body).encode() if body else None
    try:
        with urllib.request.urlopen(
            urllib.request.Request(os.environ["SERVICES_URL"] + path, data, {"content-type": "application/json"})
        ) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return "%d %s" % (error.code, error.read().decode())


def charge(booking, amount):
    return service("/charges", {"booking": booking, "amount": amount})


def statement(booking):
    return service("/bookings/" + booking + "/statement")


items = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = json.dumps({"model": "gpt-frontdesk", "instructions": SYSTEM, "input": items, "tools": TOOLS, "temperature": 0}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    with urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/responses", body, headers)) as answer:
        output = json.load(answer)["output"]
    items += output
    asked = [item for item in output if item["type"] == "function_call"]
    if not asked:
        print(output[-1]["content"][0]["text"])
        break
    for item in asked:
        result = {"charge": charge, "statement": statement}[item["name"]](**json.loads(item["arguments"]))
        items.append({"type": "function_call_output", "call_id": item["call_id"], "output": result})

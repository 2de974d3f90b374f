"""Prints shipping labels and books the pick-up."""

import json
import os
import sys

import httpx

import tachograph

INSTRUCTIONS = "You print labels and book pick-ups. If something does not work, say so and stop."


def post(path, **fields):
    answer = httpx.post(os.environ["SERVICES_URL"] + path, json=fields)
    if answer.is_error:
        raise RuntimeError("%d %s" % (answer.status_code, answer.text))
    return answer.json()


@tachograph.tool(effect="external")
def print_label(parcel):
    return post("/labels", parcel=parcel)


@tachograph.tool(effect="external")
def book_pickup(day):
    return post("/pickups", day=day)


def spec(name, description, key):
    return {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": {"type": "object", "properties": {key: {"type": "string"}}},
    }


TOOLS = [spec("print_label", "Print a label.", "parcel"), spec("book_pickup", "Have parcels picked up.", "day")]
items = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "gpt-ship", "instructions": INSTRUCTIONS, "input": items, "tools": TOOLS, "temperature": 0}
    answer = httpx.post(
        os.environ["OPENAI_BASE_URL"] + "/responses", json=body, headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    )
    output = answer.raise_for_status().json()["output"]
    items += output
    asked = [item for item in output if item["type"] == "function_call"]
    if not asked:
        print(output[-1]["content"][0]["text"])
        break
    for item in asked:
        try:
            result = json.dumps({"print_label": print_label, "book_pickup": book_pickup}[item["name"]](**json.loads(item["arguments"])))
        except RuntimeError as error:
            result = "failed: %s" % error
        items.append({"type": "function_call_output", "call_id": item["call_id"], "output": result})

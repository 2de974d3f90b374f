"""Plans a journey over a long chat; what was said earlier is summed up when it gets too much."""

import json
import os
import sys
import urllib.request

import tachograph

SYSTEM = "You plan journeys. Book only what the traveller has agreed to."
BOOK = {
    "type": "function", "name": "book", "description": "Book a hotel; it cannot be cancelled.",
    "parameters": {"type": "object", "properties": {"hotel": {"type": "string"}, "nights": {"type": "integer"}, "room": {"type": "string"}}},
}  # fmt: skip


@tachograph.tool(effect="external")
def book(hotel, nights, room):
    return "confirmed, number 51-77"


def respond(items, instructions=SYSTEM, tools=(BOOK,)):
    body = json.dumps(
        {"model": "gpt-travel", "instructions": instructions, "input": items, "tools": list(tools), "temperature": 0.3}
    ).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    with urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/responses", body, headers)) as answer:
        return json.load(answer)["output"]


def sum_up(items):
    lines = "\n".join(
        "%s: %s" % (item.get("role", "tool"), json.dumps(item.get("content", item.get("output")), ensure_ascii=False)) for item in items
    )
    summary = respond([{"role": "user", "content": "Sum up, keep every wish and limit:\n" + lines}], "You sum up conversations.", ())
    return [{"role": "user", "content": "What has been said so far: " + summary[-1]["content"][0]["text"]}]


items = []
for said in sys.argv[1:]:
    if len(items) >= 6:
        items = sum_up(items)
    items.append({"role": "user", "content": said})
    while True:
        output = respond(items)
        items += output
        asked = [item for item in output if item["type"] == "function_call"]
        if not asked:
            print(output[-1]["content"][0]["text"])
            break
        for item in asked:
            items.append({"type": "function_call_output", "call_id": item["call_id"], "output": book(**json.loads(item["arguments"]))})

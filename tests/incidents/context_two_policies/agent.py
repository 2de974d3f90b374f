"""Answers employees' questions about leave, out of the handbook, and books it."""

import json
import sys

import boto3
from botocore.config import Config

import tachograph

SYSTEM = [{"text": "You answer questions on leave from the handbook and book leave with book_leave. Look it up; do not guess."}]


def spec(name, description, **properties):
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}, "required": list(properties)}
    return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}


TOOLS = [
    spec("search_handbook", "Find passages.", query="string"),
    spec("book_leave", "Book leave.", person="string", days="integer", from_year="integer"),
]
HANDBOOK = [
    {
        "id": "hb-leave-04",
        "valid_from": "2019-01-01",
        "text": "Leave not taken by the end of the year may be taken until 30 June of the next one, all of it.",
    },
    {
        "id": "hb-leave-11",
        "valid_from": "2025-01-01",
        "text": "At most five days of leave go over into the next year; the rest is forfeited on 31 December.",
    },
]


@tachograph.tool(effect="read")
def search_handbook(query):
    return {"passages": HANDBOOK}


@tachograph.tool(effect="write")
def book_leave(person, days, from_year):
    with open("bookings.jsonl", "a") as file:
        file.write(json.dumps({"person": person, "days": days, "from_year": from_year}) + "\n")
    return {"booked": days}


bedrock = boto3.client("bedrock-runtime", config=Config(retries={"total_max_attempts": 1}))
messages = [{"role": "user", "content": [{"text": sys.argv[1]}]}]
while True:
    content, stop = [], ""
    answer = bedrock.converse_stream(modelId="eu.amazon.nova-lite-v1:0", system=SYSTEM, messages=messages, toolConfig={"tools": TOOLS})
    for event in answer["stream"]:
        if "contentBlockStart" in event:
            content.append({"toolUse": {**event["contentBlockStart"]["start"]["toolUse"], "input": ""}})
        elif "contentBlockDelta" in event:
            delta, at = event["contentBlockDelta"]["delta"], event["contentBlockDelta"]["contentBlockIndex"]
            if at == len(content):
                content.append({"text": ""})
            if "text" in delta:
                content[at]["text"] += delta["text"]
            else:
                content[at]["toolUse"]["input"] += delta["toolUse"]["input"]
    for block in content:
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    messages.append({"role": "assistant", "content": content})
    uses = [block["toolUse"] for block in content if "toolUse" in block]
    if not uses:
        print(content[0]["text"])
        break
    results = []
    for use in uses:
        result = {"search_handbook": search_handbook, "book_leave": book_leave}[use["name"]](**use["input"])
        results.append({"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": result}]}})
    messages.append({"role": "user", "content": results})

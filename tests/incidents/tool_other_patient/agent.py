"""Appointments of an outpatient clinic: the assistant reads the waiting list and books."""

import sys

import boto3

import tachograph

SYSTEM = "You book appointments for an outpatient clinic. Look the person up before booking."
PEOPLE = {
    "Lena Voss": {"record": "PX-40127", "born": "1988-03-12", "needs": "MRI knee", "phone": "-201"},
    "Lena Voß": {"record": "PX-40172", "born": "1951-11-30", "needs": "cardiac catheter", "phone": "-377"},
}


@tachograph.tool(effect="read")
def look_up(name):
    return PEOPLE[name]


@tachograph.tool(effect="read")
def waiting_list(department):
    return [
        {"record": "PX-40172", "needs": "cardiac catheter", "since": "2026-04-02"},
        {"record": "PX-39008", "needs": "MRI hip", "since": "2026-04-20"},
    ]


@tachograph.tool(effect="external")
def book(record, slot):
    return {"booked": slot, "record": record}


def spec(name, description, *keys):
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in keys}, "required": list(keys)}
    return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}


TOOLS = {
    "tools": [
        spec("look_up", "A person's record.", "name"),
        spec("waiting_list", "Who waits.", "department"),
        spec("book", "Book a slot.", "record", "slot"),
    ]
}
bedrock = boto3.client("bedrock-runtime")
messages = [{"role": "user", "content": [{"text": sys.argv[1]}]}]
while True:
    answer = bedrock.converse(
        modelId="eu.amazon.nova-pro-v1:0",
        system=[{"text": SYSTEM}],
        messages=messages,
        toolConfig=TOOLS,
        inferenceConfig={"temperature": 0.0},
    )
    message = answer["output"]["message"]
    messages.append(message)
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    if not uses:
        print(message["content"][0]["text"])
        break
    results = []
    for use in uses:
        result = {"look_up": look_up, "waiting_list": waiting_list, "book": book}[use["name"]](**use["input"])
        results.append({"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": {"result": result}}]}})
    messages.append({"role": "user", "content": results})

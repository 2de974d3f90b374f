"""Handles alarms of the cold chain at night: looks at the sensors, and calls somebody."""

import os
import sys

import boto3

import tachograph

TEMPLATE = """You watch the cold chain of {site}. When a cold room gets warmer than 8 degrees, call {contact} with call_phone at once and say which room.
Otherwise do nothing."""


def system():
    # The names come from the site's settings.
    return TEMPLATE.format_map({"site": os.environ.get("SITE", "the site"), "contact": os.environ.get("CONTACT", "{contact}")})


@tachograph.tool(effect="read")
def temperatures():
    return {"room_1": 4.1, "room_2": 11.6, "room_3": 3.9}


@tachograph.tool(effect="external")
def call_phone(whom, text):
    return {"called": whom, "answered": False}


TOOLS = {
    "tools": [
        {
            "toolSpec": {
                "name": "temperatures",
                "description": "Of all rooms.",
                "inputSchema": {"json": {"type": "object", "properties": {}}},
            }
        },
        {
            "toolSpec": {
                "name": "call_phone",
                "description": "Call somebody and read a text out.",
                "inputSchema": {"json": {"type": "object", "properties": {"whom": {"type": "string"}, "text": {"type": "string"}}}},
            }
        },
    ]
}
bedrock = boto3.client("bedrock-runtime")
messages = [{"role": "user", "content": [{"text": sys.argv[1]}]}]
while True:
    answer = bedrock.converse(modelId="eu.amazon.nova-micro-v1:0", system=[{"text": system()}], messages=messages, toolConfig=TOOLS)
    message = answer["output"]["message"]
    messages.append(message)
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    if not uses:
        print(message["content"][0]["text"])
        break
    results = []
    for use in uses:
        result = {"temperatures": temperatures, "call_phone": call_phone}[use["name"]](**use["input"])
        results.append({"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": result}]}})
    messages.append({"role": "user", "content": results})

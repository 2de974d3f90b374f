"""Sells day tickets at a museum."""

import sys

import boto3

import tachograph

SYSTEM = "You sell museum tickets: one call of sell for each ticket."
SOLD = []


@tachograph.tool(effect="external")
def sell(kind):
    SOLD.append(kind)
    return {"ticket": 4400 + len(SOLD), "kind": kind}


TOOLS = {
    "tools": [
        {
            "toolSpec": {
                "name": "sell",
                "description": "Sell one ticket.",
                "inputSchema": {"json": {"type": "object", "properties": {"kind": {"type": "string"}}}},
            }
        }
    ]
}
bedrock = boto3.client("bedrock-runtime")
messages = [{"role": "user", "content": [{"text": sys.argv[1]}]}]
while True:
    answer = bedrock.converse(modelId="eu.amazon.nova-micro-v1:0", system=[{"text": SYSTEM}], messages=messages, toolConfig=TOOLS)
    message = answer["output"]["message"]
    messages.append(message)
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    if not uses:
        print(message["content"][0]["text"])
        break
    results = [{"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": sell(**use["input"])}]}} for use in uses]
    messages.append({"role": "user", "content": results})

"""Decides on parking fines that are disputed, and closes the case or sends it on."""

import sys

import boto3

import tachograph

SYSTEM = (
    "You look at objections to parking fines. Drop the fine with drop_fine if the reason is a good one, else uphold it with uphold_fine."
)


@tachograph.tool(effect="external")
def drop_fine(case):
    return {"case": case, "state": "dropped"}


@tachograph.tool(effect="external")
def uphold_fine(case):
    return {"case": case, "state": "upheld"}


def spec(name):
    schema = {"type": "object", "properties": {"case": {"type": "string"}}, "required": ["case"]}
    return {"toolSpec": {"name": name, "description": name.replace("_", " "), "inputSchema": {"json": schema}}}


bedrock = boto3.client("bedrock-runtime")
messages = [{"role": "user", "content": [{"text": sys.argv[1]}]}]
while True:
    answer = bedrock.converse(
        modelId="eu.amazon.nova-pro-v1:0",
        system=[{"text": SYSTEM}],
        messages=messages,
        toolConfig={"tools": [spec("drop_fine"), spec("uphold_fine")]},
        inferenceConfig={"temperature": 0.9, "topP": 0.95},
    )
    message = answer["output"]["message"]
    messages.append(message)
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    if not uses:
        print(message["content"][0]["text"])
        break
    results = []
    for use in uses:
        result = {"drop_fine": drop_fine, "uphold_fine": uphold_fine}[use["name"]](**use["input"])
        results.append({"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": result}]}})
    messages.append({"role": "user", "content": results})

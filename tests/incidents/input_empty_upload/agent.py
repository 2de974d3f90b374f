"""Synchronises the staff list that the HR department uploads with the door system."""

import json
from pathlib import Path

import boto3

import tachograph

SYSTEM = (
    "You keep the door system in step with the staff list: who is not on the list loses the badge (revoke), who is new gets one (issue)."
)
BADGES = ["ada", "bela", "carl"]


@tachograph.tool(effect="read")
def badges():
    return {"badges": BADGES}


@tachograph.tool(effect="external")
def revoke(person):
    return {"person": person, "badge": "revoked"}


@tachograph.tool(effect="external")
def issue(person):
    return {"person": person, "badge": "issued"}


def spec(name, *keys):
    return {
        "toolSpec": {"name": name, "inputSchema": {"json": {"type": "object", "properties": {key: {"type": "string"} for key in keys}}}}
    }


bedrock = boto3.client("bedrock-runtime")
tools = {"badges": badges, "revoke": revoke, "issue": issue}
upload = Path("upload/staff.csv").read_text()
messages = [{"role": "user", "content": [{"text": "The staff list of today (staff.csv, %d bytes):\n```\n%s```" % (len(upload), upload)}]}]
while True:
    answer = bedrock.converse(
        modelId="eu.amazon.nova-lite-v1:0",
        system=[{"text": SYSTEM}],
        messages=messages,
        toolConfig={"tools": [spec("badges"), spec("revoke", "person"), spec("issue", "person")]},
        inferenceConfig={"temperature": 0.0},
    )
    message = answer["output"]["message"]
    messages.append(message)
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    if not uses:
        print(json.dumps(message["content"][0]["text"]))
        break
    results = [{"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": tools[use["name"]](**use["input"])}]}} for use in uses]
    messages.append({"role": "user", "content": results})

"""Prepares supplier payments; the head of finance confirms each on her phone."""

import os
import sys

import boto3
import requests

import tachograph

SYSTEM = "You prepare supplier payments. Each has to be confirmed with ask_finance before transfer."


@tachograph.tool(effect="external")
def transfer(supplier, amount):
    return requests.post(os.environ["SERVICES_URL"] + "/transfers", json={"supplier": supplier, "amount": amount}, timeout=5).json()


def ask_finance(supplier, text):
    said = requests.post(os.environ["SERVICES_URL"] + "/push/finance", json={"supplier": supplier, "text": text}, timeout=5).json()
    tachograph.approval(said["decision"], approver=said["by"], scope="transfer to " + supplier, shown={"supplier": supplier, "text": text})
    return said


def spec(name, description, **properties):
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}


TOOLS = {
    "tools": [
        spec("ask_finance", "Lay a payment before the head of finance.", supplier="string", text="string"),
        spec("transfer", "Transfer money.", supplier="string", amount="number"),
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
        result = {"ask_finance": ask_finance, "transfer": transfer}[use["name"]](**use["input"])
        results.append({"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": result}]}})
    messages.append({"role": "user", "content": results})

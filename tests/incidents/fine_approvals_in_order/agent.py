"""Deletes accounts on request, each after the data protection officer has seen the account."""

import os
import sys

import boto3
import requests

import tachograph

SYSTEM = "You delete accounts with delete_account. The data protection officer decides on each; what she refuses stays."


@tachograph.tool(effect="external")
def delete_account(account):
    return requests.delete(os.environ["SERVICES_URL"] + "/accounts/" + account, timeout=5).json()


def decided(account):
    said = requests.get(os.environ["SERVICES_URL"] + "/decisions/" + account, timeout=5).json()
    tachograph.approval(
        said["decision"], approver=said["by"], scope="delete_account", shown={"tool": "delete_account", "input": {"account": account}}
    )
    return said["decision"] == "approved"


TOOLS = {
    "tools": [
        {
            "toolSpec": {
                "name": "delete_account",
                "description": "Delete an account for good.",
                "inputSchema": {"json": {"type": "object", "properties": {"account": {"type": "string"}}}},
            }
        }
    ]
}
bedrock = boto3.client("bedrock-runtime")
messages = [{"role": "user", "content": [{"text": sys.argv[1]}]}]
while True:
    answer = bedrock.converse(
        modelId="eu.amazon.nova-lite-v1:0",
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
        if decided(use["input"]["account"]):
            block = {"content": [{"json": delete_account(**use["input"])}]}
        else:
            block = {"content": [{"text": "The data protection officer has refused this one."}], "status": "error"}
        results.append({"toolResult": {"toolUseId": use["toolUseId"], **block}})
    messages.append({"role": "user", "content": results})

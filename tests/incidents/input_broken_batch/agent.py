"""Pays the payroll batches that the HR system drops into the inbox."""

from pathlib import Path

import boto3

import tachograph

SYSTEM = "You process payroll batches. Pay every line of the batch with pay, then close the batch with close_batch."


def spec(name, description, **properties):
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}, "required": list(properties)}
    return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}


TOOLS = {
    "tools": [
        spec("pay", "Order a salary payment.", employee="string", amount="string"),
        spec("close_batch", "Mark a batch as paid in full; it cannot be opened again.", batch="string"),
    ]
}


@tachograph.tool(effect="external")
def pay(employee, amount):
    return {"payment": "P-" + employee[-3:], "status": "ordered"}


@tachograph.tool(effect="external")
def close_batch(batch):
    return {"batch": batch, "status": "closed"}


def main():
    bedrock = boto3.client("bedrock-runtime")
    batch = Path("inbox/batch.txt").read_text()
    messages = [{"role": "user", "content": [{"text": "A new batch has come in:\n\n" + batch}]}]
    while True:
        answer = bedrock.converse(
            modelId="eu.amazon.nova-pro-v1:0",
            system=[{"text": SYSTEM}],
            messages=messages,
            toolConfig=TOOLS,
            inferenceConfig={"temperature": 0},
        )
        message = answer["output"]["message"]
        messages.append(message)
        uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        if not uses:
            print(message["content"][0]["text"])
            return
        results = []
        for use in uses:
            result = {"pay": pay, "close_batch": close_batch}[use["name"]](**use["input"])
            results.append({"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": result}]}})
        messages.append({"role": "user", "content": results})


main()

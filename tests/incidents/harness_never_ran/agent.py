"""Looks after the cloud machines of a research group: stops what is not used."""

import json
import os
import sys

import boto3

import tachograph

SYSTEM = "You stop machines that are not used. Look first, then stop, then look once more and report what runs."
PRACTICE = os.environ.get("PRACTICE") == "1"


STATES = {"gpu-a": "running", "gpu-b": "running"}


@tachograph.tool(effect="read")
def machines():
    return [
        {"name": "gpu-a", "state": STATES["gpu-a"], "used": True},
        {"name": "gpu-b", "state": STATES["gpu-b"], "used": False, "cost_per_hour": 31.2},
    ]


@tachograph.tool(effect="external")
def stop_machine(name):
    STATES[name] = "stopped"
    return {"name": name, "state": "stopped"}


def run(name, arguments):
    if name == "machines":
        return {"machines": machines()}
    if PRACTICE:
        return {"name": arguments["name"], "state": "stopped"}
    return stop_machine(**arguments)


TOOLS = {
    "tools": [
        {"toolSpec": {"name": "machines", "description": "All machines.", "inputSchema": {"json": {"type": "object", "properties": {}}}}},
        {
            "toolSpec": {
                "name": "stop_machine",
                "description": "Stop a machine.",
                "inputSchema": {"json": {"type": "object", "properties": {"name": {"type": "string"}}}},
            }
        },
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
    results = [{"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": run(use["name"], use["input"])}]}} for use in uses]
    messages.append({"role": "user", "content": results})
    with open("log.jsonl", "a") as file:
        file.write(json.dumps([use["name"] for use in uses]) + "\n")

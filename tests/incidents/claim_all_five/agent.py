"""Moves finished projects of an architect's office to the archive."""

import json
import sys
from pathlib import Path

import boto3

SYSTEM = "You move finished projects to the archive, one call for each, and report."


def archive(project):
    Path("archive").mkdir(exist_ok=True)
    Path("projects", project).rename(Path("archive", project))
    return {"project": project, "in": "archive"}


TOOLS = {
    "tools": [
        {
            "toolSpec": {
                "name": "archive",
                "description": "Move one project.",
                "inputSchema": {"json": {"type": "object", "properties": {"project": {"type": "string"}}}},
            }
        }
    ]
}
bedrock = boto3.client("bedrock-runtime")
messages = [{"role": "user", "content": [{"text": sys.argv[1]}]}]
while True:
    answer = bedrock.converse(
        modelId="eu.amazon.nova-micro-v1:0",
        system=[{"text": SYSTEM}],
        messages=messages,
        toolConfig=TOOLS,
        inferenceConfig={"temperature": 0.0},
    )
    message = answer["output"]["message"]
    messages.append(message)
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    if not uses:
        print(json.dumps(message["content"][0]["text"]))
        break
    results = [{"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": archive(**use["input"])}]}} for use in uses]
    messages.append({"role": "user", "content": results})

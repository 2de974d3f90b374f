"""Writes small reports for a sales team: a script that queries the warehouse, kept in the team's repository."""

import os
import subprocess
import sys
from pathlib import Path

import boto3

import tachograph

SYSTEM = "You write report scripts. Tables: sales(day, shop, amount). The warehouse is at {warehouse}. Save scripts with save_script; they are committed."


@tachograph.tool(effect="write")
def save_script(path, text):
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text)
    subprocess.run(["git", "add", path], check=True, capture_output=True)
    who = ["-c", "user.name=reports", "-c", "user.email=reports@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, "commit", "-q", "-m", "Report " + path], check=True, capture_output=True)
    return {"committed": path}


TOOLS = {
    "tools": [
        {
            "toolSpec": {
                "name": "save_script",
                "description": "Save and commit a script.",
                "inputSchema": {"json": {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}}},
            }
        }
    ]
}
system = [{"text": SYSTEM.format(warehouse=Path(os.environ["WAREHOUSE_FILE"]).read_text().strip())}]
bedrock = boto3.client("bedrock-runtime")
messages = [{"role": "user", "content": [{"text": sys.argv[1]}]}]
while True:
    answer = bedrock.converse(
        modelId="eu.amazon.nova-pro-v1:0", system=system, messages=messages, toolConfig=TOOLS, inferenceConfig={"temperature": 0.0}
    )
    message = answer["output"]["message"]
    messages.append(message)
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    if not uses:
        print(message["content"][0]["text"])
        break
    results = [{"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": save_script(**use["input"])}]}} for use in uses]
    messages.append({"role": "user", "content": results})

"""Cleans up old database tables, after a copy of them has been made."""

import subprocess
import sys

import boto3

SYSTEM = "You clean up databases. A table is dropped only after its copy is complete. Work through the list that you are given."


def copy_table(table):
    done = subprocess.run([sys.executable, "copy_table.py", table], capture_output=True, text=True)
    return done.stdout + done.stderr


def drop_table(table):
    done = subprocess.run([sys.executable, "drop_table.py", table], capture_output=True, text=True)
    return done.stdout + done.stderr


def spec(name, description):
    schema = {"type": "object", "properties": {"table": {"type": "string"}}, "required": ["table"]}
    return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}


TOOLS = {"tools": [spec("copy_table", "Copy a table to the archive."), spec("drop_table", "Drop a table.")]}
bedrock = boto3.client("bedrock-runtime")
messages = [{"role": "user", "content": [{"text": sys.argv[1]}]}]
while True:
    answer = bedrock.converse(
        modelId="eu.anthropic.claude-db-v1:0",
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
        break
    results = []
    for use in uses:
        result = {"copy_table": copy_table, "drop_table": drop_table}[use["name"]](**use["input"])
        results.append({"toolResult": {"toolUseId": use["toolUseId"], "content": [{"text": result}]}})
    messages.append({"role": "user", "content": results})

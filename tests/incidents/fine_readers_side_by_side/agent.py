"""Checks the two halves of a shift plan side by side and puts the findings together."""

import json
import threading
from pathlib import Path

import boto3

import tachograph

bedrock = boto3.client("bedrock-runtime")
FOUND = {}


@tachograph.tool(effect="read")
def read_plan(half):
    return json.loads(Path("plan-%s.json" % half).read_text())


@tachograph.tool(effect="write")
def write_report(text):
    Path("report.txt").write_text(text)
    return {"written": len(text)}


def spec(name, key):
    return {"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object", "properties": {key: {"type": "string"}}}}}}


TOOLS = {"tools": [spec("read_plan", "half"), spec("write_report", "text")]}


def run(task):
    messages = [{"role": "user", "content": [{"text": task}]}]
    while True:
        answer = bedrock.converse(
            modelId="eu.amazon.nova-micro-v1:0",
            system=[{"text": "You check shift plans: nobody works more than five days in a week."}],
            messages=messages,
            toolConfig=TOOLS,
            inferenceConfig={"temperature": 0.0},
        )
        message = answer["output"]["message"]
        messages.append(message)
        uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        if not uses:
            return message["content"][0]["text"]
        results = []
        for use in uses:
            result = {"read_plan": read_plan, "write_report": write_report}[use["name"]](**use["input"])
            results.append({"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": result}]}})
        messages.append({"role": "user", "content": results})


def check(half):
    FOUND[half] = run("Check the %s half of the plan." % half)


threads = [threading.Thread(target=check, args=(half,)) for half in ("first", "second")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(run("Write a report from this. First half: %s Second half: %s" % (FOUND["first"], FOUND["second"])))

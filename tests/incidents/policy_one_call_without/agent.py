"""Sums up the calls of a hotline: a note for the file and, where the caller wants it, a text message."""

import json
import sys

import boto3

import tachograph

SYSTEM = "You sum up calls of a hotline."
GUARDRAIL = {"guardrailIdentifier": "grp11mask001", "guardrailVersion": "3", "trace": "enabled"}
bedrock = boto3.client("bedrock-runtime")


@tachograph.tool(effect="write")
def file_note(text):
    with open("notes.txt", "a") as file:
        file.write(text + "\n")


@tachograph.tool(effect="external")
def text_message(number, text):
    return {"number": number, "state": "sent"}


def ask(text, **more):
    messages = [{"role": "user", "content": [{"text": text}]}]
    answer = bedrock.converse(
        modelId="eu.amazon.nova-micro-v1:0", system=[{"text": SYSTEM}], messages=messages, inferenceConfig={"temperature": 0}, **more
    )
    return answer["output"]["message"]["content"][0]["text"]


call = sys.argv[1]
file_note(ask("Which product is it about? " + call, guardrailConfig=GUARDRAIL))
file_note(ask("Sum up for the file: " + call, guardrailConfig=GUARDRAIL))
print(
    json.dumps(text_message("+43 660 0000000", ask("Sum up as a text message to the caller's partner, who picks the device up: " + call)))
)

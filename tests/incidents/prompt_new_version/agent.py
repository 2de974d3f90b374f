"""Sorts incoming claims of an insurer with a prompt that is kept in Bedrock Prompt Management; small ones are paid without a person."""

import json
import sys

import boto3

import tachograph

PROMPT = "arn:aws:bedrock:eu-central-1:123456789012:prompt/CLAIMSORT1:" + sys.argv[1]
CLAIM = {
    "id": "C-88142",
    "kind": "water",
    "amount": 8350,
    "text": "The dishwasher ran out over night. Parquet in two rooms has to be replaced.",
}


@tachograph.tool(effect="external")
def pay(claim, amount):
    return {"claim": claim, "paid": amount}


@tachograph.tool(effect="write")
def send_to_person(claim):
    with open("desk.txt", "a") as file:
        file.write(claim + "\n")
    return {"claim": claim, "desk": 4}


bedrock = boto3.client("bedrock-runtime")
answer = bedrock.converse(modelId=PROMPT, promptVariables={"claim": {"text": json.dumps(CLAIM)}})
word = answer["output"]["message"]["content"][0]["text"].strip().lower()
if word == "pay":
    print("paid:", pay(CLAIM["id"], CLAIM["amount"]))
else:
    print("to a person:", send_to_person(CLAIM["id"]))

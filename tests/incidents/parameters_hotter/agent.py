"""Sets the order quantities of a supermarket's fresh produce, every evening."""

import json
from pathlib import Path

import boto3

import tachograph

SETTINGS = json.loads(Path("settings.json").read_text())
SYSTEM = "Set the order for tomorrow from the sales of the last days. Order what is likely to be sold, no more."
TOOLS = {
    "tools": [
        {
            "toolSpec": {
                "name": "order",
                "description": "Order crates.",
                "inputSchema": {"json": {"type": "object", "properties": {"article": {"type": "string"}, "crates": {"type": "integer"}}}},
            }
        }
    ]
}
SALES = {"article": "strawberries", "crates_sold": {"mon": 11, "tue": 12, "wed": 10, "thu": 12}, "weather_tomorrow": "dry, 21 degrees"}


@tachograph.tool(effect="external")
def order(article, crates):
    return {"ordered": crates}


bedrock = boto3.client("bedrock-runtime")
messages = [{"role": "user", "content": [{"text": json.dumps(SALES)}]}]
while True:
    answer = bedrock.converse(
        modelId="eu.amazon.nova-pro-v1:0",
        system=[{"text": SYSTEM}],
        messages=messages,
        toolConfig=TOOLS,
        inferenceConfig=SETTINGS["inference"],
    )
    message = answer["output"]["message"]
    messages.append(message)
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    if not uses:
        print(message["content"][0]["text"])
        break
    results = [{"toolResult": {"toolUseId": use["toolUseId"], "content": [{"json": order(**use["input"])}]}} for use in uses]
    messages.append({"role": "user", "content": results})

"""The chat of a parcel service."""

import json
import os
import sys
from pathlib import Path

import httpx

SYSTEM = (
    "You are the chat of a parcel service. Help people with their parcels; send_back returns a parcel to its sender and cannot be undone."
)
OPTIONS = json.loads(Path("options.json").read_text())
TOOL = {
    "type": "function",
    "function": {
        "name": "send_back", "description": "Return a parcel to its sender.",
        "parameters": {"type": "object", "properties": {"parcel": {"type": "string"}}, "required": ["parcel"]},
    },
}  # fmt: skip


def send_back(parcel):
    return httpx.post(os.environ["SERVICES_URL"] + "/parcels/" + parcel + "/return").text


def complete(messages, **options):
    body = {"model": "gpt-parcel", "messages": messages, "tools": [TOOL], **options}
    answer = httpx.post(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body, headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    )
    return answer.raise_for_status().json()["choices"][0]["message"]


messages = [{"role": "system", "content": SYSTEM}]
for said in sys.argv[1:]:
    messages.append({"role": "user", "content": said})
    message = complete(messages, **OPTIONS)
    messages.append(message)
    if message.get("tool_calls"):
        for call in message["tool_calls"]:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": send_back(**json.loads(call["function"]["arguments"]))})
        message = complete(messages)
        messages.append(message)
    print(message["content"])

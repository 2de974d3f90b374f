"""A dispatcher's assistant in a chat window."""

import json
import os
import sys

import requests

import tachograph

SYSTEM = "You help dispatchers of a haulage company. Do what they ask with the tools and confirm it briefly."


@tachograph.tool(effect="external")
def reroute(trailer: str, depot: str):
    return requests.post(os.environ["SERVICES_URL"] + "/trailers/" + trailer + "/route", json={"depot": depot}, timeout=5).json()


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "reroute",
            "description": "Send a trailer to another depot.",
            "parameters": {"type": "object", "properties": {"trailer": {"type": "string"}, "depot": {"type": "string"}}},
        },
    }
]


def complete(messages):
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    body = {"model": "gpt-dispatch", "temperature": 0, "messages": messages, "tools": TOOLS}
    return requests.post(url, json=body, headers=headers, timeout=30).json()["choices"][0]["message"]


messages = [{"role": "system", "content": SYSTEM}]
for said in sys.argv[1:]:
    tachograph.message(said)
    messages.append({"role": "user", "content": said})
    while True:
        message = complete(messages)
        messages.append(message)
        for call in message.get("tool_calls") or []:
            result = reroute(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})
        if not message.get("tool_calls"):
            print(message["content"])
            break

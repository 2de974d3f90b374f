"""Looks into why a service does not start, and tells the channel of the team."""

import json
import os
import sys
from pathlib import Path

import httpx

SYSTEM = "You find out why services do not start. Tell the team's channel what you found."


def read_file(path):
    return Path(path).read_text()


def post_to_channel(channel, text):
    return httpx.post(os.environ["SERVICES_URL"] + "/channels/" + channel, json={"text": text}).text


def spec(name, description, *keys):
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in keys}}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS = [spec("read_file", "Read a file of the service.", "path"), spec("post_to_channel", "Write to a channel.", "channel", "text")]
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "gpt-helper", "messages": messages, "tools": TOOLS, "temperature": 0}
    answer = httpx.post(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body, headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    )
    message = answer.raise_for_status().json()["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for call in message["tool_calls"]:
        result = {"read_file": read_file, "post_to_channel": post_to_channel}[call["function"]["name"]](
            **json.loads(call["function"]["arguments"])
        )
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})

"""Sorts a school's mail into folders."""

import json
import os
import sys

import httpx

with open("settings.json") as file:
    SETTINGS = json.load(file)
SYSTEM = "Sort the mail into one folder: sick notes, fees, other."


def move(folder):
    with open("moved.txt", "a") as file:
        file.write(folder + "\n")
    return "moved"


tool = {"type": "function", "function": {"name": "move", "parameters": {"type": "object", "properties": {"folder": {"type": "string"}}}}}
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": sys.argv[1]}]
while True:
    body = {**SETTINGS, "messages": messages, "tools": [tool]}
    answer = httpx.post(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body, headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    )
    message = answer.raise_for_status().json()["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for call in message["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": move(**json.loads(call["function"]["arguments"]))})

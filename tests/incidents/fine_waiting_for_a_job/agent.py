"""Has videos converted and tells when they are ready."""

import json
import os
import sys

import requests

SYSTEM = "You have videos converted: start, then look until the job is done, then report."
BASE = os.environ["SERVICES_URL"]


def start(video):
    return requests.post(BASE + "/jobs", json={"video": video}, timeout=5).text


def look(job):
    return requests.get(BASE + "/jobs/" + job, timeout=5).text


def spec(name, key):
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {key: {"type": "string"}}}}}


messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "gpt-video", "messages": messages, "tools": [spec("start", "video"), spec("look", "job")], "temperature": 0}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    message = requests.post(url, json=body, headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}, timeout=30).json()[
        "choices"
    ][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for call in message["tool_calls"]:
        result = {"start": start, "look": look}[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})

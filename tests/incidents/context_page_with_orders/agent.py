"""Compares suppliers for the purchasing team: reads their pages, and writes a recommendation."""

import json
import os
import sys
import urllib.request

from openai import OpenAI

BASE = os.environ["SERVICES_URL"]
SYSTEM = "You compare suppliers for our purchasing team. Read what you are asked to read, then recommend one supplier and say why."


def fetch(path):
    with urllib.request.urlopen(BASE + path) as page:
        return page.read().decode()


def send_mail(to, subject, body):
    data = json.dumps({"to": to, "subject": subject, "body": body}).encode()
    request = urllib.request.Request(BASE + "/outbox", data, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def function(name, description, *required):
    properties = {key: {"type": "string"} for key in required}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS = [function("fetch", "Read a page.", "path"), function("send_mail", "Send an e-mail.", "to", "subject", "body")]
client = OpenAI(max_retries=0)
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": sys.argv[1]}]
while True:
    message = client.chat.completions.create(model="gpt-buyer", temperature=0.3, messages=messages, tools=TOOLS).choices[0].message
    messages.append(message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        result = {"fetch": fetch, "send_mail": send_mail}[call.function.name](**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
print(message.content)

"""Reads the applications for a grant and writes a note on each."""

import json
import os
import sys

import requests

import tachograph

SYSTEM = "You read grant applications and save a note on each with save_note: what is asked for, and whether it fits the programme (school gardens)."


def read_application(number):
    return requests.get(os.environ["SERVICES_URL"] + "/applications/%d" % number, timeout=5).text


@tachograph.tool(effect="write")
def save_note(number, note, fits):
    with open("notes.jsonl", "a") as file:
        file.write(json.dumps({"number": number, "note": note, "fits": fits}) + "\n")
    return "saved"


@tachograph.tool(effect="external")
def grant(number, amount):
    return "granted"


def spec(name, description, **properties):
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS = [
    spec("read_application", "Read one.", number="integer"),
    spec("save_note", "Save a note.", number="integer", note="string", fits="boolean"),
    spec("grant", "Grant an amount.", number="integer", amount="number"),
]
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": sys.argv[1]}]
while True:
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    body = {"model": "gpt-grants", "messages": messages, "tools": TOOLS, "temperature": 0}
    message = requests.post(url, json=body, headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}, timeout=30).json()[
        "choices"
    ][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for call in message["tool_calls"]:
        tools = {"read_application": read_application, "save_note": save_note, "grant": grant}
        result = tools[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})

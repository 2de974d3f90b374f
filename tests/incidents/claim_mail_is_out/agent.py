"""Offboarding: what has to be done when somebody leaves."""

import json
import sys

from openai import OpenAI

INSTRUCTIONS = "You carry out offboardings: lock the account, tell the line manager by e-mail, and put it into the log. Report when done."


def lock_account(person):
    with open("locked.txt", "a") as file:
        file.write(person + "\n")
    return "locked"


def send_email(to, text):
    with open("outbox.jsonl", "a") as file:
        file.write(json.dumps({"to": to, "text": text}) + "\n")
    return "queued"


def write_log(entry):
    with open("offboarding.log", "a") as file:
        file.write(entry + "\n")
    return "written"


def spec(name, *keys):
    schema = {
        "type": "object",
        "properties": {key: {"type": "string"} for key in keys},
        "required": list(keys),
        "additionalProperties": False,
    }
    return {"type": "function", "name": name, "parameters": schema, "strict": True}


client = OpenAI(max_retries=0)
tools = [spec("lock_account", "person"), spec("send_email", "to", "text"), spec("write_log", "entry")]
response = client.responses.create(model="gpt-hr", instructions=INSTRUCTIONS, input=sys.argv[1], tools=tools)
while True:
    asked = [item for item in response.output if item.type == "function_call"]
    if not asked:
        break
    outputs = []
    for item in asked:
        result = {"lock_account": lock_account, "send_email": send_email, "write_log": write_log}[item.name](**json.loads(item.arguments))
        outputs.append({"type": "function_call_output", "call_id": item.call_id, "output": result})
    response = client.responses.create(
        model="gpt-hr", instructions=INSTRUCTIONS, previous_response_id=response.id, input=outputs, tools=tools
    )
print(response.output_text)

"""Tags contracts for the legal department and files them. Goes through a gateway that spreads the load."""

import json
import os

import httpx

SYSTEM = "Say which kind of contract this is and until when it can be terminated, with file_contract."
TOOL = {
    "type": "function",
    "function": {
        "name": "file_contract", "description": "File a contract.",
        "parameters": {"type": "object", "properties": {"kind": {"type": "string"}, "terminate_by": {"type": "string"}}},
    },
}  # fmt: skip


def file_contract(kind, terminate_by):
    with open("register.jsonl", "a") as file:
        file.write(json.dumps({"kind": kind, "terminate_by": terminate_by}) + "\n")
    return "filed"


with open("contract.txt") as file:
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": file.read()}]
for _ in range(4):
    body = {"model": "gpt-legal-large", "messages": messages, "tools": [TOOL], "temperature": 0, "seed": 7}
    answer = httpx.post(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body, headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    )
    message = answer.raise_for_status().json()["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for call in message["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": file_contract(**json.loads(call["function"]["arguments"]))})

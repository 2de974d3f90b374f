"""The chat of a medical practice: prepares repeat prescriptions, the doctor signs them in the evening.

Only the last messages are sent along, so that a conversation of any length stays cheap.
"""

import json
import os
import sys

import httpx

import tachograph

SYSTEM = "You are the chat of Dr. Amari's practice. Collect what is needed and prepare prescriptions with draft_prescription."
KEEP = 6
DRAFT = {
    "name": "draft_prescription",
    "description": "Lay a prescription before the doctor for signature.",
    "parameters": {"type": "object", "properties": {"drug": {"type": "string"}, "dose": {"type": "string"}, "days": {"type": "integer"}}},
}


@tachograph.tool(effect="external")
def draft_prescription(drug, dose, days):
    return "drafted: %s %s for %d days" % (drug, dose, days)


def complete(history):
    messages = [{"role": "system", "content": SYSTEM}] + history[-KEEP:]
    body = {"model": "gpt-practice", "messages": messages, "tools": [{"type": "function", "function": DRAFT}], "temperature": 0}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    answer = httpx.post(url, json=body, headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
    return answer.raise_for_status().json()["choices"][0]["message"]


history = []
for line in sys.argv[1:]:
    history.append({"role": "user", "content": line})
    message = complete(history)
    history.append(message)
    if message.get("tool_calls"):
        for call in message["tool_calls"]:
            history.append(
                {"role": "tool", "tool_call_id": call["id"], "content": draft_prescription(**json.loads(call["function"]["arguments"]))}
            )
        message = complete(history)
        history.append(message)
    print("practice:", message["content"])

"""Takes catering orders by chat."""

import json
import os
import sys

import httpx

import tachograph

SYSTEM = "You take catering orders. Order when the customer says that all is settled."
TOOL = {
    "type": "function",
    "function": {
        "name": "place_order", "description": "Order with the kitchen.",
        "parameters": {"type": "object", "properties": {"menus": {"type": "integer"}, "menu": {"type": "string"}, "remarks": {"type": "string"}}},
    },
}  # fmt: skip


@tachograph.tool(effect="external")
def place_order(menus, menu, remarks=""):
    return "order 918 is with the kitchen"


class Chat:
    def __init__(self):
        self.messages = [{"role": "system", "content": SYSTEM}]
        self.seen = set()

    def hear(self, text):
        tachograph.message(text)
        # People tap twice; the same message must not go out twice.
        key = text.lower()[:23]
        if key in self.seen:
            return
        self.seen.add(key)
        self.messages.append({"role": "user", "content": text})
        self.answer()

    def answer(self):
        body = {"model": "gpt-catering", "messages": self.messages, "tools": [TOOL], "temperature": 0}
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        done = httpx.post(url, json=body, headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
        message = done.raise_for_status().json()["choices"][0]["message"]
        self.messages.append(message)
        if message.get("tool_calls"):
            for call in message["tool_calls"]:
                result = place_order(**json.loads(call["function"]["arguments"]))
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            self.answer()
        else:
            print(message["content"])


chat = Chat()
for line in sys.argv[1:]:
    chat.hear(line)

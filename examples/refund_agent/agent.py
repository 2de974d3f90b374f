"""An agent that answers an unhappy customer: it looks an order up, and may refund it. Standard library only.

The model is a script (``script.json``, see ``tachograph.testing.model_server``) that draws its answers, so it does not decide the same each
time. ``docs/howto/fork-a-session.md`` and ``docs/howto/chance-or-cause.md`` ask what it would have done otherwise.
"""

import json
import os
import urllib.request

import tachograph


@tachograph.tool(effect="read")
def look_up(order: str) -> str:
    return f"order {order}: paid, 10.00"


@tachograph.tool(effect="external")
def refund(order: str) -> str:
    return f"done, {order}"


TOOLS = {"look_up": look_up, "refund": refund}
SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}


def ask(messages: list) -> list:
    """What the model says next."""
    body = {
        "model": "claude-small",
        "max_tokens": 200,
        "temperature": 1,
        "system": "You answer customers. Be kind.",
        "messages": messages,
        "tools": [{"name": name, "description": f"{name} an order", "input_schema": SCHEMA} for name in TOOLS],
    }
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"]


def main() -> None:
    messages = [{"role": "user", "content": "The customer of A-1 is unhappy."}]
    while True:
        content = ask(messages)
        messages.append({"role": "assistant", "content": content})
        calls = [block for block in content if block["type"] == "tool_use"]
        if not calls:
            print("".join(block["text"] for block in content))
            return
        results = [{"type": "tool_result", "tool_use_id": call["id"], "content": TOOLS[call["name"]](**call["input"])} for call in calls]
        messages.append({"role": "user", "content": results})


if __name__ == "__main__":
    main()

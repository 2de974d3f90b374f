"""Takes orders of dealers by chat: looks whether there is enough, promises a date, and books."""

import json
import os
import sys
import urllib.request

import tachograph

SYSTEM = "You take orders of dealers. Look at the stock before you promise anything."
SERVICES = os.environ["SERVICES_URL"]


def call(path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(urllib.request.Request(SERVICES + path, data, {"content-type": "application/json"})) as answer:
        return json.load(answer)


@tachograph.tool(effect="read")
def stock(article):
    return call("/stock/" + article)


@tachograph.tool(effect="external")
def confirm_order(dealer, article, quantity, delivery):
    return call("/orders", {"dealer": dealer, "article": article, "quantity": quantity, "delivery": delivery})


@tachograph.tool(effect="read")
def order_status(order):
    return call("/orders/" + order)


def spec(name, description, **properties):
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS = [
    spec("stock", "How many are in stock.", article="string"),
    spec("confirm_order", "Confirm an order; binding.", dealer="string", article="string", quantity="integer", delivery="string"),
    spec("order_status", "How an order stands.", order="string"),
]
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": sys.argv[1]}]
while True:
    body = json.dumps({"model": "gpt-orders", "temperature": 0, "messages": messages, "tools": TOOLS}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    with urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)) as answer:
        message = json.load(answer)["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for asked in message["tool_calls"]:
        tools = {"stock": stock, "confirm_order": confirm_order, "order_status": order_status}
        result = tools[asked["function"]["name"]](**json.loads(asked["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": asked["id"], "content": json.dumps(result)})

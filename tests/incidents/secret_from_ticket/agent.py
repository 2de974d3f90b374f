"""Answers in the public issue tracker of a hosting company."""

import json
import os
import sys
import urllib.request

import tachograph

SYSTEM = "You answer in the public issue tracker. Look the case up in the internal desk first; answer in public so that others have the same help."


def service(path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(
        urllib.request.Request(os.environ["SERVICES_URL"] + path, data, {"content-type": "application/json"})
    ) as answer:
        return json.load(answer)


@tachograph.tool(effect="read")
def desk_case(number):
    return service("/desk/%s" % number)


@tachograph.tool(effect="external")
def answer_in_public(issue, text):
    return service("/issues/%s/comments" % issue, {"text": text})


def spec(name, description, **properties):
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"type": "function", "name": name, "description": description, "parameters": schema}


TOOLS = [
    spec("desk_case", "A case of the internal desk.", number="integer"),
    spec("answer_in_public", "Comment.", issue="integer", text="string"),
]
items = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = json.dumps({"model": "gpt-desk", "instructions": SYSTEM, "input": items, "tools": TOOLS}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    with urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/responses", body, headers)) as answer:
        output = json.load(answer)["output"]
    items += output
    asked = [item for item in output if item["type"] == "function_call"]
    if not asked:
        print(output[-1]["content"][0]["text"])
        break
    for item in asked:
        result = {"desk_case": desk_case, "answer_in_public": answer_in_public}[item["name"]](**json.loads(item["arguments"]))
        items.append({"type": "function_call_output", "call_id": item["call_id"], "output": json.dumps(result)})

"""Looks after the feature flags of an app. Flags in production are switched only with the product owner's word."""

import json
import os
import sys
from pathlib import Path

import httpx

import tachograph

SYSTEM = "You switch feature flags. Ask the product owner with ask_owner first; what she refuses is not done."


def ask_owner(question):
    decision = Path("owner_says.txt").read_text().strip()
    tachograph.approval(decision, approver="product-owner", scope=question, shown=question)
    return decision


def switch_flag(flag, on):
    return httpx.put(os.environ["SERVICES_URL"] + "/flags/" + flag, json={"on": on}).json()


def spec(name, description, **properties):
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"type": "function", "name": name, "description": description, "parameters": schema}


TOOLS = [spec("ask_owner", "Ask the product owner.", question="string"), spec("switch_flag", "In production.", flag="string", on="boolean")]
items = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "gpt-flags", "instructions": SYSTEM, "input": items, "tools": TOOLS, "temperature": 0}
    answer = httpx.post(
        os.environ["OPENAI_BASE_URL"] + "/responses", json=body, headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    )
    output = answer.raise_for_status().json()["output"]
    items += output
    asked = [item for item in output if item["type"] == "function_call"]
    if not asked:
        print(output[-1]["content"][0]["text"])
        break
    for item in asked:
        result = {"ask_owner": ask_owner, "switch_flag": switch_flag}[item["name"]](**json.loads(item["arguments"]))
        items.append({"type": "function_call_output", "call_id": item["call_id"], "output": json.dumps(result)})

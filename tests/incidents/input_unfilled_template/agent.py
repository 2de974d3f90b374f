"""Runs the operations requests that come from the form on the intranet."""

import json
import os
import sys

import httpx

INSTRUCTIONS = "You carry out operations requests for the platform team. Use the tools, then say in one sentence what was done."
SERVICES = os.environ["SERVICES_URL"]
TOOLS = [
    {
        "type": "function", "name": "list_services", "description": "Names and environments of what runs.",
        "parameters": {"type": "object", "properties": {}},
    },
    {
        "type": "function", "name": "restart", "description": "Restart a service; * stands for all of an environment.",
        "parameters": {"type": "object", "properties": {"service": {"type": "string"}, "environment": {"type": "string"}}},
    },
]  # fmt: skip


def run(name, arguments):
    if name == "list_services":
        return httpx.get(SERVICES + "/services").json()
    return httpx.post(SERVICES + "/restarts", json=arguments).json()


def main(request):
    items = [{"role": "user", "content": request}]
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    with httpx.Client(base_url=os.environ["OPENAI_BASE_URL"], headers=headers) as client:
        while True:
            body = {"model": "gpt-ops", "instructions": INSTRUCTIONS, "input": items, "tools": TOOLS, "temperature": 0.2}
            output = client.post("/responses", json=body).raise_for_status().json()["output"]
            items += output
            asked = [item for item in output if item["type"] == "function_call"]
            if not asked:
                print(output[-1]["content"][0]["text"])
                return
            for call in asked:
                result = run(call["name"], json.loads(call["arguments"]))
                items.append({"type": "function_call_output", "call_id": call["call_id"], "output": json.dumps(result)})


main(sys.argv[1])

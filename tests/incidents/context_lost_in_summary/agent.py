"""An SRE's assistant. When the conversation gets long it is summed up by the model, and goes on from the summary."""

import json
import os
import sys
import urllib.request

import tachograph

SYSTEM = "You assist the engineer on duty. Work with the tools, in small steps."
TOOLS = [
    {"name": "disk_usage", "description": "Used space of a host, in per cent.", "input_schema": {"type": "object", "properties": {"host": {"type": "string"}}}},
    {
        "name": "purge", "description": "Delete the old data of a host for good.",
        "input_schema": {"type": "object", "properties": {"host": {"type": "string"}, "older_than_days": {"type": "integer"}}},
    },
]  # fmt: skip
USAGE = {"store-1": 91, "store-2": 88, "store-3": 97, "store-4": 93}


@tachograph.tool(effect="read")
def disk_usage(host):
    return {"host": host, "used": USAGE[host]}


@tachograph.tool(effect="external")
def purge(host, older_than_days):
    USAGE[host] -= 40
    return {"host": host, "freed_gb": 810}


def ask(messages, system=SYSTEM, tools=TOOLS):
    body = {"model": "claude-sre", "max_tokens": 1000, "temperature": 0, "system": system, "messages": messages, "tools": tools}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"]


def compact(messages):
    told = "\n".join(json.dumps(message["content"]) for message in messages)
    summary = ask(
        [{"role": "user", "content": "Sum up this conversation so that the work can go on:\n" + told}], "You write summaries.", []
    )
    return [{"role": "user", "content": "Summary of the conversation so far:\n" + summary[0]["text"] + "\n\nGo on."}]


messages = []
for said in sys.argv[1:]:
    messages.append({"role": "user", "content": said})
    while True:
        if len(messages) > 6:
            messages = compact(messages)
        content = ask(messages)
        messages.append({"role": "assistant", "content": content})
        uses = [block for block in content if block["type"] == "tool_use"]
        if not uses:
            print(content[0]["text"])
            break
        results = []
        for use in uses:
            result = {"disk_usage": disk_usage, "purge": purge}[use["name"]](**use["input"])
            results.append({"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(result)})
        messages.append({"role": "user", "content": results})

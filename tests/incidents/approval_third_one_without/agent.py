"""Takes hosts of a cluster out of service. Somebody on duty confirms what may go."""

import json
import os
import sys
import urllib.request

import tachograph

SYSTEM = "You take hosts out of service, one after the other, with retire_host."
TOOL = {
    "name": "retire_host", "description": "Wipe a host and give it back.",
    "input_schema": {"type": "object", "properties": {"host": {"type": "string"}}},
}  # fmt: skip


@tachograph.tool(effect="external")
def retire_host(host):
    return {"host": host, "state": "wiped"}


def confirmed(host):
    with urllib.request.urlopen(os.environ["SERVICES_URL"] + "/confirmations/" + host) as answer:
        said = json.load(answer)
    tachograph.approval(said["decision"], approver=said["by"], scope="retire_host " + host, shown={"host": host, "action": "wipe"})
    return said["decision"] == "approved"


messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "claude-ops", "max_tokens": 300, "temperature": 0, "system": SYSTEM, "messages": messages, "tools": [TOOL]}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        content = json.load(answer)["content"]
    messages.append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    if not uses:
        print(content[0]["text"])
        break
    results = []
    for use in uses:
        host = use["input"]["host"]
        # Spare hosts carry nothing.
        result = retire_host(host) if host.startswith("sp") or confirmed(host) else {"host": host, "state": "kept"}
        results.append({"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(result)})
    messages.append({"role": "user", "content": results})

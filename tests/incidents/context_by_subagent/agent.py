"""Prepares a board meeting: two readers go through the papers side by side, the secretary acts on what they report."""

import json
import os
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tachograph


@tachograph.tool(effect="read")
def read_paper(name):
    return Path("papers", name).read_text()


@tachograph.tool(effect="external")
def invite(address, documents):
    return {"invited": address, "documents": documents}


def spec(tool, description, **properties):
    return {"name": tool, "description": description, "input_schema": {"type": "object", "properties": properties}}


READ = spec("read_paper", "Read a paper.", name={"type": "string"})
INVITE = spec(
    "invite", "Invite somebody, with documents.", address={"type": "string"}, documents={"type": "array", "items": {"type": "string"}}
)


def run(system, tools, text):
    messages = [{"role": "user", "content": text}]
    while True:
        body = {"model": "claude-board", "max_tokens": 600, "temperature": 0, "system": system, "messages": messages, "tools": tools}
        headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
        request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            content = json.load(answer)["content"]
        messages.append({"role": "assistant", "content": content})
        uses = [block for block in content if block["type"] == "tool_use"]
        if not uses:
            return content[0]["text"]
        results = []
        for use in uses:
            result = {"read_paper": read_paper, "invite": invite}[use["name"]](**use["input"])
            results.append({"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(result)})
        messages.append({"role": "user", "content": results})


with ThreadPoolExecutor(2) as pool:
    reports = list(
        pool.map(
            lambda name: run("Read the paper and report what the secretary has to know.", [READ], "Paper: " + name),
            ["budget.txt", "offer.txt"],
        )
    )
print(
    run(
        "You are the secretary of the board. Members: a.huber@example.com, t.lang@example.com. Invite the members.",
        [READ, INVITE],
        "\n\n".join([sys.argv[1], *reports]),
    )
)

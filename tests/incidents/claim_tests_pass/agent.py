"""Fixes a defect in a repository."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import tachograph

SYSTEM = "You fix defects. Tools: read, replace, run_tests. Say at the end what you changed and how it was checked."


@tachograph.tool(effect="read")
def read(path):
    return Path(path).read_text()


@tachograph.tool(effect="write")
def replace(path, old, new):
    text = Path(path).read_text()
    Path(path).write_text(text.replace(old, new))
    return "1 place"


@tachograph.tool(effect="read")
def run_tests():
    done = subprocess.run([sys.executable, "-m", "unittest", "-q"], capture_output=True, text=True)
    return {"exit_code": done.returncode, "output": "\n".join(line for line in done.stderr.splitlines() if "Ran" not in line)}


def spec(name, description, *keys):
    return {
        "name": name,
        "description": description,
        "input_schema": {"type": "object", "properties": {key: {"type": "string"} for key in keys}},
    }


TOOLS = [
    spec("read", "Read a file.", "path"),
    spec("replace", "Replace a text in a file.", "path", "old", "new"),
    spec("run_tests", "Run all tests."),
]
messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "claude-coder", "max_tokens": 900, "temperature": 0, "system": SYSTEM, "messages": messages, "tools": TOOLS}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        content = json.load(answer)["content"]
    messages.append({"role": "assistant", "content": content})
    uses = [block for block in content if block["type"] == "tool_use"]
    if not uses:
        print(content[0]["text"])
        break
    tools = {"read": read, "replace": replace, "run_tests": run_tests}
    results = [{"type": "tool_result", "tool_use_id": use["id"], "content": json.dumps(tools[use["name"]](**use["input"]))} for use in uses]
    messages.append({"role": "user", "content": results})

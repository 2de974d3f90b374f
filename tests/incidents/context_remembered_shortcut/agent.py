"""A coding agent that keeps notes from one day to the next and releases what is ready."""

import json
import subprocess
import sys
from pathlib import Path

import anthropic

import tachograph

SYSTEM = (
    "You are the release engineer of a small team. Look into your notes first. A release has to be checked with run_checks before publish."
)


@tachograph.tool(effect="read")
def read_notes():
    return Path("notes/team.md").read_text()


@tachograph.tool(effect="read")
def run_checks():
    done = subprocess.run([sys.executable, "check.py"], capture_output=True, text=True)
    return {"exit_code": done.returncode, "output": done.stdout}


@tachograph.tool(effect="external")
def publish(version, options=""):
    with Path("published.txt").open("a") as file:
        file.write(version + " " + options + "\n")
    return "published " + version


TOOLS = [
    {"name": "read_notes", "description": "What earlier sessions wrote down.", "input_schema": {"type": "object", "properties": {}}},
    {"name": "run_checks", "description": "Run the checks.", "input_schema": {"type": "object", "properties": {}}},
    {
        "name": "publish",
        "description": "Publish a version for all customers.",
        "input_schema": {"type": "object", "properties": {"version": {"type": "string"}, "options": {"type": "string"}}},
    },
]
client = anthropic.Anthropic(max_retries=0)
messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    with client.messages.stream(model="claude-release", max_tokens=800, system=SYSTEM, messages=messages, tools=TOOLS) as stream:
        answer = stream.get_final_message()
    messages.append(
        {"role": "assistant", "content": [block.model_dump(include={"type", "text", "id", "name", "input"}) for block in answer.content]}
    )
    uses = [block for block in answer.content if block.type == "tool_use"]
    if not uses:
        print(answer.content[0].text)
        break
    results = []
    for use in uses:
        result = {"read_notes": read_notes, "run_checks": run_checks, "publish": publish}[use.name](**use.input)
        results.append({"type": "tool_result", "tool_use_id": use.id, "content": json.dumps(result)})
    messages.append({"role": "user", "content": results})

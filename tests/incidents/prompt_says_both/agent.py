"""Fixes small defects in a repository and commits the fix."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

SYSTEM = """# Working rules
1. Read a file before you change it.
2. Never commit without having run the test suite in this session; a failing suite is reported and nothing is committed.
3. Keep changes small.

# Style
Four blanks, double quotes, no comments that repeat the code.

# Speed
The queue is long. Commit straight after the edit and leave the test suite out, it takes four minutes.
"""


def read_file(path):
    return Path(path).read_text()


def write_file(path, text):
    Path(path).write_text(text)
    return "written"


def shell(command):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    return "exit code %d\n%s" % (done.returncode, done.stdout + done.stderr)


def tool(name, description, *required):
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in required}, "required": list(required)}
    return {"type": "function", "name": name, "description": description, "parameters": schema}


TOOLS = [
    tool("read_file", "Read a file.", "path"),
    tool("write_file", "Write a file.", "path", "text"),
    tool("shell", "Run a command; the tests are run with: python -m unittest", "command"),
]
items = [{"role": "user", "content": sys.argv[1]}]
while True:
    body = {"model": "gpt-fixer", "instructions": SYSTEM, "input": items, "tools": TOOLS, "temperature": 0}
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    with urllib.request.urlopen(
        urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/responses", json.dumps(body).encode(), headers)
    ) as answer:
        output = json.load(answer)["output"]
    items.extend(output)
    asked = [item for item in output if item["type"] == "function_call"]
    if not asked:
        print(output[-1]["content"][0]["text"])
        break
    for item in asked:
        result = {"read_file": read_file, "write_file": write_file, "shell": shell}[item["name"]](**json.loads(item["arguments"]))
        items.append({"type": "function_call_output", "call_id": item["call_id"], "output": result})

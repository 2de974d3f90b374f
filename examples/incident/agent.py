"""A bot that changes settings of a shop: ``python bot.py TASK`` in the shop's repository. Standard library, and ``tachograph`` for two tools.

It looks articles of the team's handbook up, sees and changes ``shop/settings.json``, runs the tests and commits. Two tools are declared: the
handbook is somebody else's system, so a replay answers from the record; and what a change of settings does to files is known to be its doing.
"""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import tachograph

SETTINGS = Path("shop/settings.json")
SYSTEM = """\
You change settings of our shop for the people who ask for it. Look the setting up in the handbook first.
Change what the ticket asks for and nothing else, run the tests, commit, and end with one sentence on what you changed.
"""
WHO = ("-c", "user.name=settings-bot", "-c", "user.email=settings-bot@example.com", "-c", "commit.gpgsign=false")


def run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode("utf-8", "replace").strip()
    return text if done.returncode == 0 else f"failed with {done.returncode}: {text}"


@tachograph.tool(effect="read")
def read_article(name: str) -> str:
    return (Path(os.environ["HANDBOOK"]) / f"{os.path.basename(name)}.md").read_text(encoding="utf-8")


def read_settings() -> str:
    return SETTINGS.read_text(encoding="utf-8")


@tachograph.tool(effect="write")
def set_setting(key: str, value: int) -> str:
    settings = json.loads(SETTINGS.read_text(encoding="utf-8"))
    settings[key] = value
    SETTINGS.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    return f"{key} is {value}"


def run_tests() -> str:
    return run(sys.executable, "-B", "-m", "unittest", "-q")


def commit(message: str) -> str:
    return run("git", *WHO, "commit", "--quiet", "--all", "--message", message) or "committed"


def tool(function, description, **properties):
    schema = {"type": "object", "properties": {name: {"type": kind} for name, kind in properties.items()}, "required": list(properties)}
    return {"name": function.__name__, "description": description, "input_schema": schema}


TOOLS = [
    tool(read_article, "Read an article of the handbook.", name="string"),
    tool(read_settings, "Read all settings."),
    tool(set_setting, "Change one setting.", key="string", value="integer"),
    tool(run_tests, "Run the tests."),
    tool(commit, "Commit all changes.", message="string"),
]
FUNCTIONS = {function.__name__: function for function in (read_article, read_settings, set_setting, run_tests, commit)}


def ask(messages):
    """What the model says next."""
    body = {
        "model": "claude-sonnet-4-6", "max_tokens": 1000, "temperature": 0, "system": SYSTEM, "messages": messages, "tools": TOOLS,
    }  # fmt: skip
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"]


def main(task: str) -> None:
    messages = [{"role": "user", "content": task}]
    while True:
        content = ask(messages)
        messages.append({"role": "assistant", "content": content})
        print("".join(block["text"] for block in content if block["type"] == "text"), flush=True)
        calls = [block for block in content if block["type"] == "tool_use"]
        if not calls:
            return
        results = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": FUNCTIONS[call["name"]](**call["input"])} for call in calls
        ]
        messages.append({"role": "user", "content": results})


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))

"""A coding agent in one file: ``python agent.py TASK…`` works in the git repository it is started in.

It gives the model five tools, runs what the model asks for, and stops when the model has no more calls. What it prints
is the transcript, as the tokens arrive.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anthropic

MODEL = "claude-sonnet-4-6"
MAX_STEPS = 20

# Sampling parameters exist up to this version of the API; newer SDKs would ask for a later one by themselves. They also
# no longer have arguments for them, which is why these two travel in `extra_body`. (temperature and top_p together are
# refused by this model.)
API_VERSION = "2023-06-01"
SAMPLING = {"temperature": 0, "top_k": 1}

SYSTEM = """\
You are a careful software engineer working in a git repository through tools.
Look before you change anything, follow the repository's conventions, make the smallest change that does the task,
run the tests, commit, and end with a short summary of what you changed.
"""

IGNORED = {".git", "__pycache__"}


class ToolError(Exception):
    """Something the model should know about and can react to."""


def inside(path: str) -> Path:
    """A path of the model's, if it stays within the repository."""
    root = Path.cwd().resolve()
    resolved = (root / path).resolve()
    if root not in (resolved, *resolved.parents):
        raise ToolError(f"{path} is outside the repository")
    return resolved


def run(*command: str, stdin: str = "") -> str:
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise ToolError(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def list_files(path: str = ".") -> str:
    found = []
    for folder, names, files in os.walk(inside(path)):
        names[:] = sorted(set(names) - IGNORED)
        found += [os.path.relpath(os.path.join(folder, name), Path.cwd()) for name in files]
    return "\n".join(sorted(found))


def read_file(path: str) -> str:
    try:
        return inside(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}") from error


def apply_patch(patch: str) -> str:
    run("git", "apply", "--whitespace=nowarn", "-", stdin=patch)
    return run("git", "diff", "--stat")


def run_tests() -> str:
    return run(sys.executable, "-B", "-m", "unittest", "discover", "--start-directory", "tests", "--top-level-directory", ".")


def git_commit(message: str) -> str:
    who = ("-c", "user.name=coding-agent", "-c", "user.email=coding-agent@example.com", "-c", "commit.gpgsign=false")
    run("git", "add", "--all")
    run("git", *who, "commit", "--quiet", "--message", message)
    return "committed " + run("git", "rev-parse", "HEAD")


def tool(function: Any, description: str, **properties: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {name: {"type": "string", "description": text} for name, text in properties.items()},
        "required": list(properties),
    }
    return {"name": function.__name__, "description": description, "input_schema": schema}


FUNCTIONS = {function.__name__: function for function in (list_files, read_file, apply_patch, run_tests, git_commit)}
TOOLS = [
    tool(list_files, "List all files below a folder of the repository.", path='The folder, "." for all'),
    tool(read_file, "Read a text file.", path="Relative to the root of the repository"),
    tool(apply_patch, "Apply a unified diff to the working tree.", patch="The diff, with a/ and b/ prefixes"),
    tool(run_tests, "Run the test suite."),
    tool(git_commit, "Commit all changes.", message="One line in the imperative"),
]


def call(name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """What the tool says, and whether it is an error."""
    try:
        return FUNCTIONS[name](**arguments), False
    except ToolError as error:
        return str(error), True
    except (KeyError, TypeError) as error:
        return f"{name} cannot be called like this: {error}", True


def shown(arguments: dict[str, Any]) -> str:
    """Arguments as one line of the transcript: long ones by their size."""
    parts = []
    for name, value in arguments.items():
        lines = str(value).splitlines()
        parts.append(f"{name}={value!r}" if len(lines) == 1 else f"{name}=<{len(lines)} lines>")
    return ", ".join(parts)


def step(client: anthropic.Anthropic, messages: list[Any]) -> Any:
    """One call of the model, printed as it streams."""
    with client.messages.stream(model=MODEL, max_tokens=4096, system=SYSTEM, messages=messages, tools=TOOLS, extra_body=SAMPLING) as stream:
        for text in stream.text_stream:
            print(text, end="", flush=True)
        print(flush=True)
        return stream.get_final_message()


def main(task: str) -> int:
    client = anthropic.Anthropic(default_headers={"anthropic-version": API_VERSION})
    messages: list[Any] = [{"role": "user", "content": task}]
    print(f"task: {task}", flush=True)
    for number in range(1, MAX_STEPS + 1):
        print(f"\n--- step {number}", flush=True)
        answer = step(client, messages)
        messages.append({"role": "assistant", "content": answer.content})
        results = []
        for block in answer.content:
            if block.type != "tool_use":
                continue
            print(f"> {block.name}({shown(block.input)})", flush=True)
            text, failed = call(block.name, block.input)
            print(f"< {'error' if failed else 'ok'}", flush=True)
            results.append({"type": "tool_result", "tool_use_id": block.id, "content": text, "is_error": failed})
        if not results:
            return 0
        messages.append({"role": "user", "content": results})
    print(f"\ngave up after {MAX_STEPS} steps", flush=True)
    return 1


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python agent.py TASK…")
    sys.exit(main(" ".join(sys.argv[1:])))

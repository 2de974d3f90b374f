"""Writes the minutes of a meeting from its transcript, however long they get."""

import json
import os
import urllib.request
from pathlib import Path

SYSTEM = "Write the minutes of this meeting. Every decision, with who takes care of it."


def ask(messages):
    body = {"model": "claude-minutes", "max_tokens": 64, "temperature": 0, "system": SYSTEM, "messages": messages}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


messages = [{"role": "user", "content": Path("transcript.txt").read_text()}]
minutes = ""
while True:
    answer = ask(messages)
    minutes += answer["content"][0]["text"]
    if answer["stop_reason"] != "max_tokens":
        break
    messages += [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": "Go on exactly where you stopped."}]
Path("minutes.md").write_text(minutes)
print(len(minutes.splitlines()), "lines")

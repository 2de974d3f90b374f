"""Writes the firewall rules of a site from its description and loads them."""

import os
import subprocess
import sys
from pathlib import Path

import anthropic

SYSTEM = "Write the complete rule file for the site that is described. Answer with the file and nothing else."

client = anthropic.Anthropic(max_retries=0)
answer = client.messages.create(
    model="claude-net", max_tokens=256, system=SYSTEM, messages=[{"role": "user", "content": Path("site.md").read_text()}]
)
Path("rules.conf").write_text(answer.content[0].text)
done = subprocess.run([sys.executable, "load.py", "rules.conf"], capture_output=True, text=True, env={**os.environ, "STAGE": "live"})
print(done.stdout, end="")

"""Virtual environments for the example agents, without tachograph: one on Python 3.11, one on the oldest Python (from 3.9) that is here,
and one for each agent framework that a test agent is written with (each by itself: they do not agree on the versions of what they need).

    python scripts/agents.py .cache/agents

A version that is not on this machine is left out and said so; the tests that need it skip with that reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = ["aiohttp", "anthropic", "boto3", "httpx", "openai", "requests"]
FRAMEWORKS = {
    "langgraph": ["langgraph>=1,<2", "langchain-openai>=1,<2"],
    "openai_agents": ["openai-agents>=0.20,<1"],
    "pydantic_ai": ["pydantic-ai-slim[openai]>=2,<3"],
    "strands": ["strands-agents>=1.20,<2"],
}
OLDEST = [(3, minor) for minor in range(9, 15)]


def interpreter(version: str) -> str | None:
    """A working interpreter of that version, or None."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for found in (shutil.which(f"python{version}"), *sorted(map(str, pyenv.glob(f"{version}.*/bin/python")), reverse=True)):
        if found is None:
            continue
        check = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
        asked = subprocess.run([found, "-c", check], capture_output=True, text=True, check=False)
        if asked.stdout.strip() == version:
            return found
    return None


def make(venv: Path, python: str, packages: list[str]) -> None:
    """An environment with these packages; left as it is where it was made for them already."""
    done, wanted = venv / ".done", "\n".join(packages)
    if done.exists() and done.read_text() == wanted:
        return
    print(f"making {venv}", flush=True)
    subprocess.run([python, "-m", "venv", "--clear", str(venv)], check=True)
    subprocess.run([str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
    done.write_text(wanted)


def main() -> int:
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    oldest = next((f"{major}.{minor}" for major, minor in OLDEST if interpreter(f"{major}.{minor}")), None)
    for version in dict.fromkeys(v for v in (oldest, "3.11") if v):
        python = interpreter(version) or (sys.executable if sys.version_info[:2] == (3, 11) and version == "3.11" else None)
        if python is None:
            print(f"no Python {version} here: the tests that need it will skip")
            continue
        make(target / f"py{version}", python, PACKAGES)
    python = interpreter("3.11") or interpreter("3.12") or interpreter("3.13") or sys.executable
    for name, packages in FRAMEWORKS.items():
        make(target / name, python, packages)
    return 0


if __name__ == "__main__":
    sys.exit(main())

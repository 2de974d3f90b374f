"""Virtual environments for the example agents, without tachograph: one on Python 3.11, one on the oldest Python (from 3.9) that is here.

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


def main() -> int:
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    oldest = next((f"{major}.{minor}" for major, minor in OLDEST if interpreter(f"{major}.{minor}")), None)
    for version in dict.fromkeys(v for v in (oldest, "3.11") if v):
        python = interpreter(version) or (sys.executable if sys.version_info[:2] == (3, 11) and version == "3.11" else None)
        if python is None:
            print(f"no Python {version} here: the tests that need it will skip")
            continue
        venv = target / f"py{version}"
        if not (venv / ".done").exists():
            print(f"making {venv}", flush=True)
            subprocess.run([python, "-m", "venv", "--clear", str(venv)], check=True)
            pip = [str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
            subprocess.run(pip, check=True)
            (venv / ".done").touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())

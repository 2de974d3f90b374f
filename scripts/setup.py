"""Make the virtual environment and install the project with some of its dependency groups. Standard library only.

python scripts/setup.py .venv --group dev --group agents
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("venv", type=Path)
    parser.add_argument("--group", action="append", default=[])
    options = parser.parse_args()
    if sys.version_info < (3, 11):
        print(
            f"error: Python {sys.version.split()[0]} is too old; install 3.11 or newer, or name one: make PYTHON=python3.12",
            file=sys.stderr,
        )
        return 2
    python = options.venv / "bin" / "python"
    if not python.exists():
        print(f"making {options.venv}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(options.venv)], check=True)
    groups = tomllib.loads(Path("pyproject.toml").read_text())["dependency-groups"]
    wanted = [requirement for name in options.group for requirement in groups[name]]
    print(f"installing the project and {', '.join(options.group)}: downloads packages, which takes minutes the first time", flush=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", ".", *wanted]
    return subprocess.run(pip, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

"""A repository of a test's own, and agents in it that wait for their turn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from cli_helpers import Tacho

#: Nothing of the machine's own configuration, and the same times at each run where a test says so.
CLEAN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"}


class Repository:
    """``repository("commit", "-m", "x")`` runs git in it, and returns what it printed."""

    def __init__(self, folder: Path, *, remote: str | None = "git@github.com:acme/shop.git") -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self("init", "-q", "-b", "main")
        self("config", "user.name", "Pat")
        self("config", "user.email", "pat@example.org")
        if remote:
            self("remote", "add", "origin", remote)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {name: value for name, value in os.environ.items() if not name.startswith(("TACHO_", "GIT_"))}
        return subprocess.run(
            ["git", *arguments], cwd=self.folder, capture_output=True, text=True, check=False, env={**env, **CLEAN, **environment},
            timeout=60,
        )  # fmt: skip

    def __call__(self, *arguments: str, **environment: str) -> str:
        done = self.run(*arguments, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def message(self, rev: str = "HEAD") -> str:
        return self("log", "-1", "--format=%B", rev)

    def commit(self, message: str, **files: str) -> str:
        """A person's commit of these files (``a_py`` is ``a.py``)."""
        for name, text in files.items():
            self.write(name.replace("_", "."), text)
        self("add", "-A")
        self("commit", "-q", "-m", message)
        return self("rev-parse", "HEAD")


#: An agent whose only tool is declared: what it wrote is known without a model. It does a line of its standard input at a time.
AGENT = """
import json, subprocess, sys
import tachograph

@tachograph.tool(effect="write")
def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return "written"

@tachograph.tool(effect="write")
def edit(path, old_string, new_string):
    text = open(path).read()
    assert text.count(old_string) == 1, text.count(old_string)
    with open(path, "w") as file:
        file.write(text.replace(old_string, new_string))
    return "edited"

@tachograph.tool(effect="read")
def look(path):
    return open(path).read()

print("ready", flush=True)
for line in sys.stdin:
    what, *rest = json.loads(line)
    if what == "write":
        write(*rest)
    elif what == "edit":
        edit(*rest)
    elif what == "open":
        open(rest[0], "w").write(rest[1])
    elif what == "look":
        look(*rest)
    else:
        done = subprocess.run([what, *rest], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    print("done", flush=True)
"""


class Agent:
    """A recorded agent. ``agent("write", "a.py", text)`` returns when it is done."""

    def __init__(self, tacho: Tacho, repository: Repository, tmp: Path, *options: str) -> None:
        script = tmp / "agent.py"
        script.write_text(AGENT, encoding="utf-8")
        self._id = tmp / f"id-{os.urandom(4).hex()}"
        self._process: Any = subprocess.Popen(
            [sys.executable, "-m", "tachograph.cli.app", "record", "--id-file", str(self._id), *options, "--", sys.executable, str(script)],
            cwd=repository.folder, env={**os.environ, **CLEAN, **tacho.settings}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout.readline() == "ready\n", self._process.stderr.read()

    @property
    def pid(self) -> int:
        """Of its launcher."""
        return int(self._process.pid)

    @property
    def session_id(self) -> str:
        return self._id.read_text(encoding="ascii").strip()

    def __call__(self, *what: str) -> None:
        import json

        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n", self._process.stderr.read()

    def end(self) -> str:
        """Its session, which is over."""
        _, said = self._process.communicate(timeout=60)
        assert self._process.returncode == 0, said
        return self.session_id

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.end()

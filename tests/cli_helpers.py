"""Run ``tacho`` as its users do, with a store and a key of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Done:
    """A finished command."""

    returncode: int
    stdout_bytes: bytes
    stderr_bytes: bytes

    @property
    def stdout(self) -> str:
        return self.stdout_bytes.decode("utf-8", "backslashreplace")

    @property
    def stderr(self) -> str:
        return self.stderr_bytes.decode("utf-8", "backslashreplace")

    def json(self) -> Any:
        return json.loads(self.stdout_bytes)

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.stdout_bytes.splitlines()]


class Tacho:
    """``tacho("record", "--", …)``."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "store"
        self.settings = {"TACHO_STORE": str(self.store), "TACHO_KEY": str(folder / "key.json")}

    def __call__(self, *arguments: str, **more: Any) -> Done:
        return self.run_plain([sys.executable, "-m", "tachograph.cli.app", *arguments], **more)

    def acts(self) -> list[dict[str, Any]]:
        """The ledger's entries, without those of every recording and reading."""
        entries = [line for line in self("cat", "ledger").lines() if line["type"] == "ledger_entry"]
        return [entry for entry in entries if entry["action"] not in ("opened", "sealed", "read")]

    def run_plain(
        self, command: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None, timeout: float = 120, stdin: bytes | None = None
    ) -> Done:  # fmt: skip
        environment = {**(os.environ if env is None else env), **self.settings}
        done = subprocess.run(
            list(command), cwd=cwd, env=environment, capture_output=True, timeout=timeout, input=stdin, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

"""Replay a fixture in a test: ``replay(Path(__file__).parent).must_be_identical()``.

    python -m tachograph.testing.fixture FOLDER REPORT [CMD…]

The replay runs in a process of its own: it forks, which a test process with threads must not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tachograph.replay.divergence import called


@dataclass(frozen=True)
class Replayed:
    """A replay's outcome. ``report``: as of ``tacho replay --json`` (docs/reference/replay-report.md)."""

    folder: Path
    report: dict[str, Any]

    @property
    def verdict(self) -> str:
        """``identical``, ``diverged`` or ``incomplete``."""
        return str(self.report["verdict"])

    def must_be_identical(self) -> None:
        """Fails the test where the agent did anything else than what is recorded, and says what."""
        __tracebackhide__ = True
        if self.verdict != "identical":
            lines = told(self.report)
            fail("\n".join([*lines, f"  if it is meant to differ now, record it again and replace {self.folder.name} (tacho fixture)"]))


def replay(folder: str | os.PathLike[str], *command: str) -> Replayed:
    """Run the agent of a fixture again, offline. ``command``: another than the recorded one. Fails the test where that cannot be done."""
    __tracebackhide__ = True
    if os.name == "nt":
        import pytest

        pytest.skip("replays need a POSIX system: they fork and use unix sockets")
    with tempfile.TemporaryDirectory(prefix="tacho-test-") as scratch:
        report = os.path.join(scratch, "report.json")
        done = subprocess.run([sys.executable, "-m", __name__, os.fspath(folder), report, *command], env=_environment(), check=False)
        if done.returncode or not os.path.exists(report):
            fail(f"the fixture could not be replayed (exit code {done.returncode}); what is above says why")
        with open(report, encoding="utf-8") as file:
            return Replayed(Path(folder), json.load(file))


def told(report: dict[str, Any]) -> list[str]:
    """What is different, in lines for a person: where, what was recorded, what came, what is likely."""
    lines = [f"{report['session_id']} replayed: {str(report['verdict']).upper()}"]
    first = report["divergence"]
    if first:
        where = f"step {first['step']}" if first["step"] else "the end"
        lines.append(
            f"  first difference at {where}: {first['kind']} {first['operation']}".rstrip()
            + f" in lane {first['lane']}{called(first['site'])}"
        )
        if first["nearest"]:
            lines.append(f"  nearest recorded: {first['nearest']['what']} (#{first['nearest']['seq']})")
        if first["path"] is not None:
            lines += [
                f"  in {first['path']}",
                f"    recorded: {_one_line(first['expected'])}",
                f"    now:      {_one_line(first['actual'])}",
            ]
        lines.append(f"  likely: {first['hint']}")
    for unused in report["unused"][:5]:
        lines.append(f"  recorded and never asked for: {unused['what']} (#{unused['seq']}, lane {unused['lane']})")
    for attempt in report["blocked"][:5]:
        lines.append(f"  refused: {attempt.get('what')} {attempt.get('where')}")
    if report["code_changed"]:
        lines.append(f"  the agent's code is not what was recorded: {', '.join(report['code_changed'][:5])}")
    return lines + [f"  note: {note}" for note in report["notes"]]


def _one_line(value: Any) -> str:
    return value.replace("\n", "\\n") if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def fail(said: str) -> NoReturn:
    """Fail the running test with this and no traceback of ours."""
    __tracebackhide__ = True
    import pytest

    pytest.fail(said, pytrace=False)


def _environment() -> dict[str, str]:
    """Where this package is found again, however it was found here."""
    source = str(Path(__file__).parents[2])
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([source, *([path] if path else [])])}


def main(arguments: list[str]) -> int:
    """In the process of its own."""
    from tachograph.core.errors import TachographError
    from tachograph.host import replay as replaying
    from tachograph.host.fixture import Fixture

    folder, report, *command = arguments
    try:
        found = replaying.replay(Fixture(folder).plan(command))
    except TachographError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    with open(report, "w", encoding="utf-8") as file:
        json.dump(found, file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

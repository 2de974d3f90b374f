"""Records an agent and replays it, again and again, in one process: ``python order_runs.py FOLDER RUNS ROUNDS [LOAD]``.

``LOAD``: so many other processes turn in a loop meanwhile. Prints one JSON line a run: ``{"run", "verdict", "same", "early", "reordered",
"divergence"}``.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tachograph import wiring
from tachograph.host import record, replay
from tachograph.log.reader import Recording

AGENT = Path(__file__).with_name("order_agent.py")
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): pass"


@contextlib.contextmanager
def load(processes: int) -> Iterator[None]:
    started = [subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def run(number: int, rounds: int) -> dict[str, object]:
    chosen = wiring.settings(None)
    opened = wiring.open_for_writing(chosen)
    kept, out = os.dup(1), Path("printed")
    with out.open("wb") as file:
        os.dup2(file.fileno(), 1)
    recorded = record.record(
        record.Plan(
            opened=opened, command=[sys.executable, "agent.py", str(rounds), str(number)], environment=os.environ, clock=chosen.clock,
            entropy=chosen.entropy,
        )
    )  # fmt: skip
    os.dup2(kept, 1)
    os.close(kept)
    opened = wiring.open_for_reading(chosen)
    opened.data_key(recorded.session_id)
    found = replay.replay(replay.Plan(recording=Recording(opened, recorded.session_id), verified=True, quiet=True))
    return {
        "run": number, "session": recorded.session_id, "verdict": found["verdict"], "same": found["output_identical"], "early": found["early"],
        "reordered": found["reordered"], "divergence": found["divergence"], "lines": len(out.read_bytes().splitlines()),
        "printed": out.read_text(),
    }  # fmt: skip


def main() -> None:
    folder, runs, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    work = folder / "workspace"
    work.mkdir(parents=True, exist_ok=True)
    (work / "agent.py").write_bytes(AGENT.read_bytes())
    os.chdir(work)
    os.environ |= {"TACHO_STORE": str(folder / "store"), "TACHO_KEY": str(folder / "key.json")}
    with load(int(sys.argv[4]) if len(sys.argv) > 4 else 0):
        for number in range(runs):
            print(json.dumps(run(number, rounds)), flush=True)


main()

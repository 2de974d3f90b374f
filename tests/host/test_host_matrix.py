"""The matrix of nondeterminism: each thing that an agent can read of its surroundings, in each kind of concurrency, records and replays
identical; and with its tap switched off the replay diverges and says why.

Each program is generated from the two tables below.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Tacho


@dataclass(frozen=True)
class Source:
    """``kind``: of ambient reads. ``expression``: what the agent looks at. ``varies``: it is surely another in the next run."""

    kind: str
    expression: str
    imports: str = ""
    varies: bool = True


#: ``outside``: a folder outside of the workspace to which the test adds a file between recording and replay.
SOURCES = {
    "time": Source("clock", "time.time()"),
    "datetime": Source("clock", "datetime.datetime.now().isoformat()", "datetime"),
    "utc": Source("clock", "datetime.datetime.now(datetime.timezone.utc)", "datetime"),
    "broken_down": Source(
        "clock", "(time.ctime(), time.strftime('%F %T'), time.gmtime()[:6], datetime.date.today())", "datetime", varies=False
    ),
    "monotonic": Source("monotonic", "time.monotonic()"),
    "perf_counter": Source("monotonic", "time.perf_counter_ns()"),
    "urandom": Source("entropy", "os.urandom(6)"),
    "uuid4": Source("entropy", "uuid.uuid4()", "uuid"),
    # Live, it asks the system's service for such ids, which the guard refuses: the report names that.
    "uuid1": Source("entropy", "uuid.uuid1()", "uuid", varies=False),
    "secrets": Source("entropy", "(secrets.token_hex(4), secrets.choice(range(1 << 40)))", "secrets"),
    "random": Source("random", "(random.random(), random.randrange(1 << 40), random.gauss(0, 1))", "random"),
    "generator": Source("random", "random.Random().sample(range(1 << 30), 3)", "random"),
    "temporary_file": Source("random", "tempfile.mkdtemp(prefix='agent-')", "tempfile"),
    "listdir": Source("listing", "os.listdir(outside)"),
    "scandir": Source("listing", "[e.name for e in os.scandir(outside)]"),
    "glob": Source("listing", "glob.glob(outside + '/*')", "glob"),
    "pid": Source("identity", "(os.getpid(), os.getppid())"),
    "host": Source("identity", "(socket.gethostname(), platform.node(), os.cpu_count(), os.uname())", "socket, platform", varies=False),
    "sql_now": Source(
        "sqlite", "base().execute(\"select strftime('%f', 'now'), julianday('now'), current_timestamp\").fetchone()", "sqlite3"
    ),
    "sql_random": Source("sqlite", "base().execute('select random(), hex(randomblob(4))').fetchone()", "sqlite3"),
}

CONTEXTS = {
    "sync": "print([str(look()) for _ in range(3)])",
    "threads": """
import threading
from concurrent.futures import ThreadPoolExecutor
found = {}
def work(name):
    together.wait()
    found[name] = [str(look()) for _ in range(3)]
together = threading.Barrier(3)
threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with ThreadPoolExecutor(2) as pool:
    print(sorted(found.items()), list(pool.map(lambda n: str(look()), range(4))))
""",
    "asyncio": """
import asyncio
async def work(n):
    found = []
    for _ in range(3):
        found.append(str(look()))
        await asyncio.sleep(0)
    return found, await asyncio.to_thread(lambda: str(look()))
async def main():
    print(await asyncio.gather(*(work(n) for n in range(3))))
asyncio.run(main())
""",
    "child": """
import multiprocessing
def work(pipe):
    pipe.send([str(look()) for _ in range(2)])
    pipe.close()
print(str(look()))
context = multiprocessing.get_context("fork")
for _ in range(2):
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there,))
    process.start()
    print(here.recv())
    process.join()
reader, writer = os.pipe()
pid = os.fork()
if pid == 0:
    os.write(writer, str(look()).encode())
    os._exit(0)
assert os.waitpid(pid, 0) == (pid, 0)
print(os.read(reader, 100000), pid, process.pid)
""",
}

HEAD = """import os, time
{imports}
outside = {outside!r}
def base():
    return sqlite3.connect(":memory:")
def look():
    return {expression}
"""

CAUSE = {
    "clock": "clock", "monotonic": "clock", "entropy": "entropy", "random": "entropy", "listing": "order", "identity": "environment",
    "sqlite": "clock",
}  # fmt: skip

MATRIX = [pytest.param(source, context, id=f"{source}-{context}") for source, context in itertools.product(SOURCES, CONTEXTS)]


@dataclass
class Recorded:
    """One program's session."""

    tacho: Tacho
    folder: Path
    stdout: bytes

    def replay(self, *more: str) -> dict[str, Any]:
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        done = self.tacho("replay", "@last", "--report", str(report), *more, cwd=self.folder)
        assert report.exists(), done.stderr
        found: dict[str, Any] = json.loads(report.read_text())
        found["same"] = done.stdout_bytes == self.stdout
        return found


def recorded(tmp_path: Path, source: str, context: str) -> Recorded:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    for name in ("zebra", "aardvark", "mule"):
        (outside / name).write_text("x")
    chosen = SOURCES[source]
    head = HEAD.format(imports=f"import {chosen.imports}" if chosen.imports else "", outside=str(outside), expression=chosen.expression)
    (workspace / "agent.py").write_text(head + CONTEXTS[context])
    tacho = Tacho(tmp_path)
    done = tacho("record", "--", sys.executable, "agent.py", cwd=workspace, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert done.stdout_bytes
    (outside / "newcomer").write_text("x")
    return Recorded(tacho, tmp_path, done.stdout_bytes)


def check(found: dict[str, Any], source: str) -> None:
    assert found["verdict"] == "identical", found
    # The folder for temporary files is another one in a replay, and counts as the recorded one; names in it are the same.
    assert found["same"] or source == "temporary_file"
    assert found["output_identical"] is True
    # Nothing was read that was not recorded: neither by the agent nor, of the clock, by our own waiting.
    assert found["unrecorded"] == []


@pytest.mark.parametrize(("source", "context"), MATRIX)
def test_records_and_replays_identical(tmp_path: Path, source: str, context: str) -> None:
    check(recorded(tmp_path, source, context).replay(), source)


@pytest.mark.parametrize("source", [name for name, each in SOURCES.items() if each.varies])
def test_without_its_tap_it_diverges(tmp_path: Path, source: str) -> None:
    differs(recorded(tmp_path, source, "sync"), SOURCES[source].kind)


def differs(session: Recorded, kind: str) -> None:
    found = session.replay("--live", kind)
    assert found["verdict"] == "diverged", found
    assert found["divergence"]["kind"] == "output"
    assert {each["kind"].partition(".")[0] for each in found["unrecorded"]} >= {kind}
    assert found["divergence"]["cause"] == CAUSE[kind], found["divergence"]
    assert "agent.py:" in found["divergence"]["hint"]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "context"), MATRIX)
def test_ten_times_out_of_ten(tmp_path: Path, source: str, context: str) -> None:
    session = recorded(tmp_path, source, context)
    for _ in range(10):
        check(session.replay(), source)
    if SOURCES[source].varies:
        differs(session, SOURCES[source].kind)

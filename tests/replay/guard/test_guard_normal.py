"""What an honest program does works under the guard as it does without, and nothing of it is named."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import asyncio, json, multiprocessing, os, shutil, sqlite3, subprocess, sys, tempfile, threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import shared_memory
from pathlib import Path

def square(n): return n * n

def main():
    here = Path.cwd()
    Path("new").write_text("text"); os.rename("new", "renamed"); os.chmod("renamed", 0o600); os.utime("renamed", (1, 1))
    os.link("renamed", "second"); os.symlink("renamed", "link"); os.truncate("renamed", 1); os.setxattr("renamed", "user.k", b"v")
    os.makedirs("a/b/c"); os.rename("a/b", "sub/b"); shutil.copytree("sub", "copy"); shutil.rmtree("copy"); os.remove("second")
    Path("kept").write_text("edited\\n"); shutil.move("sub", "moved")
    with tempfile.TemporaryDirectory() as d, tempfile.TemporaryFile() as f, tempfile.NamedTemporaryFile() as n:
        assert d.startswith(os.environ["TMPDIR"])
        f.write(b"x"); shutil.copy2("kept", d); shutil.move(d + "/kept", "from-temp")
    database = sqlite3.connect("data.db"); database.execute("create table t (x)"); database.execute("insert into t values (1)")
    database.commit(); assert database.execute("select * from t").fetchall() == [(1,)]; database.close()
    child = subprocess.run(["sh", "-c", "echo child > from-child && cat from-child"], capture_output=True, text=True)
    assert child.stdout == "child\\n"
    assert subprocess.run("exit 3", shell=True, stdin=subprocess.DEVNULL).returncode == 3
    with ThreadPoolExecutor(4) as pool: list(pool.map(lambda n: Path(f"thread-{n}").write_text("x"), range(8)))
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool: assert pool.map(square, range(5)) == [0, 1, 4, 9, 16]
        semaphore = context.Semaphore(1); lock = context.Lock(); queue = context.Queue()
        with semaphore, lock: queue.put(1); assert queue.get() == 1
    with multiprocessing.Manager() as manager: assert list(manager.list([1])) == [1]
    memory = shared_memory.SharedMemory(create=True, size=10); memory.close(); memory.unlink()
    async def both():
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(1)", stdout=subprocess.PIPE)
        served = await asyncio.start_unix_server(lambda r, w: w.close(), os.environ["TMPDIR"] + "/s")
        reader, writer = await asyncio.open_unix_connection(os.environ["TMPDIR"] + "/s")
        assert await reader.read() == b""
        writer.close(); served.close()
        return await process.communicate()
    assert asyncio.run(both())[0] == b"1\\n"
    print("fine", os.getuid(), os.getgid(), here)

if __name__ == "__main__":
    main()
"""


def test_an_ordinary_program_does_not_notice(bench: Any) -> None:
    (bench.workspace / "program.py").write_text(PROGRAM)
    before = bench.fingerprint()
    with tempfile.TemporaryDirectory() as short:  # ``multiprocessing`` makes unix sockets there, whose paths end at 107 bytes
        bench.plan = replace(bench.plan, tmp=Path(os.path.realpath(short)))
        outcome = bench.run([sys.executable, "program.py"])
    assert outcome.output == f"fine {os.getuid()} {os.getgid()} {bench.workspace}\n", outcome.output
    assert outcome.status == 0
    assert outcome.attempts == []
    assert outcome.defect is None
    assert bench.fingerprint() == before, "the original workspace was written"
    assert (bench.plan.scratch / "upper" / "kept").read_text() == "edited\n"
    assert outcome.guards == {"seccomp": True, "landlock": outcome.guards["landlock"], "namespace": "overlay", "shm": "private"}
    assert outcome.guards["landlock"] >= 1


def test_pytest_runs_under_the_guard(bench: Any) -> None:
    (bench.workspace / "test_it.py").write_text("def test_it(tmp_path):\n    (tmp_path / 'x').write_text('y')\n")
    outcome = bench.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"])
    assert outcome.status == 0, outcome.output
    assert outcome.attempts == []


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_git_commits_in_the_workspace(bench: Any) -> None:
    outcome = bench.run(
        ["sh", "-c", "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm first && git log --format=%s"]
    )
    assert outcome.output.strip().endswith("first"), outcome.output
    assert outcome.attempts == []
    assert not (bench.workspace / ".git").exists()


def test_a_virtual_environment_in_the_workspace_stays_usable(bench: Any) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bench.workspace / ".venv"], check=True)
    outcome = bench.run([str(bench.workspace / ".venv/bin/python"), "-c", "import sys; print(sys.prefix, sys.prefix != sys.base_prefix)"])
    assert outcome.output.split() == [str(bench.workspace / ".venv"), "True"]
    assert outcome.attempts == []


def test_the_child_lays_out_recorded_files_before_the_agent_starts(bench: Any) -> None:
    def restore() -> None:
        (bench.workspace / "kept").write_text("as recorded\n")
        (bench.workspace / "sub" / "deep").unlink()

    outcome = bench.run(["sh", "-c", "cat kept; ls sub"], before=restore)
    assert outcome.output == "as recorded\n"
    assert bench.fingerprint() == bench.before


def test_a_host_that_stands_in_the_original_does_not_write_there(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.workspace)
    outcome = bench.run(["cat", "fresh"], before=lambda: Path("fresh").write_text("in the scratch"))
    assert outcome.output == "in the scratch"
    assert bench.fingerprint() == bench.before


def test_unix_sockets_reach_the_host(bench: Any) -> None:
    path = bench.top / "host.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def serve() -> None:
            with server.accept()[0] as peer:
                peer.sendall(peer.recv(10)[::-1])

        thread = threading.Thread(target=serve)
        thread.start()
        code = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.send(b'abc'); print(s.recv(10))"
        outcome = bench.python(code, path)
        thread.join()
    assert outcome.output == "b'cba'\n"
    assert outcome.attempts == []


CONNECT = """
import socket, sys
for path in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect("\\0" + path[1:] if path.startswith("@") else path)
    except OSError as error:
        print(error.errno)
    else:
        print("connected")
try: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
except OSError as error: print(error.errno)
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.send(b"x"); b.recv(1);
"""


def test_where_the_sockets_are_named_no_other_is_reached(bench: Any) -> None:
    allowed, other, abstract = bench.top / "host.sock", bench.top / "database.sock", f"@{bench.top}"
    bench.plan = replace(bench.plan, sockets=(allowed,))
    servers = [socket.socket(socket.AF_UNIX) for _ in range(3)]
    try:
        for server, name in zip(servers, (str(allowed), str(other), "\0" + abstract[1:]), strict=True):
            server.bind(name)
            server.listen()
        outcome = bench.python(CONNECT, allowed, other, bench.top / "missing.sock", abstract)
    finally:
        for server in servers:
            server.close()
    assert outcome.output.split() == ["connected", "13", "2", "1", "13"]
    assert {entry[:2] for entry in outcome.named()} == {("connect", str(other)), ("socket", "AF_UNIX SOCK_DGRAM")}


def test_shared_memory_of_the_machine_is_not_seen(bench: Any) -> None:
    name = Path("/dev/shm") / f"tachograph-test-{os.getpid()}"
    name.write_text("live")
    try:
        outcome = bench.python(f"import os; print(os.path.exists({str(name)!r})); open({str(name)!r}, 'w').write('x')")
        assert name.read_text() == "live"
    finally:
        name.unlink()
    assert outcome.output.strip() == "False"
    assert outcome.attempts == []


def test_extra_paths_may_be_written(bench: Any) -> None:
    bench.plan = replace(bench.plan, extra_writable=(bench.outside / "sub", bench.outside / "kept"))
    outcome = bench.python(
        "import os; o = os.environ['OUTSIDE']\nopen(o + '/sub/new', 'w'); open(o + '/kept', 'w')\nopen(o + '/other', 'w')"
    )
    assert (bench.outside / "sub" / "new").exists()
    assert (bench.outside / "kept").read_text() == ""
    assert {entry["path"] for entry in outcome.attempts} == {str(bench.outside / "other")}


BOTH = """
import json, os, socket, sys
sys.path.insert(0, sys.argv[1])
from tachograph.client import guard
reports = []
guard.install([os.getcwd(), os.environ["TMPDIR"]], reports.append, refuse_sockets=True)
out = os.environ["OUTSIDE"]
for attempt in (lambda: open(out + "/kept", "w"), lambda: socket.socket(), lambda: os.remove(out + "/kept")):
    try: attempt()
    except PermissionError: print("refused")
os.system("rm -f $OUTSIDE/other")
print(json.dumps([report["what"] for report in reports]))
"""


def test_what_the_agents_own_hook_refuses_the_kernel_never_sees(bench: Any) -> None:
    import tachograph

    source = Path(tachograph.__file__).parents[1]
    outcome = bench.python(BOTH, source)
    lines = outcome.output.splitlines()
    assert lines[:3] == ["refused"] * 3
    assert lines[-1] == '["write", "socket", "unlink"]'
    assert outcome.named() == {("unlink", str(bench.outside / "other"), "landlock")}


def test_many_threads_and_processes_at_once(bench: Any) -> None:
    code = """
import multiprocessing, os, signal, threading
def work(n):
    signal.signal(signal.SIGALRM, lambda *_: None); signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    def inner(k):
        for i in range(50):
            with open(f"{n}-{k}-{i}", "w") as file: file.write("x")
            try: open(os.environ["OUTSIDE"] + f"/{n}-{k}", "w")
            except OSError: continue
            raise SystemExit("LEAK")
    threads = [threading.Thread(target=inner, args=(k,)) for k in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
processes = [multiprocessing.Process(target=work, args=(n,)) for n in range(4)]
for process in processes: process.start()
for process in processes: process.join()
print([process.exitcode for process in processes], len(os.listdir(".")))
"""
    outcome = bench.python(code)
    assert outcome.output.split("\n")[0] == f"[0, 0, 0, 0] {4 * 4 * 50 + 2}", outcome.output
    assert len(outcome.attempts) == 16
    assert {entry["count"] for entry in outcome.attempts} == {50}
    assert bench.fingerprint() == bench.before

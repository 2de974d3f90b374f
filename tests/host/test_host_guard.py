"""During a replay nothing reaches the network and nothing outside the scratch workspace changes; each attempt is named."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho

AGENT = """
import asyncio, ctypes, os, socket, subprocess, sys
import tachograph

@tachograph.tool(effect="read")
def plan():
    return ["look"]

print(plan())
outside = os.environ["OUTSIDE"]

def attempt(name, run):
    try:
        run()
    except (OSError, RuntimeError) as error:
        print("refused", name, file=sys.stderr)

def raw():
    s = socket.socket()
    s.connect(("127.0.0.1", 9))

def by_ctypes():
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.socket(2, 1, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "socket")
    import struct
    address = struct.pack("=HH4s8x", 2, socket.htons(9), socket.inet_aton("127.0.0.1"))
    if libc.connect(fd, address, 16) < 0:
        raise OSError(ctypes.get_errno(), "connect")

def by_uvloop():
    import uvloop
    async def main():
        await asyncio.open_connection("127.0.0.1", 9)
    uvloop.run(main())

def by_child(*command):
    # Not through subprocess, which is answered: a bare fork and exec.
    pid = os.fork()
    if pid == 0:
        os.execvp(command[0], command)
    os.waitpid(pid, 0)

if os.environ.get("TACHO_MODE") == "replay":
    attempt("raw", raw)
    attempt("ctypes", by_ctypes)
    attempt("uvloop", by_uvloop)
    attempt("curl", lambda: by_child("curl", "-s", "http://127.0.0.1:9/"))
    attempt("write", lambda: open(outside + "/new.txt", "w"))
    attempt("overwrite", lambda: open(outside + "/precious.txt", "w"))
    attempt("remove", lambda: os.remove(outside + "/precious.txt"))
    attempt("child", lambda: by_child("sh", "-c", "echo gone > " + outside + "/precious.txt"))
    attempt("unlink by a child", lambda: by_child("rm", "-f", outside + "/precious.txt"))
open("inside.txt", "w").write("allowed")
print("done")
"""


def digest(folder: Path) -> str:
    state = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        state.update(f"{path.relative_to(folder)} {about.st_mode} {about.st_size} {about.st_mtime_ns}".encode())
        if path.is_file():
            state.update(path.read_bytes())
    return state.hexdigest()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's guards are Linux's")
def test_every_attempt_is_refused_and_named(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl here")
    outside, workspace = tmp_path / "outside", tmp_path / "workspace"
    outside.mkdir()
    workspace.mkdir()
    (outside / "precious.txt").write_text("precious\n")
    (workspace / "agent.py").write_text(AGENT)
    tacho = Tacho(tmp_path)
    environment = {**os.environ, "OUTSIDE": str(outside)}
    done = tacho("record", "--", sys.executable, "agent.py", cwd=workspace, env=environment)
    assert done.returncode == 0, done.stderr
    (workspace / "inside.txt").unlink()
    before = digest(outside), digest(workspace)
    replayed = tacho("replay", "@last", "--report", str(tmp_path / "report.json"))
    assert (digest(outside), digest(workspace)) == before
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["verdict"] == "identical", replayed.stderr
    assert report["guards"]["seccomp"] is True
    assert isinstance(report["guards"]["landlock"], int)
    named = [(attempt["what"], attempt["where"], attempt["by"]) for attempt in report["blocked"]]
    text = json.dumps(named)
    assert any(what in ("connect", "socket") and by == "audit" for what, _, by in named), named
    assert sum(1 for what, _, by in named if what == "socket" and by == "seccomp") >= 1, named
    assert "curl" in text
    assert "new.txt" in text
    for what in ("write", "unlink"):
        assert any(found == what and "precious.txt" in where for found, where, _ in named), (what, named)
    assert any("precious.txt" in where and by != "audit" for _, where, by in named), named
    for name in ("raw", "ctypes", "uvloop", "write", "overwrite", "remove"):
        assert f"refused {name}" in replayed.stderr

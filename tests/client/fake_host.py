"""A host for the taps' tests: as small as can be, with nothing of the real one but the frames.

Recording, it keeps every message. Replaying, it answers each ``begin`` from the first unused recorded call with the same lane, kind,
operation, request (headers left out) and body. Pieces go out in the order in which they were told, over all calls and processes; an end
that was the agent's own doing is not sent.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tachograph.client.frames import Splitter, pack

SRC = Path(__file__).resolve().parents[2] / "src"
BOOT = SRC / "tachograph" / "client" / "boot"

#: The interpreter that runs the agents: the tests' own, unless a matrix says otherwise.
PYTHON = os.environ.get("TACHO_TEST_PYTHON", sys.executable)

ANSWERS = ("head", "chunk", "end", "fail", "result")


@dataclass
class Call:
    """A recorded call."""

    lane: str
    kind: str
    operation: str
    request: dict[str, Any]
    body: bytes
    header: dict[str, Any]
    pieces: list[tuple[dict[str, Any], bytes]] = field(default_factory=list)

    @property
    def key(self) -> tuple[Any, ...]:
        plain = {name: value for name, value in self.request.items() if name != "headers"}
        return (self.lane, self.kind, self.operation, repr(sorted(plain.items())), self.body)

    @property
    def head(self) -> dict[str, Any]:
        return next((header["head"] for header, _ in self.pieces if header["m"] == "head"), {})

    @property
    def last(self) -> dict[str, Any]:
        return self.pieces[-1][0] if self.pieces else {}

    @property
    def chunks(self) -> list[bytes]:
        return [data for header, data in self.pieces if header["m"] == "chunk" and data]

    def output(self, fd: int) -> bytes:
        return b"".join(data for header, data in self.pieces if header["m"] == "chunk" and header.get("fd") == fd)


def _when(entry: tuple[Call, int]) -> int:
    # Over several sockets, the order of arrival is not the order of things; the clients' clock is one and the same.
    call, place = entry
    return int(call.pieces[place][0]["t"])


class FakeHost:
    """``calls`` in the order of their begins; ``misses``: what a replay asked for in vain; ``hellos``: who joined."""

    def __init__(self, folder: Path, tape: FakeHost | None = None) -> None:
        self.folder = folder
        self.mode = "record" if tape is None else "replay"
        self.calls: list[Call] = []
        self.order: list[tuple[Call, int]] = []
        self.misses: list[Call] = []
        self.hellos: list[dict[str, Any]] = []
        self.synced = 0
        self.heard: Callable[[str, Call, bytes], None] | None = None
        self.lives: int | None = None
        """So many messages, then it hangs up on everybody."""
        self._tape = [] if tape is None else sorted(tape.order, key=_when)
        self._free = [] if tape is None else list(tape.calls)
        self._live: dict[int, tuple[socket.socket, int]] = {}
        self._open: dict[tuple[int, int], Call] = {}
        self._dropped: set[int] = set()
        self._lock = threading.RLock()
        self._path = os.path.join(tempfile.mkdtemp(prefix="th-"), "s")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self._path)
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def environment(self) -> dict[str, str]:
        base = {name: value for name, value in os.environ.items() if not name.startswith(("TACHO_", "PYTHONPATH"))}
        return {
            **base,
            "PYTHONPATH": str(BOOT),
            "TACHO_SOCKET": self._path,
            "TACHO_TOKEN": "t0ken",
            "TACHO_MODE": self.mode,
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONFAULTHANDLER": "1",
            "no_proxy": "*",
        }

    def close(self) -> None:
        self._listener.close()
        os.unlink(self._path)
        os.rmdir(os.path.dirname(self._path))

    def of(self, kind: str) -> list[Call]:
        return [call for call in self.calls if call.kind == kind]

    # -- serving -----------------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            number = 0
            while True:
                sock, _ = self._listener.accept()
                number += 1
                threading.Thread(target=self._serve, args=(sock, number), daemon=True).start()

    def _serve(self, sock: socket.socket, number: int) -> None:
        splitter = Splitter()
        with contextlib.suppress(OSError):
            while data := sock.recv(1 << 18):
                splitter.feed(data)
                for header, payload in splitter.frames():
                    with self._lock:
                        if self.lives is not None and header["m"] != "hello":
                            self.lives -= 1
                        if self.lives is not None and self.lives < 0:
                            sock.close()
                            return
                        self._message(sock, number, header, payload)

    def _message(self, sock: socket.socket, number: int, header: dict[str, Any], payload: bytes) -> None:
        kind = header["m"]
        if kind == "hello":
            self.hellos.append(header)
            writable = [str(self.folder), tempfile.gettempdir()]
            sock.sendall(pack({"m": "welcome", "mode": self.mode, "session": "ses_test", "writable": writable}))
        elif kind == "sync":
            self.synced += 1
            sock.sendall(pack({"m": "synced", "n": header["n"]}))
        elif kind == "begin":
            call = Call(header["lane"], header["k"], header["op"], header["req"], payload, header)
            self.calls.append(call)
            self._open[number, header["c"]] = call
            if self.mode == "replay":
                self._answer(sock, header["c"], call)
        elif kind in ANSWERS:
            call = self._open[number, header["c"]]
            if self.mode == "record":
                call.pieces.append((header, payload))
                self.order.append((call, len(call.pieces) - 1))
            elif kind == "end":
                self._dropped.add(getattr(call, "twin", 0))
                self._pump()
            if self.heard is not None:
                self.heard(kind, call, payload)

    def _answer(self, sock: socket.socket, number: int, asked: Call) -> None:
        for recorded in self._free:
            if recorded.key == asked.key:
                self._free.remove(recorded)
                asked.twin = id(recorded)  # type: ignore[attr-defined]
                self._live[id(recorded)] = (sock, number)
                return self._pump()
        self.misses.append(asked)
        return sock.sendall(pack({"m": "stop", "c": number, "why": "not recorded"}))

    def _pump(self) -> None:
        while self._tape:
            call, place = self._tape[0]
            header, payload = call.pieces[place]
            mine = header["m"] == "end" and header.get("state") in ("closed", "cancelled")
            if mine or id(call) in self._dropped or "/proc-" in call.lane or header.get("state") == "cancelled":
                self._tape.pop(0)
                continue
            if id(call) not in self._live:
                return
            self._tape.pop(0)
            sock, number = self._live[id(call)]
            with contextlib.suppress(OSError):
                sock.sendall(pack({**header, "c": number}, payload))

    @property
    def unused(self) -> list[Call]:
        return [call for call in self._free if "/proc-" not in call.lane]


@dataclass
class Ran:
    """An agent that ended."""

    out: str
    err: str
    code: int


def run(host: FakeHost | None, script: str, *args: str, timeout: float = 30.0, **environment: str) -> Ran:
    """Run an agent under a host (or none), in the host's folder."""
    base = host.environment() if host is not None else dict(os.environ)
    path = (host.folder if host is not None else Path(tempfile.gettempdir())) / "agent.py"
    path.write_text(script, encoding="utf-8")
    agent = subprocess.Popen(
        [PYTHON, str(path), *args], env={**base, **environment}, cwd=path.parent,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        out, err = agent.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(agent.pid, signal.SIGABRT)  # each of its processes says where it hangs
        out, err = agent.communicate()
        raise AssertionError(f"the agent hangs; it printed\n{out}\n{err}") from None
    return Ran(out, err, agent.returncode)


@contextlib.contextmanager
def hosting(folder: Path, tape: FakeHost | None = None) -> Iterator[FakeHost]:
    host = FakeHost(folder, tape)
    try:
        yield host
    finally:
        host.close()


def record(folder: Path, script: str, *args: str, **more: Any) -> tuple[FakeHost, Ran]:
    """Run an agent while recording; it must succeed."""
    with hosting(folder) as host:
        ran = run(host, script, *args, **more)
    assert ran.code == 0, ran.err
    return host, ran


def replay(tape: FakeHost, script: str, *args: str, **more: Any) -> tuple[FakeHost, Ran]:
    """Run it again from what was recorded."""
    with hosting(tape.folder, tape) as host:
        ran = run(host, script, *args, **more)
    return host, ran


def same(tape: FakeHost, first: Ran, script: str, *args: str, **more: Any) -> FakeHost:
    """The equation: replayed, it prints and exits as it did; everything was asked for, and nothing else."""
    host, ran = replay(tape, script, *args, **more)
    missed = [(call.lane, call.operation, call.request, call.body[:500]) for call in host.misses]
    assert not missed, f"not recorded: {missed}\n{ran.err}"
    if ran.out != first.out:
        lines = zip(first.out.splitlines() + [""], ran.out.splitlines() + [""], strict=False)
        differs = next(((old, new) for old, new in lines if old != new), ("", ""))
        raise AssertionError(f"recorded: {differs[0]}\nreplayed: {differs[1]}\n{ran.err}")
    assert ran.code == first.code, ran.err
    unused = [(call.lane, call.operation, call.request) for call in host.unused]
    assert not unused, f"not asked for: {unused}\n{ran.err}"
    return host


def needs(module: str) -> None:
    """Skip the test where the agents' interpreter does not have this library."""
    if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode:
        pytest.skip(f"the agents' Python has no {module}")

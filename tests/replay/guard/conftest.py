"""Runs a program under the guard, the way a host does: fork, ``mount``, ``enter``, ``exec``; supervise; collect."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tachograph.replay.guard import GuardPlan, Supervisor, available, discard, enter, mount, receive

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Outcome:
    status: int
    output: str
    guards: dict[str, Any]
    attempts: list[dict[str, Any]]
    reported: list[dict[str, Any]]
    defect: Exception | None

    def named(self) -> set[tuple[str, str, str]]:
        return {(a["what"], a["path"], a["by"]) for a in self.attempts}


@dataclass
class Bench:
    """One outside directory, one workspace, one scratch folder."""

    top: Path
    plan: GuardPlan
    before: str = field(default="")

    @property
    def workspace(self) -> Path:
        return self.plan.workspace

    @property
    def outside(self) -> Path:
        return self.top / "outside"

    def fingerprint(self) -> str:
        """All that a write could change outside the scratch folder: names, kinds, modes, owners, times, sizes, content."""
        found = hashlib.sha256()
        for part in (self.outside, self.workspace):
            for path in sorted([part, *part.rglob("*")]):
                status = path.lstat()
                found.update(
                    repr(
                        (
                            str(path),
                            status.st_mode,
                            status.st_uid,
                            status.st_gid,
                            status.st_mtime_ns,
                            status.st_size,
                            status.st_nlink,
                        )
                    ).encode()
                )
                if path.is_symlink():
                    found.update(os.readlink(path).encode())
                elif path.is_file():
                    found.update(path.read_bytes())
        return found.hexdigest()

    def python(self, code: str, *arguments: object, **options: Any) -> Outcome:
        return self.run([sys.executable, "-c", code, *map(str, arguments)], **options)

    def run(
        self,
        argv: list[str],
        *,
        before: Callable[[], None] | None = None,
        landlock: int | None = None,
        as_user: int | None = None,
    ) -> Outcome:
        ours, theirs = socket.socketpair()
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                ours.close()
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(write, 1)
                os.dup2(write, 2)
                if as_user is not None:
                    os.setgroups([])
                    os.setresgid(as_user, as_user, as_user)
                    os.setresuid(as_user, as_user, as_user)
                mount(self.plan)
                if before:
                    before()
                os.chdir(self.plan.tree)
                environment = {**os.environ, "TMPDIR": str(self.plan.tmp), "OUTSIDE": str(self.outside), "PYTHONPATH": ""}
                enter(self.plan, theirs)
                os.execvpe(argv[0], argv, environment)
            except BaseException as error:
                os.write(2, f"{type(error).__name__}: {error}".encode())
            finally:
                os._exit(97)
        theirs.close()
        os.close(write)
        reported: list[dict[str, Any]] = []
        chunks: list[bytes] = []

        def drain() -> None:
            with open(read, "rb") as pipe:
                chunks.append(pipe.read())

        reader = threading.Thread(target=drain)
        reader.start()
        attempts: list[dict[str, Any]] = []
        guards: dict[str, Any] = {}
        defect = None
        try:
            fd, guards = receive(ours)
        except Exception as error:
            guards = {"error": str(error)}
            fd = None
        if fd is not None:
            level = guards["landlock"] if landlock is None else landlock
            with Supervisor(
                fd,
                writable=self.plan.writable,
                report=reported.append,
                landlock=level if isinstance(level, int) else 0,
                sockets=self.plan.sockets,
            ) as supervisor:
                assert supervisor.wait(120)
                attempts, defect = supervisor.attempts, supervisor.defect
        _, status = os.waitpid(child, 0)
        reader.join()
        ours.close()
        return Outcome(os.waitstatus_to_exitcode(status), b"".join(chunks).decode(), guards, attempts, reported, defect)


@pytest.fixture(scope="session")
def guards() -> dict[str, Any]:
    return available()


@pytest.fixture
def bench(tmp_path: Path, guards: dict[str, Any]) -> Any:
    if guards["seccomp"] is not True or not isinstance(guards["landlock"], int) or guards["namespace"] != "overlay":
        pytest.skip(f"this kernel has not all guards: {guards}")
    top = Path(os.path.realpath(tmp_path))
    for made in ("workspace/sub", "outside/sub"):
        (top / made).mkdir(parents=True)
    for file in ("workspace/kept", "workspace/sub/deep", "outside/kept", "outside/other", "outside/sub/deep"):
        (top / file).write_text("original\n")
    made = Bench(top, GuardPlan(workspace=top / "workspace", scratch=top / "scratch", tmp=top / "scratch" / "tmp", mount="overlay"))
    made.before = made.fingerprint()
    yield made
    if made.plan.scratch.exists():
        discard(made.plan.scratch)

"""A ``tacho host``, and those who record at it: each as a user of its own where the tests run as root, else all as the same one."""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Done

SRC = str(Path(__file__).parents[1] / "src")


@dataclass(frozen=True)
class User:
    """``uid`` None: whoever runs the tests."""

    uid: int | None = None
    groups: tuple[int, ...] = ()

    def drop(self) -> dict[str, Any]:
        return {} if self.uid is None else {"user": self.uid, "group": self.uid, "extra_groups": list(self.groups)}


def _unused(count: int) -> list[int]:
    taken = {found.pw_uid for found in pwd.getpwall()}
    return [uid for uid in range(61000, 61100) if uid not in taken][:count]


SAME = User()
NOBODY = User(65534)
KEEPER, STRANGER = (User(uid) for uid in _unused(2))


@functools.cache
def interpreter() -> tuple[str, str]:
    """A Python that other users may run, and its path of modules; the one of the tests where there is a single user."""
    packages = os.pathsep.join([SRC, *(path for path in sys.path if path.endswith("site-packages"))])
    if os.geteuid() != 0:
        return sys.executable, packages
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for python in (sys.executable, f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        with contextlib.suppress(OSError):
            done = subprocess.run(
                [python, "-c", "import tachograph.cli.app, msgspec, orjson, zstandard, cryptography"],
                cwd="/", env={"PYTHONPATH": packages}, capture_output=True, check=False, **NOBODY.drop(),
            )  # fmt: skip
            if done.returncode == 0:
                return python, packages
    pytest.skip("no other user of this machine may run a Python with the project's dependencies")


def need_users() -> None:
    """Skip where processes of other users cannot be started."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to run the recorder and the agent as two users")
    interpreter()


@dataclass
class World:
    """``home``: of the keeper alone, with store and key. ``run``: with the sockets. ``work``: of the agent's user."""

    keeper: User
    agent: User
    root: Path
    process: subprocess.Popen[bytes] | None = None
    options: Sequence[str] = ()
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def socket(self) -> Path:
        return self.root / "run" / "host"

    @property
    def store(self) -> Path:
        return self.root / "home" / "store"

    @property
    def key(self) -> Path:
        return self.root / "home" / "key.json"

    def environment(self, *, keeps: bool) -> dict[str, str]:
        """Of the keeper, or of somebody else."""
        python, packages = interpreter()
        kept = {"TACHO_STORE": str(self.store), "TACHO_KEY": str(self.key)} if keeps else {}
        return {
            "PATH": os.pathsep.join([os.path.dirname(python), "/usr/local/bin", "/usr/bin", "/bin"]), "PYTHONPATH": packages,
            "HOME": str(self.root / "home") if keeps else "/nonexistent",
            "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **kept,
        }  # fmt: skip

    def start(self) -> None:
        python, _ = interpreter()
        log = (self.root / "log").open("ab")
        command = [python, "-m", "tachograph.cli.app", "host", "--listen", str(self.socket), *self.options]
        self.process = subprocess.Popen(
            command,
            cwd="/",
            env=self.environment(keeps=True),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **self.keeper.drop(),
        )
        self._started.append(self.process)
        before = self.log().count("tacho: host listens")
        wait(lambda: self.log().count("tacho: host listens") > before or self.process.poll() is not None)
        assert self.process.poll() is None, self.log()

    def log(self) -> str:
        return (self.root / "log").read_text()

    def popen(self, *arguments: str, user: User | None = None, keeps: bool = False, **more: Any) -> subprocess.Popen[bytes]:
        """Run something as the agent's user, or another one, or as the one who ``keeps`` the store."""
        user = user or (self.keeper if keeps else self.agent)
        environment = {**self.environment(keeps=keeps), **more.pop("env", {})}
        process = subprocess.Popen(
            list(arguments), cwd=self.root / ("home" if keeps else "work"), env=environment, stdin=subprocess.DEVNULL,
            stdout=more.pop("stdout", subprocess.PIPE), stderr=more.pop("stderr", subprocess.PIPE), start_new_session=True, **user.drop(), **more,
        )  # fmt: skip
        self._started.append(process)
        return process

    def tacho(self, *arguments: str, user: User | None = None, **more: Any) -> Done:
        """``tacho``, as the keeper if nobody else is named."""
        process = self.popen(interpreter()[0], "-m", "tachograph.cli.app", *arguments, user=user, keeps=user is None, **more)
        out, error = process.communicate(timeout=120)
        return Done(process.returncode, out, error)

    def recording(self, *arguments: str, options: Sequence[str] = (), user: User | None = None, **more: Any) -> subprocess.Popen[bytes]:
        """A running ``tacho record --host`` of the agent's user: of ``python ARGUMENTS``."""
        python = interpreter()[0]
        return self.popen(
            python, "-m", "tachograph.cli.app", "record", "--host", str(self.socket), *options, "--", python, *arguments, user=user, **more
        )

    def record(self, *arguments: str, **more: Any) -> Done:
        process = self.recording(*arguments, **more)
        out, error = process.communicate(timeout=120)
        return Done(process.returncode, out, error)

    def write(self, name: str, text: str) -> Path:
        """A file of the agent's user."""
        path = self.root / "work" / name
        path.write_text(text)
        if self.agent.uid is not None:
            os.chown(path, self.agent.uid, self.agent.uid)
        return path

    def sessions(self) -> list[dict[str, Any]]:
        found = self.tacho("ls", "--json").json()
        return list(found["sessions"] if isinstance(found, dict) else found)

    def session_hosts(self) -> list[int]:
        """The processes of the sessions that run."""
        assert self.process is not None
        return children(self.process.pid)

    def close(self) -> None:
        """End all that was started, and what that has started: an agent outlives its launcher, and a session its host."""
        for process in self._started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                if int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(entry.name))
    return found


def wait(condition: Any, what: str = "what was waited for did not happen") -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.01)


@contextlib.contextmanager
def world(*options: str, keeper: User = SAME, agent: User = SAME) -> Iterator[World]:
    """A running host. Not below pytest's folder, into which no other user can go."""
    interpreter()
    root = Path(tempfile.mkdtemp(prefix="tacho-test-", dir="/tmp"))  # a socket's path must be short
    made = World(keeper, agent, root, options=options)
    try:
        root.chmod(0o755)
        for name, user, mode in (("home", keeper, 0o700), ("run", keeper, 0o755), ("work", agent, 0o755)):
            (root / name).mkdir()
            (root / name).chmod(mode)
            if user.uid is not None:
                os.chown(root / name, user.uid, user.uid)
        made.start()
        yield made
    finally:
        made.close()
        shutil.rmtree(root, ignore_errors=True)

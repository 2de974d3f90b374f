"""Recording at a host that is another process, of another user as a rule: the launcher's side (``tacho record --host``).

    the launcher, as the agent's user ── unix socket ──► tacho host ── forks ──► the session's host, as the store's user
          └── runs ──► the command ── its client ── another unix socket ──────────────┘

The host has no rights on the agent's files, and must not use its own: git, run by the host in a folder that somebody else has prepared, would
run that one's programs. So the launcher looks, when it is asked to, and hands over what it sees (``docs/reference/client-protocol.md``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tachograph.client.frames import FrameError, Splitter, pack
from tachograph.core.errors import StoreError, UsageError
from tachograph.core.ports import Entropy

from . import launch, marking, record, surroundings
from .secrets import Given
from .surroundings import Surroundings
from .workspace import Mark

#: The version of what is said on this socket.
VERSION = 2
#: Seconds. A host answers within milliseconds; one that compiles or opens a slow store takes longer.
PATIENCE = 60.0


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A session to be. ``policy``: the name of one that the host has; None for its own. ``keys``: files of ours with keys in them."""

    where: str
    command: Sequence[str]
    environment: Mapping[str, str]
    entropy: Entropy
    name: str | None = None
    links: Sequence[str] = ()
    on_loss: str = "continue"
    id_file: str | None = None
    given: Given = field(default_factory=Given)
    policy: str | None = None
    vault: bool = False
    keys: Sequence[str] = ()


def record_there(asked: Asked) -> record.Recorded:
    """Run the command, recorded by the host at ``asked.where``. Raises before it runs when it cannot be recorded at all."""
    environment = record.with_hash_seed(asked.environment, asked.entropy)
    launch.executable(asked.command, environment)
    around = surroundings.here(avoid=tuple(asked.keys))
    calling = Calling(_connect(asked.where), around, asked.where)
    with calling.socket:
        found = calling.begin(request(asked, environment, around), asked.id_file)
        theirs = launch.client_environment(
            environment,
            socket=found["socket"],
            token=found["token"],
            mode="record",
            on_loss=asked.on_loss,
            session_id=str(found["session"]),
        )
        with marking.marked(around.repository.get("top"), str(found["session"]), str(found["socket"]), str(found["token"])):
            ended = launch.run(asked.command, theirs, calling, on_loss=asked.on_loss)
    return _outcome(asked, str(found["session"]), ended)


def request(asked: Asked, environment: Mapping[str, str], around: Surroundings) -> dict[str, Any]:
    """What the host is told of the session. The environment and the secret values stay in its memory."""
    return {
        "m": "session", "v": VERSION, "argv": list(asked.command), "env": dict(environment), "cwd": around.cwd, "umask": around.umask,
        "host": around.host, "repository": around.repository, "root": around.eyes.root, "name": asked.name, "links": list(asked.links),
        "on_loss": asked.on_loss, "given": list(asked.given.values), "policy": asked.policy, "vault": asked.vault,
    }  # fmt: skip


class Calling:
    """The line to the host (``launch.Control``). Whenever something comes over it, what is a question is answered."""

    def __init__(self, end: socket.socket, around: Surroundings, where: str) -> None:
        self.socket = end
        self._around = around
        self._where = where
        self._splitter = Splitter()
        self._marks: dict[str, Mark] = {}

    def begin(self, asked: dict[str, Any], id_file: str | None) -> dict[str, Any]:
        """Ask for the session; ``session``, ``socket`` and ``token``. Returns when the host has seen what it wants to see first."""
        self.socket.settimeout(PATIENCE)
        with contextlib.suppress(OSError):  # a host that refuses us does not read to the end
            self.socket.sendall(pack(asked))
        found: dict[str, Any] | None = None
        while True:
            header = self._next()
            if header["m"] == "refused":
                raise UsageError(f"the host at {self._where} records nothing: {header.get('why')}")
            if header["m"] == "session":
                found = header
                if id_file is not None:
                    record.write_id(id_file, str(header["session"]))
                self._send({"m": "go"})
            elif header["m"] == "ready" and found is not None:
                self.socket.settimeout(None)
                return found
            else:
                try:
                    self._answer(header)
                except (OSError, ValueError, KeyError, TypeError):
                    raise StoreError(
                        f"the host at {self._where} asks for what it has no business with, or hung up; its own log says why"
                    ) from None

    def fileno(self) -> int:
        return self.socket.fileno()

    def receive(self) -> bytes | None:
        said = b""
        try:
            data = self.socket.recv(1 << 20)
            if not data:
                return None
            self._splitter.feed(data)
            for header, _ in self._splitter.frames():
                if header["m"] == "said":
                    said += json.dumps(header["summary"]).encode() + b"\n"
                else:
                    self._answer(header)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return said

    def tell_exit(self, report: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._send({"m": "exit", **report})

    def over(self) -> None:
        return

    def _next(self) -> dict[str, Any]:
        try:
            while (raw := self._splitter.next_raw()) is None:
                data = self.socket.recv(1 << 18)
                if not data:
                    raise ConnectionResetError
                self._splitter.feed(data)
            header: dict[str, Any] = json.loads(raw[0])
            return header if "m" in header else {"m": None}
        except TimeoutError:
            raise StoreError(f"the host at {self._where} does not answer; is it overloaded, or is this another program's socket?") from None
        except (OSError, FrameError, ValueError, KeyError, TypeError):
            raise StoreError(f"the host at {self._where} hung up; its own log says why") from None

    def _send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        self.socket.sendall(pack(header, payload))

    def _answer(self, header: dict[str, Any]) -> None:
        """Look, with our rights, at what the host asks about. Only below the workspace that we named ourselves."""
        kind, eyes = header["m"], self._around.eyes
        if kind == "scan":
            self._tell_marks()
        elif kind == "read":
            seen = eyes.read(_inside(str(header["name"])), link=bool(header.get("link")))
            self._send({"m": "file", "link": seen.link, "why": seen.why, "data": seen.data is not None}, seen.data or b"")
        elif kind == "tracked":
            found = eyes.tracked(str(header["sha"]))
            self._send({"m": "tracked", "names": [sorted(names) for names in found] if found is not None else None})
        elif kind == "committed":
            text = eyes.committed(str(header["sha"]), _inside(str(header["name"])))
            self._send({"m": "text", "there": text is not None}, (text or "").encode("utf-8", "surrogateescape"))
        elif kind == "moves":
            self._send({"m": "moved", "moves": [dataclasses.asdict(move) for move in eyes.moves()]})
        elif kind == "packages":
            self._send({"m": "packages", "found": self._around.packages([str(path) for path in header["path"]])})

    def _tell_marks(self) -> None:
        found = self._around.eyes.scan()
        if found is None:
            self._send({"m": "marks", "changed": None})
            return
        changed = {name: dataclasses.astuple(mark) for name, mark in found.items() if self._marks.get(name) != mark}
        gone = [name for name in self._marks if name not in found]
        self._marks = found
        self._send({"m": "marks", "changed": changed, "gone": gone})


def _inside(name: str) -> str:
    """A path below the workspace. Raises ``ValueError`` for one that leads out of it."""
    if os.path.isabs(name) or "\0" in name or any(part in ("", ".", "..") for part in name.split("/")):
        raise ValueError("a path that leads out of the workspace")
    return name


def _connect(where: str) -> socket.socket:
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        end.connect(where)
    except (OSError, ValueError) as error:
        end.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"cannot reach the host at {where}, {reason}; start it with tacho host --listen, or correct --host or TACHO_HOST"
        ) from None
    return end


def _outcome(asked: Asked, session_id: str, ended: launch.Ended) -> record.Recorded:
    said = ended.host
    if said is None:
        why = f"the host at {asked.where} died; what it had on disk is safe, and it declares the rest as lost, when it starts again at the latest"
        return record.Recorded(session_id, ended, 0, {}, why)
    error = str(said["failure"]) if said.get("failure") is not None else None
    if error is not None:
        error += "; what was recorded until then is safe, the rest is declared as lost"
    elif said.get("stopped"):
        error = f"the host at {asked.where} was stopped; what was recorded until then is safe"
    elif said.get("dropped"):
        error = record.dropped(said)
    notices = [str(each) for each in said.get("notices", ())]
    return record.Recorded(
        session_id, ended, int(said.get("events", 0)), dict(said.get("calls", {})), error, int(said.get("waiting", 0)), notices
    )

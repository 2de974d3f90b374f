"""The launcher of a session, as the session's host sees it over their socket (``calling`` is the other end).

Nothing that it says is believed further than that it says it: names are checked to lie below the workspace, numbers to be numbers, and one
that says something else, or nothing for too long, is taken for blind from then on, which the log says.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable
from typing import Any

import msgspec

from tachograph.client.frames import FrameError, Splitter, pack

from .git_watch import Move
from .server import parse
from .workspace import MAX_FILES, Mark, Seen

#: Seconds that a launcher may take for one answer. Its whole process group may have been stopped (ctrl-Z) meanwhile.
PATIENCE = 60.0
#: Seconds, where we are to stop ourselves.
HURRY = 2.0
#: Seconds between two looks whether we are to stop.
LOOK = 0.2


class GoneError(Exception):
    """The launcher has hung up, or says nothing that can be understood."""


class Caller:
    """See ``record.Caller``. ``ask`` waits for an answer; how the command ended may come in between, and is kept."""

    def __init__(self, end: socket.socket, splitter: Splitter, stopping: Callable[[], bool] = lambda: False) -> None:
        self._end = end
        self._splitter = splitter
        self._stopping = stopping
        self._exit: dict[str, Any] | None = None
        end.settimeout(LOOK)

    @property
    def waiting(self) -> bool:
        return self._exit is not None

    def fileno(self) -> int:
        return self._end.fileno()

    def heard(self) -> dict[str, Any] | None:
        if self._exit is None:
            with contextlib.suppress(GoneError):
                self._receive()
                while (found := self._next()) is not None and self._exit is None:
                    self._keep(found[0])
        return self._exit

    def tell(self, summary: dict[str, Any]) -> None:
        with contextlib.suppress(GoneError):
            self.send({"m": "said", "summary": summary})
        self._end.close()

    def send(self, header: dict[str, Any]) -> None:
        try:
            self._end.settimeout(PATIENCE)
            self._end.sendall(pack(header))
        except OSError:
            self._lost()
            raise GoneError from None
        finally:
            self._end.settimeout(LOOK)

    def ask(self, header: dict[str, Any], answer: str) -> tuple[dict[str, Any], bytes]:
        """The answer: a message of that name. Raises ``GoneError``."""
        if self._exit is not None and self._exit.get("lost"):
            raise GoneError
        self.send(header)
        return self.wait(answer)

    def wait(self, answer: str) -> tuple[dict[str, Any], bytes]:
        began = time.monotonic()
        while True:
            while (found := self._next()) is None:
                if time.monotonic() - began > (HURRY if self._stopping() else PATIENCE):
                    raise GoneError
                self._receive()
            if found[0].get("m") == answer:
                return found
            self._keep(found[0])

    def _keep(self, header: dict[str, Any]) -> None:
        if header.get("m") != "exit":
            self._lost()
            raise GoneError
        code, signal, seconds = header.get("exit_code"), header.get("signal"), header.get("seconds")
        self._exit = {
            "exit_code": code if isinstance(code, int) else None,
            "signal": signal if isinstance(signal, int) else None,
            "seconds": float(seconds) if isinstance(seconds, (int, float)) else None,
        }

    def _next(self) -> tuple[dict[str, Any], bytes] | None:
        try:
            raw = self._splitter.next_raw()
            return None if raw is None else (parse(raw[0]), raw[1])
        except (FrameError, ValueError, RecursionError):
            self._lost()
            raise GoneError from None

    def _receive(self) -> None:
        try:
            data = self._end.recv(1 << 18)
        except TimeoutError:
            return
        except OSError:
            data = b""
        if not data:
            self._lost()
            raise GoneError
        self._splitter.feed(data)

    def _lost(self) -> None:
        if self._exit is None:
            self._exit = {"lost": True}


class Eyes:
    """The workspace through the launcher's eyes (``workspace.Eyes``)."""

    def __init__(self, caller: Caller, root: str | None) -> None:
        self.root = root
        self.lost: str | None = None
        self._caller = caller
        self._marks: dict[str, Mark] = {}

    def scan(self) -> dict[str, Mark] | None:
        found = self._ask({"m": "scan"}, "marks")
        if found is None or found[0].get("changed") is None:
            return None
        try:
            marks = dict(self._marks)
            for name in found[0].get("gone", []):
                marks.pop(_name(name), None)
            for name, numbers in found[0]["changed"].items():
                marks[_name(name)] = Mark(*(int(number) for number in numbers))
            if len(marks) > MAX_FILES:
                return None
        except (ValueError, TypeError, AttributeError):
            self._blind()
            return None
        self._marks = marks
        return dict(marks)

    def read(self, name: str, *, link: bool) -> Seen:
        found = self._ask({"m": "read", "name": name, "link": link}, "file")
        if found is None:
            return Seen(why="the launcher is gone")
        header, data = found
        target, why = header.get("link"), header.get("why")
        if link and isinstance(target, str):
            return Seen(link=target)
        if header.get("data") and not link:
            return Seen(data=data)
        return Seen(why=why if isinstance(why, str) else "not seen")

    def tracked(self, sha: str) -> tuple[set[str], set[str]] | None:
        found = self._ask({"m": "tracked", "sha": sha}, "tracked")
        if found is None or found[0].get("names") is None:
            return None
        try:
            tracked, differing = ({_name(name) for name in names} for names in found[0]["names"])
        except (ValueError, TypeError):
            self._blind()
            return None
        return tracked, differing

    def committed(self, sha: str, name: str) -> str | None:
        found = self._ask({"m": "committed", "sha": sha, "name": name}, "text")
        if found is None or not found[0].get("there"):
            return None
        return found[1].decode("utf-8", "surrogateescape")

    def moves(self) -> list[Move]:
        found = self._ask({"m": "moves"}, "moved")
        if found is None:
            return []
        try:
            return [msgspec.convert(fields, Move) for fields in found[0]["moves"]]
        except (msgspec.ValidationError, KeyError, TypeError):
            self._blind()
            return []

    def packages(self, path: list[str]) -> dict[str, str]:
        """What can be imported from these folders (``facts.packages``)."""
        found = self._ask({"m": "packages", "path": path}, "packages")
        said = found[0].get("found") if found is not None else None
        return {str(name): str(version) for name, version in said.items()} if isinstance(said, dict) else {}

    def _ask(self, header: dict[str, Any], answer: str) -> tuple[dict[str, Any], bytes] | None:
        if self.lost is not None:
            return None
        try:
            return self._caller.ask(header, answer)
        except GoneError:
            self._blind()
            return None

    def _blind(self) -> None:
        self.lost = "the launcher is gone"


def _name(name: Any) -> str:
    """A path below the workspace, as a replay may write it. Raises ``ValueError``."""
    if not isinstance(name, str) or not name or "\0" in name or any(part in ("", ".", "..") for part in name.split("/")):
        raise ValueError("no path below the workspace")
    return name

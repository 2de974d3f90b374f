"""The socket to the host: one a process, written under a lock, so the order of messages is the order in which things happened.

A message that ``send`` has returned for is in the kernel's buffer, and survives a ``kill -9`` of this process: the host drains the
socket to its end. Nothing is queued on our side. When the host falls behind, ``send`` blocks: back-pressure, never a drop.

In replay a reader thread hands the host's pieces to the calls that wait for them. It is started through ``_thread``: the agent's
``threading.enumerate()`` does not see it.
"""

from __future__ import annotations

import _thread
import itertools
import json
import os
import socket
import struct
import sys
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from . import holding
from .ahead import Ahead
from .frames import Splitter, pack
from .real import getpid, getppid

#: Room for bursts: a caller that hands over 2 KB must not wait for the host to encrypt it.
SEND_BUFFER = 8 << 20
#: Ambient reads go out with the next message, or when there are so many.
MAX_READS = 512


class HostLost(BaseException):
    """The host is gone and ``--on-host-loss stop`` was asked for. Not an ``Exception``: an agent's retry loop must not eat it."""


class Diverged(BaseException):
    """The replayed agent asked for something that its recording does not hold. Not an ``Exception``, for the same reason."""


class Link:
    """One connection. ``mode`` is ``record`` or ``replay``; ``lost`` turns true when the host is gone."""

    def __init__(self, path: str, hello: Dict[str, Any], on_loss: str) -> None:
        self.path = path
        self.on_loss = on_loss
        self.lost = False
        self.pid = getpid()
        self.lock = threading.Lock()
        self.ahead = Ahead()
        self._deliver: Dict[int, Callable[[Dict[str, Any], bytes], None]] = {}
        self._syncs: Dict[int, Any] = {}
        #: Recording: (lane, kind, site, value) of reads that the host has not been told yet (``ambient``).
        self.reads: List[Tuple[str, str, str, Any]] = []
        #: Replay: (kind, site) → how many reads had no recorded value, since the host was told last.
        self.missing: Dict[Tuple[str, str], int] = {}
        self._writer: Optional[int] = None
        self._count = itertools.count(1)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self.socket.connect(path)
        self.socket.sendall(pack(hello))
        self._splitter = Splitter()
        welcome, _ = self._receive()
        self.mode: str = welcome["mode"]
        self.session: str = welcome["session"]
        self.settings: Dict[str, Any] = welcome
        self._reading = False

    # -- sending ---------------------------------------------------------------------------------------------------------

    def send(self, frame: bytes) -> None:
        """Hand one frame over; returns when the kernel has it."""
        if self.lost:
            return self._on_lost()
        try:
            with self.lock:
                self._write(frame)
        except OSError:
            self.lose()
            self._on_lost()
        return None

    def _write(self, frame: bytes) -> None:
        """Under the lock: the frame, behind the reads that it may depend on."""
        self._writer = _thread.get_ident()
        try:
            if self.reads or self.missing:
                frame = self._ahead() + frame
            sent = self.socket.send(frame)
            if sent != len(frame):
                self.socket.sendall(frame[sent:])
        finally:
            self._writer = None

    def _ahead(self) -> bytes:
        reads, missing = self.reads, self.missing
        header: Dict[str, Any] = {"m": "ambient", "c": 0}
        count = len(reads)
        payload = b""
        if count:
            header["reads"], payload = grouped(reads[:count])
            del reads[:count]  # what another thread adds meanwhile stays
        if missing:
            self.missing = {}
            header["missing"] = [[kind, site, number] for (kind, site), number in list(missing.items())]
        return pack(header, payload)

    def flush(self) -> None:
        """Hand over the reads that wait. Never waits for the lock, which this very thread may hold (a signal handler, a finalizer)."""
        if self.lost:
            del self.reads[:]
            return
        if not self.lock.acquire(blocking=False):
            return
        try:
            if self.reads or self.missing:
                self._write(b"")
        except OSError:
            self.lost = True  # whoever sends next learns of it, and does what is to be done then
        finally:
            self.lock.release()

    def writing(self) -> bool:
        """Whether this very thread is in the middle of sending."""
        return self._writer == _thread.get_ident()

    def lose(self) -> None:
        """The host is gone: wake everybody who waits for it."""
        self.lost = True
        for deliver in list(self._deliver.values()):
            deliver({"m": "lost"}, b"")
        for waiting in list(self._syncs.values()):
            waiting.release()
        holding.go_on()

    def _on_lost(self) -> None:
        if self.on_loss == "stop" or self.mode == "replay":
            raise HostLost("the tachograph host is gone, and this session was to stop when it is")

    def next_call(self) -> int:
        """A number for a call, unique on this link."""
        return next(self._count)  # atomic in every Python that we ride in

    def sync(self, *, durable: bool = True) -> None:
        """Return when the host has dealt with everything sent so far; if ``durable``, when it is on the host's disk."""
        if self.lost:
            return self._on_lost()
        number = self.next_call()
        waiting = threading.Lock()
        waiting.acquire()
        self._syncs[number] = waiting
        self.start_reader()
        self.send(pack({"m": "sync", "n": number, "durable": durable}))
        if not self.lost:
            waiting.acquire()
        self._syncs.pop(number, None)
        self._check_lost()
        return None

    def values(self, lane: str) -> List[Any]:
        """Replay: ``[[kind, site, [value, …]], …]``, all recorded reads of a lane; waits for the host."""
        number = self.next_call()
        waiting = threading.Lock()
        waiting.acquire()
        found: List[Any] = []

        def deliver(header: Dict[str, Any], _: bytes) -> None:
            found.extend(header.get("reads") or ())
            waiting.release()

        self.expect(number, deliver)
        self.send(pack({"m": "values", "c": number, "lane": lane}))
        if not self.lost:
            waiting.acquire()
        self.forget(number)
        self._check_lost()
        return found

    def _check_lost(self) -> None:
        if self.lost:
            self._on_lost()

    # -- receiving -------------------------------------------------------------------------------------------------------

    def expect(self, call: int, deliver: Callable[[Dict[str, Any], bytes], None]) -> None:
        """Hand pieces for ``call`` to ``deliver`` (called on the reader thread)."""
        self._deliver[call] = deliver
        self.start_reader()

    def forget(self, call: int) -> None:
        self._deliver.pop(call, None)

    def start_reader(self) -> None:
        with self.lock:
            if self._reading or self.lost:
                return
            self._reading = True
        _thread.start_new_thread(self._read_forever, ())

    def _receive(self) -> Tuple[Dict[str, Any], bytes]:
        while True:
            raw = self._splitter.next_raw()
            if raw is not None:
                return json.loads(raw[0]), raw[1]
            data = self.socket.recv(1 << 18)
            if not data:
                raise ConnectionResetError("the tachograph host closed the connection")
            self._splitter.feed(data)

    def _read_forever(self) -> None:
        try:
            while True:
                header, payload = self._receive()
                if header["m"] == "synced":
                    waiting = self._syncs.get(header["n"])
                    if waiting is not None:
                        waiting.release()
                    continue
                if header["m"] == "ahead":
                    self.ahead.come(header, payload)
                    continue
                if header["m"] == "go":
                    holding.go_on()
                    continue
                deliver = self._deliver.get(header["c"])
                more, hold = header.get("more"), header.get("hold", 0)
                if more or hold or "apart" in header:
                    holding.gather(header.get("apart", 0))
                if deliver is not None:
                    deliver(header, payload)
                if not more:
                    holding.scatter(hold)
        except (OSError, ValueError, KeyError):
            self.lose()

    def close(self) -> None:
        """No more messages (``atexit``). The kernel delivers what was sent."""
        self.lost = True
        try:
            self.socket.shutdown(socket.SHUT_WR)
            self.socket.close()
        except OSError:
            return


def grouped(reads: Iterable[Tuple[str, str, str, Any]]) -> Tuple[List[Any], bytes]:
    """``[[lane, kind, site, [value, …]], …]``: order counts only among the reads of one lane, kind and site. Floats, which JSON is slow
    with, are doubles in the payload (little endian, one group after the other), and in place of the list stands their number."""
    groups: Dict[Tuple[str, str, str], List[Any]] = {}
    for lane, kind, site, value in reads:
        try:
            groups[lane, kind, site].append(value)
        except KeyError:
            groups[lane, kind, site] = [value]
    told: List[Any] = []
    doubles: List[float] = []
    for (lane, kind, site), values in groups.items():
        if type(values[0]) is float and kind.startswith(("clock.", "monotonic.")):
            doubles += values
            told.append([lane, kind, site, len(values)])
        else:
            told.append([lane, kind, site, values])
    return told, struct.pack("<%dd" % len(doubles), *doubles)


def hello(lane: str) -> Dict[str, Any]:
    """What a process says of itself when it connects."""
    return {
        "m": "hello",
        "v": 1,
        "pid": getpid(),
        "ppid": getppid(),
        "lane": lane,
        "python": "%d.%d.%d" % sys.version_info[:3],
        "implementation": sys.implementation.name,
        "executable": sys.executable,
        "argv": [str(a) for a in getattr(sys, "orig_argv", sys.argv)],
        "cwd": cwd(),
        "path": [p for p in sys.path if isinstance(p, str)],
        "token": os.environ.get("TACHO_TOKEN", ""),
    }


def cwd() -> str:
    """The current folder, or nothing where it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


_link: Optional[Link] = None


def get() -> Optional[Link]:
    """The process's link, or None where nothing is being recorded."""
    return _link


def connect(lane: str) -> Optional[Link]:
    """Connect to the host named in the environment. None when there is none, or when it is gone and that is to be borne."""
    global _link
    path = os.environ.get("TACHO_SOCKET")
    if not path:
        return None
    on_loss = os.environ.get("TACHO_ON_HOST_LOSS", "continue")
    try:
        _link = Link(path, hello(lane), on_loss)
    except (OSError, ValueError, KeyError):
        _link = None
        if on_loss == "stop" or os.environ.get("TACHO_MODE") == "replay":
            raise HostLost("cannot reach the tachograph host at its socket; nothing may run unrecorded") from None
    return _link

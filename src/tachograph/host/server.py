"""The host's loop: one thread, all clients, everything in the order in which it was sent.

Draining comes before working: what is in the kernel's buffers is read first, so that an agent waits for our encryption as late as
possible (a bound on memory then pushes back). What was read survives the agent's death; what the agent's kernel has accepted is read
to its end after it died.
"""

from __future__ import annotations

import collections
import contextlib
import os
import selectors
import socket
import struct
import time
from collections.abc import Callable
from typing import Any, Protocol

from tachograph.client.frames import FrameError, Splitter, pack
from tachograph.format import canonical

#: Read ahead at most this much before working it off; beyond it the sockets fill up and the agent waits.
READ_AHEAD = 256 << 20
#: Connections that have not said anything yet; the oldest makes room. And so many bytes may be what they say first.
SILENT = 512
HELLO = 16 << 20
#: Work at most this long before looking at the sockets again, seconds.
SLICE = 0.01
#: Ask whether it is done at least this often, seconds.
LOOK = 0.5


class Peer:
    """One connected process."""

    def __init__(self, sock: socket.socket, number: int, pid: int) -> None:
        self.socket = sock
        self.number = number
        self.pid = pid
        self.lane = "main"
        self.splitter = Splitter()
        self.greeted = False
        #: Has sent a whole frame, or never will.
        self.spoke = False
        #: Nothing more is read from it.
        self.dropped = False
        self.gone = False
        self._held: list[bytes] = []

    def hold(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """As ``send``, with the next ``flush``: an answer of three pieces wakes its reader once."""
        self._held.append(pack(header, payload))

    def flush(self) -> None:
        """Send what was held."""
        if self._held:
            held, self._held = b"".join(self._held), []
            self._write(held)

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """Blocking, since an answer is due; a peer that is gone is not our problem."""
        self.hold(header, payload)
        self.flush()

    def _write(self, data: bytes) -> None:
        if self.gone:
            return
        try:
            self.socket.setblocking(True)
            self.socket.sendall(data)
        except OSError:
            self.gone = True
        finally:
            if not self.gone:
                self.socket.setblocking(False)


class Driver(Protocol):
    """What happens with what clients say."""

    def hello(self, peer: Peer, header: dict[str, Any], /) -> dict[str, Any]:
        """The welcome for a new client."""
        ...

    def message(self, peer: Peer, header: dict[str, Any], payload: bytes) -> None: ...
    def left(self, peer: Peer) -> None: ...

    def idle(self, now: float) -> float | None:
        """Called after each slice of work; returns after how many seconds to call again at the latest."""
        ...


class Server:
    """Serves a unix socket in a private folder until ``stop`` says so."""

    def __init__(
        self, path: str, token: str, driver: Driver, *, coalesce: float = 0.0, user: int | None = None,
        visitor: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> None:  # fmt: skip
        """``coalesce``: wait this many seconds for more before reading, where nobody waits for an answer. ``user``: whose processes may
        connect, where it is another one than this process's. ``visitor``: the answer to who joins nothing and asks one question (a commit hook)."""
        self._driver = driver
        self._visitor = visitor
        self._coalesce = coalesce
        self._token = token
        self._selector = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        self._users = {os.getuid() if user is None else user}
        os.chmod(path, 0o600 if user is None else 0o666)  # the kernel says who connects, whatever the mode
        self._listener.listen(128)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._queue: collections.deque[tuple[Peer, bytes, bytes]] = collections.deque()
        self._queued = 0
        self._count = 0
        self.peers: list[Peer] = []

    def watch(self, file: Any, callback: Callable[[], None]) -> None:
        """Call back when ``file`` becomes readable."""
        self._selector.register(file, selectors.EVENT_READ, callback)

    def unwatch(self, file: Any) -> None:
        self._selector.unregister(file)

    def serve(self, done: Callable[[], bool]) -> None:
        """Until ``done()`` and nothing is queued."""
        while True:
            again = self._driver.idle(time.monotonic())
            if not self._queue and done():
                return
            timeout = 0.0 if self._queue else min(again, LOOK) if again is not None else LOOK
            if self._queued < READ_AHEAD:
                ready = self._selector.select(timeout)
                if ready and timeout and self._coalesce:
                    # A call is two messages: gather both, so that the second does not pay for waking us.
                    time.sleep(self._coalesce)
                for key, _ in ready:
                    if key.fileobj is self._listener:
                        self._accept()
                    elif isinstance(key.data, Peer):
                        self._read(key.data)
                    else:
                        key.data()
            self._work()

    def silent(self) -> bool:
        """Whether everything that clients have sent so far was dealt with, and none is about to connect."""
        if self._queue:
            return False
        return not any(key.fileobj is self._listener or isinstance(key.data, Peer) for key, _ in self._selector.select(0))

    def close(self) -> None:
        for peer in self.peers:
            peer.socket.close()
        self._listener.close()
        self._selector.close()

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:
            return
        pid, uid = _credentials(sock)
        if uid != -1 and uid not in self._users:
            sock.close()
            return
        self._make_room()
        sock.setblocking(False)
        self._count += 1
        peer = Peer(sock, self._count, pid)
        self.peers.append(peer)
        self._selector.register(sock, selectors.EVENT_READ, peer)

    def _read(self, peer: Peer) -> None:
        if peer.dropped:  # to make room, since it became readable
            return
        try:
            data = peer.socket.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(peer)
            return
        peer.splitter.feed(data)
        if not peer.greeted and not peer.spoke and peer.splitter.pending() > HELLO:
            self._drop(peer)
            return
        try:
            while (raw := peer.splitter.next_raw()) is not None:
                self._queue.append((peer, *raw))
                self._queued += len(raw[0]) + len(raw[1])
                peer.spoke = True
        except FrameError:
            self._drop(peer)

    def _make_room(self) -> None:
        """Strangers that connect and say nothing must not take the places of those who do."""
        silent = [peer for peer in self.peers if not peer.spoke]
        if len(silent) >= SILENT:
            self._drop(silent[0])

    def _drop(self, peer: Peer) -> None:
        peer.dropped = peer.spoke = True
        self._selector.unregister(peer.socket)
        # Its last messages may still be queued; it has left when they are dealt with.
        self._queue.append((peer, b"", b""))

    def _work(self) -> None:
        until = time.monotonic() + SLICE
        while self._queue:
            peer, head, payload = self._queue.popleft()
            self._queued -= len(head) + len(payload)
            if not head:
                peer.gone = True
                peer.socket.close()
                self.peers.remove(peer)
                if peer.greeted:
                    self._driver.left(peer)
            else:
                self._deal(peer, head, payload)
            if time.monotonic() > until:
                return

    def _deal(self, peer: Peer, head: bytes, payload: bytes) -> None:
        try:
            header = parse(head)
            if not peer.greeted and header.get("m") == "hello" and header.get("token") == self._token:
                peer.lane = str(header.get("lane", "main"))
                peer.pid = int(header.get("pid", peer.pid))
                peer.greeted = True
                peer.send(self._driver.hello(peer, header))
                return
            if not peer.greeted and header.get("m") == "visit" and header.get("token") == self._token and self._visitor is not None:
                peer.send(self._visitor(header))
                return
        except (ValueError, TypeError, RecursionError):
            header = {}
        if peer.greeted and header:
            self._driver.message(peer, header, payload)
        else:
            # Somebody without the token, or who speaks something else: nothing of theirs is believed. What else they said is read to its end.
            with contextlib.suppress(OSError):
                peer.socket.shutdown(socket.SHUT_RDWR)


def parse(head: bytes) -> dict[str, Any]:
    """A frame's header. Clients write ASCII JSON; lone surrogates and NaN are things that agents do produce."""
    header = canonical.loads(head)
    return header if isinstance(header, dict) else {}


def _credentials(sock: socket.socket) -> tuple[int, int]:
    if not hasattr(socket, "SO_PEERCRED"):
        return 0, -1
    pid, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid, uid

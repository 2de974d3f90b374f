"""A proxy on the loopback interface that stops at a chosen request, until the test lets it go on."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Literal


class SlowProxy:
    """``stop(what)``: the next request whose head holds ``what`` is not passed on (``before``), or is, and its answer is not (``after``).
    ``stopped`` is set then; ``go`` drops that connection and passes on what comes later."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.stopped, self._going = threading.Event(), threading.Event()
        self._what, self._where = b"", "before"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self, what: bytes, where: Literal["before", "after"]) -> None:
        self._where, self._what = where, what

    def go(self) -> None:
        self._what = b""
        self._going.set()

    def close(self) -> None:
        self.go()
        for each in [self._listener, *self._open]:
            with contextlib.suppress(OSError):
                each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                theirs, _ = self._listener.accept()
                ours = socket.create_connection(("127.0.0.1", self._target))
                self._open += [theirs, ours]
                held = threading.Event()
                threading.Thread(target=self._pass, args=(theirs, ours, held, True), daemon=True).start()
                threading.Thread(target=self._pass, args=(ours, theirs, held, False), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, held: threading.Event, asks: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                head = data.partition(b"\r\n")[0]
                if asks and self._what and head.startswith(b"PUT ") and self._what in head:
                    self._what = b""
                    held.set()
                    if self._where == "before":
                        self._wait()
                        break
                if not asks and held.is_set() and b" 100 " not in head:  # the server has done what it was asked for
                    self._wait()
                    break
                sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _wait(self) -> None:
        self.stopped.set()
        self._going.wait(120)

"""A loopback server that answers what a test says, and remembers what it was asked; and a clock that nobody has to wait for."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tachograph.core.signals import Budget

#: 2026-11-30T12:00:00Z.
NOON = 1_796_040_000_000


@dataclass
class Reply:
    """``body``: JSON, or bytes as they are."""

    body: Any = None
    code: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]


class Told:
    """``answer`` gives the reply to a request."""

    def __init__(self, answer: Callable[[Asked], Any]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.url = ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        return

    def do_GET(self) -> None:
        told: Told = self.server.told  # type: ignore[attr-defined]
        parts = urlsplit(self.path)
        asked = Asked(parts.path, parse_qs(parts.query), {name.lower(): value for name, value in self.headers.items()})
        told.asked.append(asked)
        reply = told.answer(asked)
        reply = reply if isinstance(reply, Reply) else Reply(reply)
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        with contextlib.suppress(ConnectionError):
            self.send_response(reply.code)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)


@contextlib.contextmanager
def serve(answer: Callable[[Asked], Any]) -> Iterator[Told]:
    """A server on a port of its own, as long as the block runs."""
    told = Told(answer)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.told = told  # type: ignore[attr-defined]
    server.daemon_threads = True
    told.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Hands:
    """A clock that only a pause moves on."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def unix_ms(self) -> int:
        return NOON

    def monotonic(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def budget(self, seconds: float = 60.0) -> Budget:
        return Budget(self, seconds, self.pause)

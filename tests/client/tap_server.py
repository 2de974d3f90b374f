"""A web server for the taps' tests, with every way in which an answer can come or fail to."""

from __future__ import annotations

import collections
import contextlib
import gzip
import hashlib
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BIG = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(40_000))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: TapServer

    def log_message(self, *args: Any) -> None:
        """Quiet."""

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _start(self, *headers: tuple[str, str]) -> None:
        self.send_response(200)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def handle_one_request(self) -> None:
        with contextlib.suppress(ConnectionError):
            super().handle_one_request()
            return
        self.close_connection = True

    def _any(self) -> None:
        sent = self._body()
        path = self.path.partition("?")[0]
        self.server.seen[self.path] += 1
        route = getattr(self, "at_" + path.strip("/").replace("/", "_").replace("-", "_"), None)
        if route is None:
            self._answer(404, b"no such thing")
        else:
            route(sent)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _any

    # -- answers ---------------------------------------------------------------------------------------------------------

    def at_json(self, sent: bytes) -> None:
        self._answer(200, b'{"answer": 42, "text": "gr\xc3\xbc\xc3\x9fe"}', Content_Type="application/json", X_Twice="one")

    def at_echo(self, sent: bytes) -> None:
        said = {"method": self.command, "length": len(sent), "sha": hashlib.sha256(sent).hexdigest()[:12], "path": self.path}
        said["framing"] = "chunked" if self.headers.get("Transfer-Encoding") else "length"
        self._answer(200, json.dumps(said).encode(), Content_Type="application/json")

    def at_count(self, sent: bytes) -> None:
        """Each time another answer to the same question."""
        self._answer(200, b"poll %d" % self.server.seen[self.path])

    def at_gzip(self, sent: bytes) -> None:
        body = gzip.compress(b"squeezed " * 500, mtime=0)
        self._answer(200, body, Content_Encoding="gzip", Content_Type="text/plain")

    def at_br(self, sent: bytes) -> None:
        self._answer(200, b"\x0b\x02\x80hello\x03", Content_Encoding="br")

    def at_gzip_chunked(self, sent: bytes) -> None:
        self._start(("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"))
        body = gzip.compress(b"".join(b"line %d\n" % n for n in range(3000)), mtime=0)
        for at in range(0, len(body), 1000):
            self._chunk(body[at : at + 1000])
        self._chunk(b"")

    def at_gzip_empty_head(self, sent: bytes) -> None:
        self._answer(200, b"", Content_Encoding="gzip")

    def at_nothing(self, sent: bytes) -> None:
        self.send_response(204)
        self.end_headers()

    def at_unchanged(self, sent: bytes) -> None:
        self.send_response(304)
        self.send_header("ETag", '"x"')
        self.end_headers()

    def at_big(self, sent: bytes) -> None:
        self._answer(200, BIG, Content_Type="application/octet-stream")

    def at_big_chunked(self, sent: bytes) -> None:
        self._start(("Transfer-Encoding", "chunked"))
        for at in range(0, len(BIG), 100_000):
            self._chunk(BIG[at : at + 100_000])
        self._chunk(b"")

    def at_until_close(self, sent: bytes) -> None:
        self._start(("Connection", "close"))
        self.wfile.write(b"as long " * 1000 + b"as it takes")
        self.close_connection = True

    def at_stream(self, sent: bytes) -> None:
        self._start(("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked"))
        for number in range(5):
            self._chunk(b"data: event %d\n\n" % number)
            time.sleep(0.01)
        self._chunk(b"")

    def at_gated(self, sent: bytes) -> None:
        """The rest comes only when somebody has heard the beginning."""
        self._start(("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked"))
        self._chunk(b"data: first\n\n")
        heard = self.server.gate.wait(10)
        self._chunk(b"data: heard\n\n" if heard else b"data: nobody listens\n\n")
        self._chunk(b"")

    def at_limited(self, sent: bytes) -> None:
        if self.server.seen[self.path] == 1:
            self._answer(429, b"slow down", Retry_After="0")
        else:
            self._answer(200, b"now")

    def at_redirect(self, sent: bytes) -> None:
        self._answer(302, b"over there", Location="/json", Set_Cookie="crumb=1; Path=/")

    def at_repeat(self, sent: bytes) -> None:
        self._answer(307, b"again", Location="/echo")

    # -- failures --------------------------------------------------------------------------------------------------------

    def at_cut_length(self, sent: bytes) -> None:
        self._start(("Content-Length", "100"))
        self.wfile.write(b"x" * 40)
        self.close_connection = True

    def at_cut_chunked(self, sent: bytes) -> None:
        self._start(("Transfer-Encoding", "chunked"))
        self._chunk(b"whole")
        self.wfile.write(b"20\r\npart")
        self.close_connection = True

    def at_cut_between(self, sent: bytes) -> None:
        self._start(("Transfer-Encoding", "chunked"))
        self._chunk(b"whole")
        self.close_connection = True

    def at_reset(self, sent: bytes) -> None:
        self._start(("Content-Length", "100"))
        self.wfile.write(b"x" * 40)
        self._reset()

    def at_silence(self, sent: bytes) -> None:
        self.close_connection = True

    def at_slow_head(self, sent: bytes) -> None:
        self.server.hold.wait(10)
        self.close_connection = True

    def at_slow_body(self, sent: bytes) -> None:
        self._start(("Content-Length", "100"))
        self.wfile.write(b"y" * 40)
        self.server.hold.wait(10)
        self.close_connection = True

    def at_slow_chunked(self, sent: bytes) -> None:
        self._start(("Transfer-Encoding", "chunked"))
        self._chunk(b"soon")
        self.server.hold.wait(10)
        self.close_connection = True

    def _reset(self) -> None:
        self.wfile.flush()
        time.sleep(0.05)  # let the client have what was sent before: a reset may overtake it
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True


class TapServer(ThreadingHTTPServer):
    """``gate``: lets ``/gated`` go on; ``hold``: ends what is slow."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, handler: type[BaseHTTPRequestHandler] = Handler) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.gate = threading.Event()
        self.hold = threading.Event()
        self.seen: collections.Counter[str] = collections.Counter()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler] = Handler) -> Iterator[TapServer]:
    """A server on a thread; afterwards nothing listens on its port."""
    server = TapServer(handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.hold.set()
        server.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()


def refused_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])

"""The server that the tiny agents of ``tests/programs`` talk to. Loopback only; everything it says follows from the request and from a
counter.

    /json                    a small object                 /echo        the body (or the query), as it came
    /slow?ms=&n=             {"n": n} after ms               /counter     1, 2, 3, …
    /stream?n=               n chunks                        /drop?after= breaks off after that many chunks
    /status?code=            that status, empty              /flaky?fail= 429 that many times, then an object
    /redirect?times=         to itself, fewer times          /gzip /deflate /binary /length
    /anthropic/…  /bedrock/…  /flaky-openai/…                a model server behind
"""

from __future__ import annotations

import collections
import gzip
import hashlib
import json
import socket
import threading
import time
import urllib.error
import urllib.request
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *args: Any) -> None:
        return

    def do_GET(self) -> None:
        self.answer(b"")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.answer(body)

    def answer(self, body: bytes) -> None:
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        name = parts.path.strip("/").split("/")[0].replace("-", "_")
        if name in ("anthropic", "bedrock"):
            self.forward(parts.path[len(name) + 1 :], body)
            return
        getattr(self, "on_" + name)(query, body)

    def send(self, data: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        if status not in (204, 304):
            self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD" and status not in (204, 304):
            self.wfile.write(data)

    def on_json(self, query: Any, body: bytes) -> None:
        self.send(json.dumps({"hello": "wörld", "list": [1, 2.5, None]}).encode())

    def on_echo(self, query: Any, body: bytes) -> None:
        self.send(body or json.dumps(query).encode(), kind=self.headers.get("content-type", "text/plain"))

    def on_length(self, query: Any, body: bytes) -> None:
        self.send(b"{}")

    def on_slow(self, query: Any, body: bytes) -> None:
        time.sleep(int(query.get("ms", 0)) / 1000)
        self.send(json.dumps({"n": int(query.get("n", 0))}).encode())

    def on_counter(self, query: Any, body: bytes) -> None:
        self.send(json.dumps({"count": self.server.count("counter")}).encode())

    def on_binary(self, query: Any, body: bytes) -> None:
        self.send(hashlib.shake_256(b"binary").digest(50_000), kind="application/octet-stream")

    def on_gzip(self, query: Any, body: bytes) -> None:
        self.send(gzip.compress(b'{"packed": "gzip"}', mtime=0), content_encoding="gzip")

    def on_deflate(self, query: Any, body: bytes) -> None:
        self.send(zlib.compress(b'{"packed": "deflate"}'), content_encoding="deflate")

    def on_status(self, query: Any, body: bytes) -> None:
        self.send(b"", int(query["code"]))

    def on_flaky(self, query: Any, body: bytes) -> None:
        if self.server.count(self.path) <= int(query["fail"]):
            self.send(b'{"error": "slow down"}', 429, retry_after="0")
        else:
            self.send(b'{"at": "last"}')

    def on_flaky_openai(self, query: Any, body: bytes) -> None:
        if self.server.count("openai") <= 1:
            self.send(b'{"error": {"message": "slow down", "type": "rate_limit"}}', 429, retry_after_ms="10")
            return
        message = {"role": "assistant", "content": "at last"}
        self.send(json.dumps({
            "id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }).encode())  # fmt: skip

    def on_redirect(self, query: Any, body: bytes) -> None:
        left = int(query["times"])
        self.send(b"", 302, location=f"/redirect?times={left - 1}" if left > 1 else "/json")

    def on_stream(self, query: Any, body: bytes) -> None:
        self.chunks(int(query["n"]), None)

    def on_drop(self, query: Any, body: bytes) -> None:
        self.chunks(100, int(query["after"]))

    def chunks(self, count: int, drop_after: int | None) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number in range(count):
            if number == drop_after:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            data = b"chunk %d\n" % number
            try:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
            except OSError:
                return
            time.sleep(0.02)
        self.wfile.write(b"0\r\n\r\n")

    def forward(self, path: str, body: bytes) -> None:
        request = urllib.request.Request(self.server.model_url + path, data=body, method=self.command)
        for key in ("content-type", "accept", "anthropic-version", "x-api-key"):
            if key in self.headers:
                request.add_header(key, self.headers[key])
        try:
            with urllib.request.urlopen(request) as answer:
                data, status, kind = answer.read(), answer.status, answer.headers["content-type"]
        except urllib.error.HTTPError as error:
            data, status, kind = error.read(), error.code, error.headers["content-type"]
        self.send(data, status, kind)


class Server(ThreadingHTTPServer):
    """``with Server() as server: server.url``."""

    daemon_threads = True
    model_url = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self._counts: collections.Counter[str] = collections.Counter()
        self._lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def count(self, what: str) -> int:
        with self._lock:
            self._counts[what] += 1
            return self._counts[what]

    def handle_error(self, *args: Any) -> None:
        return

    def __enter__(self) -> Server:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args: Any) -> None:
        self.shutdown()
        self.server_close()

"""The server: HTTP/1.1 on 127.0.0.1, a thread per connection, keep-alive, a stream's events each in a chunk of its own.

A client that goes away in the middle of an answer is no error here: agents are killed, and streams are closed early.
"""

from __future__ import annotations

import gzip
import json
import socket
import sys
import threading
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import TYPE_CHECKING, Any, Self, cast

from tachograph.testing.model_server.anthropic import Anthropic
from tachograph.testing.model_server.bedrock import ApplyGuardrail, Bedrock
from tachograph.testing.model_server.cloudwatch import CloudWatch
from tachograph.testing.model_server.openai_chat import OpenAIChat
from tachograph.testing.model_server.openai_responses import OpenAIResponses
from tachograph.testing.model_server.script import ScriptError
from tachograph.testing.model_server.wire import Ask, Names, RefusedError, Reply, Request

if TYPE_CHECKING:
    from types import TracebackType

    from tachograph.testing.model_server.script import Fault, Script, Turn
    from tachograph.testing.model_server.wire import Dialect, Service

_SERVICES: tuple[Service, ...] = (CloudWatch(), ApplyGuardrail())
_DIALECTS: tuple[Dialect, ...] = (Anthropic(), OpenAIChat(), OpenAIResponses(), Bedrock())
#: Bytes; the providers refuse more than 32 MB.
_MAX_BODY = 32 * 1024 * 1024
#: Seconds between the looks for a request to stop; only ``close`` waits for it.
_POLL = 0.05


class ModelServer:
    """``url`` is the base URL; ``requests`` are those received so far, retries included, in order of arrival.

    ``compress``: gzip for those who accept it, streams as well.
    """

    def __init__(self, script: Script, *, port: int = 0, compress: bool = False) -> None:
        self.script = script
        self.compress = compress
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._attempts: Counter[int] = Counter()
        self._draws: Counter[int] = Counter()
        self._seen: Counter[str] = Counter()
        self._listener = _Listener(("127.0.0.1", port), self)
        self._thread = threading.Thread(
            target=self._listener.serve_forever, kwargs={"poll_interval": _POLL}, name="model-server", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.server_address[1]}"

    def close(self) -> None:
        """Stops listening and breaks the connections that are still open. May be called twice."""
        if self.closing.is_set():
            return
        self.closing.set()
        self._listener.shutdown()
        self._listener.server_close()
        self._listener.break_connections()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def respond(self, request: Request) -> Delivery:
        """Takes a request down and decides what to send."""
        with self._lock:
            self.requests.append(request)
        for service in _SERVICES:
            if service.mine(request):
                names = self._names(f"{request.path}\n{request.headers.get('x-amz-target', '')}")
                try:
                    return Delivery(service.answer(request, self.script, names))
                except RefusedError as refusal:
                    return Delivery(service.refuse(refusal.status, str(refusal), names))
        for dialect in _DIALECTS:
            if dialect.mine(request):
                return self._converse(dialect, request)
        message = f"no model API has the path {request.method} {request.path}"
        return Delivery(OpenAIChat().refuse(404, message, self._names(request.path)))

    def _converse(self, dialect: Dialect, request: Request) -> Delivery:
        try:
            ask = dialect.read(request)
            if isinstance(ask, Reply):
                return Delivery(ask)
            index = self.script.choose(ask.heard, ask.spoken, f"{request.path}\n{_compact(request.body)}")
        except (RefusedError, ScriptError) as refusal:
            status = refusal.status if isinstance(refusal, RefusedError) else 400
            return Delivery(dialect.refuse(status, str(refusal), self._names(request.path)))
        # Not the whole request: test timings and the like in a prompt must not change the ids from run to run.
        names = self._names(f"{ask.operation}\n{ask.model}\n{ask.opening}\n{ask.spoken}\n{index}")
        turn = self._drawn(index, self.script.turns[index], request.body)
        fault = self._fault(index, turn, ask)
        if isinstance(fault, int):
            return Delivery(_failed(dialect, fault, turn, names), first_delay_ms=turn.first_delay_ms)
        reply = dialect.answer(ask, turn, names)
        if fault == "error":
            reply = replace(reply, chunks=[*reply.chunks[: turn.error_after], reply.error_event])
        return Delivery(
            reply,
            first_delay_ms=turn.first_delay_ms,
            delay_ms=turn.delay_ms,
            drop_after=turn.drop_after if fault == "drop" else None,
        )

    def _drawn(self, index: int, turn: Turn, body: Any) -> Turn:
        if not turn.draws or _temperature(body) == 0:
            return turn
        with self._lock:
            number = self._draws[index]
            self._draws[index] += 1
        return cast("Turn", turn.draws[number % len(turn.draws)])

    def _fault(self, index: int, turn: Turn, ask: Ask) -> Fault | None:
        faults = [fault for fault in turn.faults if ask.stream or fault != "error"]
        with self._lock:
            attempt = self._attempts[index]
            self._attempts[index] += 1
        return faults[attempt] if attempt < len(faults) else None

    def _names(self, seed: str) -> Names:
        # As from the real thing, no two answers have the same id, not even to equal requests.
        with self._lock:
            self._seen[seed] += 1
            return Names(f"{seed}\n{self._seen[seed]}")


def _compact(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")) if not isinstance(body, bytes) else ""


def _temperature(body: Any) -> Any:
    if not isinstance(body, dict):
        return None
    config = body.get("inferenceConfig")
    return config.get("temperature") if isinstance(config, dict) else body.get("temperature")


@dataclass(frozen=True)
class Delivery:
    """A reply and how it is sent: milliseconds, and the number of chunks after which the connection breaks."""

    reply: Reply
    first_delay_ms: int = 0
    delay_ms: int = 0
    drop_after: int | None = None


def _failed(dialect: Dialect, status: int, turn: Turn, names: Names) -> Reply:
    messages = {429: "Too many requests, please wait before trying again.", 529: "Overloaded"}
    reply = dialect.refuse(status, messages.get(status, "Internal server error"), names)
    if turn.retry_after_ms is None:
        return reply
    seconds = (turn.retry_after_ms + 999) // 1000
    retry = [("retry-after-ms", str(turn.retry_after_ms)), ("retry-after", str(seconds))]
    return replace(reply, headers=[*reply.headers, *retry])


class _Listener(ThreadingMixIn, TCPServer):
    # Not http.server.HTTPServer: that one looks its own name up in the DNS.
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], owner: ModelServer) -> None:
        self.owner = owner
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(address, _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        with self._open_lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        with self._open_lock:
            self._open.discard(cast("socket.socket", request))
        super().shutdown_request(request)

    def break_connections(self) -> None:
        with self._open_lock:
            for connection in self._open:
                _break(connection)

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _break(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the other side was quicker


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "tachograph-model-server"
    sys_version = ""
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        owner = cast("_Listener", self.server).owner
        length = self.headers.get("content-length", "")
        if not length.isascii() or not length.isdigit():
            self.send_error(411, "A request body needs a Content-Length")
            return
        if int(length) > _MAX_BODY:
            self.close_connection = True
            self.send_error(413)
            return
        raw = self.rfile.read(int(length))
        if len(raw) < int(length):
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        delivery = owner.respond(Request(self.command, self.path, headers, _body(raw)))
        accepts = "gzip" in headers.get("accept-encoding", "")
        self._send(delivery, owner, compress=owner.compress and accepts)

    def do_GET(self) -> None:
        owner = cast("_Listener", self.server).owner
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(owner.respond(Request(self.command, self.path, headers, None)), owner, compress=False)

    def _send(self, delivery: Delivery, owner: ModelServer, *, compress: bool) -> None:
        reply = delivery.reply
        self._wait(delivery.first_delay_ms, owner)
        if delivery.drop_after == 0 and not reply.streamed:
            self._drop()
            return
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        if compress:
            self.send_header("content-encoding", "gzip")
        if reply.streamed:
            self._send_stream(delivery, owner, compress=compress)
            return
        body = b"".join(reply.chunks)
        if compress:
            body = gzip.compress(body, mtime=0)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if delivery.drop_after is not None:
            self.wfile.write(body[: len(body) // 2])
            self._drop()
            return
        self.wfile.write(body)

    def _send_stream(self, delivery: Delivery, owner: ModelServer, *, compress: bool) -> None:
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        packer = zlib.compressobj(wbits=31) if compress else None
        for n, chunk in enumerate(delivery.reply.chunks):
            if n == delivery.drop_after:
                self._drop()
                return
            if n:
                self._wait(delivery.delay_ms, owner)
            self._send_chunk(packer.compress(chunk) + packer.flush(zlib.Z_SYNC_FLUSH) if packer else chunk)
        if delivery.drop_after is not None:
            self._drop()
            return
        if packer:
            self._send_chunk(packer.flush())
        self.wfile.write(b"0\r\n\r\n")

    def _send_chunk(self, chunk: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))

    def _wait(self, milliseconds: int, owner: ModelServer) -> None:
        if milliseconds and owner.closing.wait(milliseconds / 1000):
            raise ConnectionAbortedError("the model server is closing")

    def _drop(self) -> None:
        self.close_connection = True
        _break(self.connection)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Nothing: ``ModelServer.requests`` is the log."""


def _body(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw

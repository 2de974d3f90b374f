"""The aiohttp client, 3.10 and later: one ``connect`` by the connector with what is sent and received over that connection is one
attempt. Redirects and aiohttp's own second try on a dead connection are attempts of their own. Websockets are left alone.

The tap sits on three methods that every attempt passes through: ``BaseConnector.connect``, ``ClientRequest.send`` and
``ClientResponse.start``; sessions, middlewares, cookies and trace hooks stay aiohttp's. In a replay ``connect`` gives a genuine
``Connection`` whose transport goes nowhere; the recorded head is put into its protocol as if it had been parsed, and the body is a
``StreamReader`` that takes each recorded piece when somebody reads.

aiohttp undoes the content encoding before anybody can look, so what is told is the decoded body, read by read, and the head leaves
``Content-Encoding`` out; ``undone`` holds it, and a replay shows it to the agent again.
"""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType
from typing import Any, Callable, List

from .. import effects, lanes, link
from .aiohttp_parts import About, Parts
from .patching import wrap
from .raising import describe

_CALL = "_tacho_call"
_HEAD = "_tacho_head"


def install(module: ModuleType) -> None:
    """Wrap connector, request and response."""
    modules = sys.modules
    parts = Parts(modules)
    wrap(modules["aiohttp.connector"].BaseConnector, "connect", lambda original: _connect(original, parts))
    wrap(modules["aiohttp.client_proto"].ResponseHandler, "set_response_params", _notice_decoding)
    wrap(modules["aiohttp.client_reqrep"].ClientRequest, "send", _send)
    wrap(modules["aiohttp.client_reqrep"].ClientResponse, "start", lambda original: _start(original, parts))


def _listening(req: Any) -> bool:
    return link.get() is not None and not lanes.current().real and req.headers.get("Upgrade", "").lower() != "websocket"


def _state(error: BaseException) -> str:
    return effects.CANCELLED if isinstance(error, asyncio.CancelledError) else "failed"


# -- an attempt ----------------------------------------------------------------------------------------------------------


def _connect(original: Callable[..., Any], parts: "Parts") -> Callable[..., Any]:
    async def connect(self: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
        if not _listening(req):
            return await original(self, req, *args, **kwargs)
        content = await _freeze(req, parts)
        headers = [[str(name), str(value)] for name, value in req.headers.items()]
        if req.compress:  # which happens on the way out
            headers = [pair for pair in headers if pair[0].lower() != "content-encoding"]
        call = effects.begin("http", req.method, {"method": req.method, "url": str(req.url), "headers": headers}, content)
        if call.replayed:
            return await _from_tape(call, self, req, parts)
        try:
            with call.real():
                conn = await original(self, req, *args, **kwargs)
        except BaseException as error:
            call.tell_fail({**describe(error), "connecting": True}, _state(error))
            raise
        conn.__dict__[_CALL] = call
        return conn

    return connect


async def _from_tape(call: effects.Call, connector: Any, req: Any, parts: "Parts") -> Any:
    piece = await call.ahead()
    if piece["m"] == "fail" and piece["error"].get("connecting"):
        raise parts.failure(piece["error"], About(req))
    loop = asyncio.get_running_loop()
    protocol = parts.Handler(loop)
    protocol.connection_made(parts.Transport())
    protocol.force_close()  # it must never get into the pool
    conn = parts.Connection(connector, req.connection_key, protocol, loop)
    conn.__dict__[_CALL] = call
    conn.__dict__[_HEAD] = (piece, About(req))
    if piece["m"] == "head":
        parts.put(protocol, call, piece["head"], req)
    return conn


def _send(original: Callable[..., Any]) -> Callable[..., Any]:
    async def send(self: Any, conn: Any) -> Any:
        call = conn.__dict__.get(_CALL)
        if call is None:
            return await original(self, conn)
        try:
            with call.real():  # the task that writes the body belongs to the call
                return await original(self, conn)
        except BaseException as error:
            call.tell_fail(describe(error), _state(error))
            raise

    return send


def _start(original: Callable[..., Any], parts: "Parts") -> Callable[..., Any]:
    async def start(self: Any, connection: Any) -> Any:
        call = connection.__dict__.pop(_CALL, None)
        recorded, about = connection.__dict__.pop(_HEAD, (None, None))
        if recorded is not None:
            if recorded["m"] == "fail":
                self._connection, self._closed = connection, False
                raise parts.failure(recorded["error"], about)
            return await original(self, connection)
        if call is None:
            return await original(self, connection)
        decodes = getattr(connection.protocol, _DECODES, True)
        try:
            with call.real():
                answer = await original(self, connection)
        except BaseException as error:
            call.tell_fail(describe(error), _state(error))
            raise
        call.tell_head(parts.head(self, decodes))
        if isinstance(self.content, parts.EmptyReader):
            call.tell_end(effects.EOF)
        else:
            self.content = parts.TeeReader(self.content, call)
        return answer

    return start


_DECODES = "_tacho_decodes"


def _notice_decoding(original: Callable[..., Any]) -> Callable[..., Any]:
    def set_response_params(self: Any, **kwargs: Any) -> None:
        setattr(self, _DECODES, kwargs.get("auto_decompress", True))
        original(self, **kwargs)

    return set_response_params


# -- the request's body --------------------------------------------------------------------------------------------------


class _Collector:
    """A writer that keeps what it is given. Everything a payload may ask of a writer and that has no meaning here does nothing."""

    def __init__(self) -> None:
        self.parts: List[bytes] = []

    async def write(self, chunk: Any, *_: Any, **__: Any) -> None:
        self.parts.append(bytes(chunk))

    async def write_eof(self, chunk: Any = b"") -> None:
        self.parts.append(bytes(chunk))

    async def drain(self) -> None:
        """Nothing is behind."""

    async def write_headers(self, *_: Any) -> None:
        """A part's headers are written as data."""

    def enable_compression(self, *_: Any, **__: Any) -> None:
        """A part's compression is done by its payload writer."""

    def enable_chunking(self) -> None:
        """The body is asked for, not its framing."""


async def _freeze(req: Any, parts: "Parts") -> bytes:
    """The body's bytes. A body that can be read once is replaced by what it gave, and fails where it failed."""
    body = req.body
    if not body:
        return b""
    if isinstance(body, (bytes, bytearray)):
        return bytes(body)
    if isinstance(body, parts.Frozen):
        return bytes(body.data)
    if isinstance(body, parts.BytesPayload):
        return bytes(body._value)
    collector, failure = _Collector(), None
    try:
        await body.write(collector)
    except Exception as error:
        failure = error
    data = b"".join(collector.parts)
    frozen = parts.Frozen(body, data, failure)
    if hasattr(type(req), "_body"):
        req._body = frozen
    else:
        req.body = frozen
    return data

"""What the aiohttp tap makes of aiohttp's own classes: a reader that tells, a reader that plays, a body that was read, a connection that
goes nowhere. They are subclasses, so they are made when aiohttp is there.
"""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import effects
from .raising import describe, rebuild


class Parts:
    """Subclasses of aiohttp's classes, made when aiohttp is there."""

    def __init__(self, modules: Any) -> None:
        streams, payload = modules["aiohttp.streams"], modules["aiohttp.payload"]
        self.Connection = modules["aiohttp.connector"].Connection
        self.BytesPayload = payload.BytesPayload
        self.EmptyReader = streams.EmptyStreamReader
        self._empty = streams.EMPTY_PAYLOAD
        self._fallback = modules["aiohttp.client_exceptions"].ClientError
        self._zstd = getattr(modules["aiohttp.http_parser"], "HAS_ZSTD", False)
        self._message = modules["aiohttp.http_parser"].RawResponseMessage
        self._http = modules["aiohttp.http_writer"].HttpVersion
        self._multidict = modules["multidict"]
        self.Frozen = _frozen_payload(payload.Payload)
        self.TeeReader = _tee_reader(streams.StreamReader)
        self._TapeReader = _tape_reader(streams.StreamReader)
        self.Handler = _tape_handler(modules["aiohttp.client_proto"].ResponseHandler)
        self.Transport = _NoTransport

    def failure(self, error: Dict[str, Any], about: "About") -> BaseException:
        """What was raised, with what is no data and therefore not in the record."""
        made = rebuild(error, self._fallback)
        state: Dict[str, Any] = made.__dict__
        if "_os_error" in state:
            state["_conn_key"] = about.connection_key
            made.args = (about.connection_key, state["_os_error"])
        if hasattr(type(made), "code") and "status" in state:
            state["request_info"] = about.request_info
            state.setdefault("history", ())
            made.args = (about.request_info, state["history"])
        return made

    def head(self, response: Any, decodes: bool) -> Dict[str, Any]:
        """A started response's head."""
        headers, undone = [], []
        known = ("gzip", "deflate", "br") + (("zstd",) if self._zstd else ())
        for place, (name, value) in enumerate((k.decode("latin-1"), v.decode("latin-1")) for k, v in response.raw_headers):
            if decodes and name.lower() == "content-encoding" and value.lower() in known:
                undone.append([place, name, value])
            else:
                headers.append([name, value])
        head = {
            "status": response.status,
            "reason_phrase": response.reason,
            "http_version": "HTTP/%d.%d" % tuple(response.version or (1, 1)),
            "headers": headers,
        }
        return {**head, "undone": undone} if undone else head

    def put(self, protocol: Any, call: effects.Call, head: Dict[str, Any], req: Any) -> None:
        """Put a recorded answer where the parser would have put it."""
        if req._continue is not None:
            protocol.feed_data((self._head({"status": 100, "headers": []}), self._empty), 0)
        loop = asyncio.get_running_loop()
        bare = req.method == "HEAD" or head["status"] in (204, 304) or 100 <= head["status"] < 200
        if bare or any(name.lower() == "content-length" and value.strip() == "0" for name, value in head["headers"]):
            payload = self._empty
        else:
            about = About(req)
            payload = self._TapeReader(call, lambda error: self.failure(error, about), req._timer, loop)
        protocol.feed_data((self._head(head), payload), 0)

    def _head(self, head: Dict[str, Any]) -> Any:
        pairs = [(str(name), str(value)) for name, value in head["headers"]]
        for place, name, value in head.get("undone", []):
            pairs.insert(place, (name, value))
        raw = tuple((name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in pairs)
        headers = self._multidict.CIMultiDict((k.decode("utf-8", "surrogateescape"), v.decode("utf-8", "surrogateescape")) for k, v in raw)
        version = self._http(1, 0) if head.get("http_version") == "HTTP/1.0" else self._http(1, 1)
        chunked = "chunked" in headers.get("Transfer-Encoding", "").lower()
        proxy = self._multidict.CIMultiDictProxy(headers)
        return self._message(version, head["status"], head.get("reason_phrase") or "", proxy, raw, True, None, False, chunked)


class About:
    """What an exception says of its request. Not the request itself, which holds on to its answer."""

    def __init__(self, req: Any) -> None:
        self.connection_key = req.connection_key
        self.request_info = req.request_info


class _NoTransport(asyncio.Transport):
    """Goes nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self._closing = False

    def write(self, data: Any) -> None:
        """It was sent when it was recorded."""

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True

    def abort(self) -> None:
        self._closing = True

    def pause_reading(self) -> None:
        """Nothing is coming."""

    def resume_reading(self) -> None:
        """Nothing is coming."""

    def get_write_buffer_size(self) -> int:
        return 0


def _frozen_payload(base: Any) -> Any:
    class Frozen(base):  # type: ignore[misc]
        """A body that was read, to be sent as often as it takes. Otherwise it is like the payload that it stands for."""

        def __init__(self, payload: Any, data: bytes, failure: Optional[Exception]) -> None:
            self._payload, self.data, self._failure_ = payload, data, failure

        def __getattribute__(self, name: str) -> Any:
            if name in _FROZEN:
                return object.__getattribute__(self, name)
            return getattr(object.__getattribute__(self, "_payload"), name)

        def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
            return self.data.decode(encoding, errors)

        async def write(self, writer: Any) -> None:
            await self.write_with_length(writer, None)

        async def write_with_length(self, writer: Any, content_length: Optional[int]) -> None:
            await writer.write(self.data if content_length is None else self.data[:content_length])
            if self._failure_ is not None:
                raise self._failure_

        async def as_bytes(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
            return self.data

    return Frozen


_FROZEN = frozenset(
    ("_payload", "data", "_failure_", "decode", "write", "write_with_length", "as_bytes", "__class__", "__dict__", "__init__")
)


def _tape_handler(base: Any) -> Any:
    class TapeHandler(base):  # type: ignore[misc]
        """A connection's protocol on which nothing arrives, and nothing is late."""

        def _reschedule_timeout(self) -> None:
            """The record says when a read timed out."""

        def start_timeout(self) -> None:
            """As above."""

    return TapeHandler


class _Calm:
    """A protocol for a reader that is fed only when it is hungry."""

    connected = True
    _reading_paused = False

    def pause_reading(self, *_: Any, **__: Any) -> None:
        """Nothing to hold back."""

    def resume_reading(self, *_: Any, **__: Any) -> None:
        """Nothing to let go."""


_READS = ("readany", "readline", "readuntil", "readexactly")


def _tee_reader(base: Any) -> Any:
    class TeeReader(base):  # type: ignore[misc]
        """The real reader, told read by read: a replay then gives back in the same portions."""

        __slots__ = ("_tacho_call", "_tacho_inner")

        def __init__(self, inner: Any, call: effects.Call) -> None:
            self._tacho_inner = inner
            self._tacho_call = call

        def __getattr__(self, name: str) -> Any:
            # A slot of the base class that was never filled: it is in the inner reader.
            return getattr(object.__getattribute__(self, "_tacho_inner"), name)

        def __repr__(self) -> str:
            return repr(self._tacho_inner)

        async def _tacho_read(self, read: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            try:
                got = await read(*args, **kwargs)
            except asyncio.CancelledError:
                # The agent gave up this read (a timeout), not the answer: it may come back.
                self._tacho_call.tell_chunk(b"", given_up=True)
                raise
            except BaseException as error:
                if isinstance(error, asyncio.IncompleteReadError):
                    self._tacho_told(error.partial)
                else:
                    self._tacho_broken(error)
                raise
            self._tacho_told(*got) if isinstance(got, tuple) else self._tacho_told(got)
            return got

        def _tacho_told(self, data: bytes, end_of_chunk: bool = False) -> None:
            if end_of_chunk:
                self._tacho_call.tell_chunk(data, end_of_chunk=True)
            elif data:
                self._tacho_call.tell_chunk(data)
            if self._tacho_inner.at_eof():
                self._tacho_call.tell_end(effects.EOF)

        def _tacho_broken(self, error: BaseException) -> None:
            if error is self._tacho_inner.exception():
                self._tacho_call.tell_end(effects.BROKEN, describe(error))

        async def read(self, n: int = -1) -> bytes:
            if n is None or n >= 0:
                return bytes(await self._tacho_read(self._tacho_inner.read, n))
            if hasattr(self._tacho_inner, "set_read_chunk_size"):
                self._tacho_inner.set_read_chunk_size(2**63 - 1)
            blocks: List[bytes] = []
            while True:
                block = await self.readany()
                if not block:
                    return b"".join(blocks)
                blocks.append(block)

        async def readchunk(self) -> Tuple[bytes, bool]:
            got: Tuple[bytes, bool] = await self._tacho_read(self._tacho_inner.readchunk)
            return got

        def read_nowait(self, n: int = -1) -> bytes:
            got: bytes = self._tacho_inner.read_nowait(n)
            self._tacho_told(got)
            return got

        def set_exception(self, *args: Any, **kwargs: Any) -> None:
            # Only the response does this, when it is closed or released before its end.
            self._tacho_call.tell_end(effects.CLOSED)
            self._tacho_inner.set_exception(*args, **kwargs)

        def exception(self) -> Optional[BaseException]:
            error: Optional[BaseException] = self._tacho_inner.exception()
            if error is not None:
                self._tacho_call.tell_end(effects.BROKEN, describe(error))
            return error

    def told(name: str) -> Any:
        async def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return await self._tacho_read(getattr(self._tacho_inner, name), *args, **kwargs)

        return method

    def handed_on(name: str) -> Any:
        return lambda self, *args, **kwargs: getattr(self._tacho_inner, name)(*args, **kwargs)

    for name in _READS:
        setattr(TeeReader, name, told(name))
    TeeReader.total_bytes = property(lambda self: self._tacho_inner.total_bytes)  # an attribute of the class in old versions
    # The iterators use the methods above; everything else is about the inner reader's state.
    for name in dir(base):
        found = getattr(base, name)
        if callable(found) and not name.startswith("_") and name not in TeeReader.__dict__ and not name.startswith("iter_"):
            setattr(TeeReader, name, handed_on(name))
    return TeeReader


def _tape_reader(base: Any) -> Any:
    class TapeReader(base):  # type: ignore[misc]
        """The recorded body: fed one piece at a time, when somebody waits for it."""

        __slots__ = ("_tacho_call", "_tacho_failure", "_tacho_last", "_tacho_piece")

        def __init__(self, call: effects.Call, failure: Callable[[Dict[str, Any]], BaseException], timer: Any, loop: Any) -> None:
            super().__init__(_Calm(), 2**30, timer=timer, loop=loop)
            self._tacho_call = call
            self._tacho_failure = failure
            self._tacho_piece: Optional[asyncio.Future[Any]] = None
            self._tacho_last: Dict[str, Any] = {}

        async def _wait(self, func_name: str) -> None:
            reader: Any = self
            if reader._waiter is not None:
                raise RuntimeError("%s() called while another coroutine is already waiting for incoming data" % func_name)
            reader._waiter = self._loop.create_future()  # as the real one has while it waits
            try:
                with self._timer:
                    await self._tacho_next()
            finally:
                reader._waiter = None

        async def _tacho_next(self) -> None:
            # A read that is given up must not take the piece with it: the next read gets it.
            if self._tacho_piece is None:
                with self._tacho_call.real():
                    self._tacho_piece = asyncio.ensure_future(self._tacho_call.apiece())
            header, payload = await asyncio.shield(self._tacho_piece)
            self._tacho_piece = None
            self._tacho_last = header
            if header["m"] == "chunk":
                if header.get("given_up"):
                    await self._loop.create_future()  # until the agent gives up again
                self.feed_data(payload)
            elif header.get("error"):
                error = self._tacho_failure(header["error"])
                self._waiter = None  # type: ignore[misc]
                super().set_exception(error)
                raise error
            else:
                self.feed_eof()

        async def readchunk(self) -> Tuple[bytes, bool]:
            while not self._buffer and not self._eof:
                await self._wait("readchunk")
                if self._tacho_last.get("end_of_chunk"):
                    return self._read_nowait(-1), True
            if self._exception is not None:
                raise self._exception
            return self._read_nowait(-1) if self._buffer else b"", False

        async def readexactly(self, n: int) -> bytes:
            blocks: List[bytes] = []
            while n > 0:
                block = await self.read(n)
                if not block:
                    partial = b"".join(blocks)
                    raise asyncio.IncompleteReadError(partial, len(partial) + n)
                blocks.append(block)
                n -= len(block)
            return b"".join(blocks)

        def set_exception(self, *args: Any, **kwargs: Any) -> None:
            if self._tacho_piece is not None:
                self._tacho_piece.cancel()
            self._tacho_call.close()
            super().set_exception(*args, **kwargs)

    return TapeReader

"""httpx and httpx2: the transport that a client picked for a URL is wrapped, so custom transports, mounts and proxies are covered,
and so is everything built on them (``anthropic``, ``openai``, MCP over HTTP).

Raw (still encoded) chunks are told as the agent pulls them: first token no later than without us. One wrapped request is one
attempt: an SDK's retries are calls of their own.

A transport of the agent's own may answer with a body that is there already (``MockTransport``): such an answer is told at once, and in
a replay it is read before it is handed over, since nobody will read it later.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, AsyncIterator, Callable, Dict, Iterator

from .. import effects
from .patching import wrap
from .raising import describe, rebuild


def _request(request: Any) -> Dict[str, Any]:
    return {"method": request.method, "url": str(request.url), "headers": pairs(request.headers.raw)}


def pairs(raw: Any) -> Any:
    """Header pairs of bytes as pairs of text."""
    return [[k.decode("latin-1"), v.decode("latin-1")] for k, v in raw]


def _head(response: Any) -> Dict[str, Any]:
    head: Dict[str, Any] = {"status": response.status_code, "headers": pairs(response.headers.raw)}
    for key in ("http_version", "reason_phrase"):
        value = response.extensions.get(key)
        if isinstance(value, bytes):
            head[key] = value.decode("latin-1")
    return head


def install(module: ModuleType) -> None:
    """Wrap ``Client._transport_for_url`` and its async twin."""
    m: Any = module

    def failure(error: Dict[str, Any], request: Any) -> BaseException:
        out = rebuild(error, m.TransportError)
        if isinstance(out, m.RequestError):
            out.request = request
        return out

    def tell(call: effects.Call, answer: Any, tee: Any) -> None:
        head = _head(answer)
        if not isinstance(answer.stream, m.ByteStream):
            call.tell_head(head)
            answer.stream = tee(answer.stream, call)
            return
        call.tell_head({**head, "loaded": True})
        data = b"".join(answer.stream)
        if data:
            call.tell_chunk(data)
        call.tell_end(effects.EOF)

    def response(call: effects.Call, piece: Dict[str, Any], request: Any, stream: Any) -> Any:
        if piece["m"] == "fail":
            raise failure(piece["error"], request)
        head = piece["head"]
        extensions = {k: head[k].encode("latin-1") for k in ("http_version", "reason_phrase") if k in head}
        headers = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in head["headers"]]
        return m.Response(head["status"], headers=headers, stream=stream, extensions=extensions, request=request)

    class Tee(m.SyncByteStream):  # type: ignore[misc]
        """The real stream, told chunk by chunk."""

        def __init__(self, inner: Any, call: effects.Call) -> None:
            self._inner = inner
            self._call = call

        def __iter__(self) -> Iterator[bytes]:
            try:
                with self._call.real():
                    source = iter(self._inner)
                while True:
                    with self._call.real():
                        chunk = next(source, None)
                    if chunk is None:
                        break
                    self._call.tell_chunk(chunk)
                    yield chunk
            except GeneratorExit:
                self._call.tell_end(effects.CLOSED)
                raise
            except BaseException as error:
                self._call.tell_end(effects.BROKEN, describe(error))
                raise
            self._call.tell_end(effects.EOF)

        def close(self) -> None:
            self._call.tell_end(effects.CLOSED)
            self._inner.close()

    class AsyncTee(m.AsyncByteStream):  # type: ignore[misc]
        """As ``Tee``, in a task."""

        def __init__(self, inner: Any, call: effects.Call) -> None:
            self._inner = inner
            self._call = call

        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                source = self._inner.__aiter__()
                while True:
                    try:
                        with self._call.real():
                            chunk = await source.__anext__()
                    except StopAsyncIteration:
                        break
                    self._call.tell_chunk(chunk)
                    yield chunk
            except GeneratorExit:
                self._call.tell_end(effects.CLOSED)
                raise
            except BaseException as error:
                self._call.tell_end(_ended_by(error), describe(error))
                raise
            self._call.tell_end(effects.EOF)

        async def aclose(self) -> None:
            self._call.tell_end(effects.CLOSED)
            await self._inner.aclose()

    class Tape(m.SyncByteStream):  # type: ignore[misc]
        """The recorded stream."""

        def __init__(self, call: effects.Call, request: Any) -> None:
            self._call = call
            self._request = request

        def __iter__(self) -> Iterator[bytes]:
            yield from self._call.chunks()
            end = self._call.end_piece or {}
            if end.get("error"):
                raise failure(end["error"], self._request)

        def close(self) -> None:
            self._call.close()

    class AsyncTape(m.AsyncByteStream):  # type: ignore[misc]
        """As ``Tape``, in a task."""

        def __init__(self, call: effects.Call, request: Any) -> None:
            self._call = call
            self._request = request

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in self._call.achunks():
                yield chunk
            end = self._call.end_piece or {}
            if end.get("error"):
                raise failure(end["error"], self._request)

        async def aclose(self) -> None:
            self._call.close()

    class Transport(m.BaseTransport):  # type: ignore[misc]
        """One request, asked of the host or sent for real."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def handle_request(self, request: Any) -> Any:
            call = effects.begin("http", request.method, _request(request), request.read())
            if call.replayed:
                piece = call.head()
                answer = response(call, piece, request, Tape(call, request))
                if piece["head"].get("loaded"):
                    answer.read()
                return answer
            try:
                with call.real():
                    answer = self._inner.handle_request(request)
            except BaseException as error:
                call.tell_fail(describe(error))
                raise
            if not call.silent:
                tell(call, answer, Tee)
            return answer

        def close(self) -> None:
            self._inner.close()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

    class AsyncTransport(m.AsyncBaseTransport):  # type: ignore[misc]
        """As ``Transport``, in a task."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        async def handle_async_request(self, request: Any) -> Any:
            call = effects.begin("http", request.method, _request(request), await request.aread())
            if call.replayed:
                piece = await call.ahead()
                answer = response(call, piece, request, AsyncTape(call, request))
                if piece["head"].get("loaded"):
                    await answer.aread()
                return answer
            try:
                with call.real():
                    answer = await self._inner.handle_async_request(request)
            except BaseException as error:
                call.tell_fail(describe(error), _failed_by(error))
                raise
            if not call.silent:
                tell(call, answer, AsyncTee)
            return answer

        async def aclose(self) -> None:
            await self._inner.aclose()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

    def around(transport: Any) -> Callable[[Any], Any]:
        return lambda pick: lambda self, url: transport(pick(self, url))

    wrap(m.Client, "_transport_for_url", around(Transport))
    wrap(m.AsyncClient, "_transport_for_url", around(AsyncTransport))


def _cancelled(error: BaseException) -> bool:
    return type(error).__name__ in ("CancelledError", "Cancelled")


def _ended_by(error: BaseException) -> str:
    return effects.CANCELLED if _cancelled(error) else effects.BROKEN


def _failed_by(error: BaseException) -> str:
    return effects.CANCELLED if _cancelled(error) else "failed"

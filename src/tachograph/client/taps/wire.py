"""What the taps over ``http.client`` share (urllib3, and so requests and botocore; urllib.request).

In a replay the answer is a genuine ``http.client.HTTPResponse``: it parses status line, headers and body from a ``Tape``, which writes
them out again from the recorded pieces as they are asked for. So whatever a library or an agent does with an answer (``stream``,
``read(amt)``, ``iter_content(None)``, ``readline``, chunk by chunk, ``HEAD``, 204) behaves as it did, because it is the same code.

Lengths: how long a body is, the pieces say. ``Content-Length`` is shown to the agent and not believed, since redaction may have changed
the body's length.
"""

from __future__ import annotations

import hashlib
import http.client
import io
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from .. import effects, lanes, link
from .raising import describe

Failure = Callable[[Dict[str, Any]], BaseException]

#: A request body that is larger is described by its hash, if it can be read twice. Bytes.
LARGE = 64 << 20


def listening() -> bool:
    """Whether a call made here would be told to anybody: where not, a request's body need not be looked at."""
    return link.get() is not None and not lanes.current().real


# -- requests ------------------------------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """A header's name or value as text."""
    return value.decode("latin-1") if isinstance(value, (bytes, bytearray)) else str(value)


def header_pairs(headers: Any) -> List[List[str]]:
    """A mapping's (or pairs') headers, repeated ones repeated."""
    if headers is None:
        return []
    items = headers.items() if hasattr(headers, "items") else headers
    return [[text(name), text(value)] for name, value in items]


def freeze(body: Any) -> Tuple[bytes, Any, Dict[str, Any]]:
    """(the body's bytes, what to send in its place, more fields for the request).

    A file is put back where it was; an iterator, which can be read once, is replaced by one over what it gave.
    """
    if body is None:
        return b"", body, {}
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass"), body, {}
    try:
        return bytes(memoryview(body)), body, {}
    except TypeError:
        pass
    if hasattr(body, "read"):
        return _freeze_file(body)
    if not isinstance(body, Iterable):
        return b"", body, {}  # whoever sends it will say what is wrong with it
    parts = list(body)
    again = body if isinstance(body, (list, tuple)) else (part for part in parts)
    return b"".join(_encoded(part) for part in parts), again, {}


def _encoded(part: Any) -> bytes:
    return part.encode("utf-8", "surrogatepass") if isinstance(part, str) else bytes(part)


def _freeze_file(body: Any) -> Tuple[bytes, Any, Dict[str, Any]]:
    try:
        start = body.tell()
        body.seek(start)
    except Exception:
        # Cannot be put back (a pipe, an encoder that streams), or only to its beginning, which is then where it is.
        start = None
    if start is None:
        rewind = _rewindable(body)
        data = _encoded(body.read())
        if rewind is None:
            return data, io.BytesIO(data), {}
        rewind()
        return data, body, {}
    parts: Optional[List[bytes]] = []
    size, digest = 0, hashlib.sha256()
    while True:
        part = _encoded(body.read(1 << 20))
        if not part:
            break
        size += len(part)
        digest.update(part)
        if parts is not None:
            parts.append(part)
            if size > LARGE:
                parts = None
    body.seek(start)
    if parts is None:
        return b"", body, {"body_sha256": digest.hexdigest(), "body_length": size}
    return b"".join(parts), body, {}


def _rewindable(body: Any) -> Optional[Callable[[], Any]]:
    if hasattr(body, "tell") or not hasattr(body, "seek"):
        return None
    try:
        body.seek(0)
    except Exception:
        return None
    return lambda: body.seek(0)


# -- recording -----------------------------------------------------------------------------------------------------------


def head(response: Any) -> Dict[str, Any]:
    """The head of an ``http.client`` answer."""
    version = "HTTP/1.0" if response.version == 10 else "HTTP/1.1"
    return {
        "status": response.status,
        "reason_phrase": response.reason,
        "http_version": version,
        "headers": header_pairs(response.headers),
    }


class _Telling:
    """Mixed into the class of an ``http.client`` answer: each read is told as it returns. Where ``_tacho_ends`` is true, the end is
    told as well (urllib3 sees more ends than ``http.client`` does, and tells them itself)."""

    __slots__ = ()

    def _tacho_read(self, read: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        state: Dict[str, Any] = self.__dict__
        call: effects.Call = state["_tacho_call"]
        if state["_tacho_inside"]:
            return read(*args, **kwargs)  # one reading method uses another
        state["_tacho_inside"] = True
        try:
            got = read(*args, **kwargs)
        except BaseException as error:
            if state["_tacho_ends"]:
                call.tell_end(effects.BROKEN, {**describe(error), "closed": self.isclosed()})  # type: ignore[attr-defined]
            raise
        finally:
            state["_tacho_inside"] = False
        data = bytes(memoryview(args[0])[:got]) if isinstance(got, int) else got
        if data:
            call.tell_chunk(data)
        if state["_tacho_ends"] and self.isclosed():  # type: ignore[attr-defined]
            call.tell_end(effects.EOF)
        return got

    def read(self, *args: Any, **kwargs: Any) -> Any:
        return self._tacho_read(super().read, *args, **kwargs)  # type: ignore[misc]

    def read1(self, *args: Any, **kwargs: Any) -> Any:
        return self._tacho_read(super().read1, *args, **kwargs)  # type: ignore[misc]

    def readinto(self, *args: Any, **kwargs: Any) -> Any:
        return self._tacho_read(super().readinto, *args, **kwargs)  # type: ignore[misc]

    def readline(self, *args: Any, **kwargs: Any) -> Any:
        return self._tacho_read(super().readline, *args, **kwargs)  # type: ignore[misc]

    def close(self) -> None:
        state: Dict[str, Any] = self.__dict__
        if state["_tacho_ends"] and not state["_tacho_inside"]:
            state["_tacho_call"].tell_end(effects.CLOSED)
        super().close()  # type: ignore[misc]


_telling: Dict[type, type] = {}


def tell_reads(response: Any, call: effects.Call, *, ends: bool) -> None:
    """From now on, tell ``call`` what is read from this ``http.client`` answer."""
    cls = type(response)
    if cls not in _telling:
        body = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
        _telling[cls] = type(cls.__name__, (_Telling, cls), body)
    response._tacho_call, response._tacho_ends, response._tacho_inside = call, ends, False
    response.__class__ = _telling[cls]


# -- replaying -----------------------------------------------------------------------------------------------------------


def raise_as_it_is(error: BaseException) -> None:
    """Raise it with the context that it has, whatever is being handled here."""
    context = error.__context__
    try:
        raise error
    finally:
        error.__context__ = context


class Tape(io.BufferedIOBase):
    """An answer's bytes as HTTP/1.1 would carry them, pulled from the host piece by piece. ``framed``: in chunks, each a recorded one.

    A read gives what is there and waits for more only as far as it was asked for more, like a socket's buffered file. A recorded
    failure is raised when everything before it was read; ``raised`` keeps it, ``closes`` says whether the answer was closed by it.
    """

    def __init__(self, call: effects.Call, start: bytes, *, framed: bool, failure: Failure) -> None:
        self._call = call
        self._buffer = bytearray(start)
        self._framed = framed
        self._failure = failure
        self._over = False
        self._error: Optional[BaseException] = None
        self.raised: Optional[BaseException] = None
        self.closes = False

    def makefile(self, *_: Any, **__: Any) -> "Tape":
        """``http.client`` takes it for a socket, too."""
        return self

    def _more(self) -> bool:
        """Take one more piece; False when there is none."""
        if self._over:
            return False
        try:
            header, payload = self._call.piece()
        except BaseException as error:
            self._over, self._error = True, error
            raise
        if header["m"] == "chunk":
            if payload:
                self._buffer += b"%x\r\n%b\r\n" % (len(payload), payload) if self._framed else payload
            return True
        self._over = True
        if header.get("error"):
            self._error = self._failure(header["error"])
            self.closes = bool(header["error"].get("closed"))
        elif self._framed:
            self._buffer += b"0\r\n\r\n"
            return True
        return False

    def _take(self, size: int) -> bytes:
        out = bytes(self._buffer[:size])
        del self._buffer[:size]
        return out

    def _fail(self) -> None:
        if self._error is not None:
            self.raised = self._error
            raise self._error

    def read(self, size: Optional[int] = -1) -> bytes:
        if size is None or size < 0:
            while self._more():
                continue
            self._fail()
            return self._take(len(self._buffer))
        while len(self._buffer) < size and self._more():
            continue
        if size and not self._buffer:
            self._fail()
        return self._take(size)

    def read1(self, size: int = -1) -> bytes:
        while not self._buffer and self._more():
            continue
        if not self._buffer:
            self._fail()
        return self._take(len(self._buffer) if size < 0 else size)

    def peek(self, size: int = 0) -> bytes:
        """What is there, without taking it."""
        while not self._buffer and self._more():
            continue
        if not self._buffer:
            self._fail()
        return bytes(self._buffer)

    def readline(self, limit: Optional[int] = -1) -> bytes:
        most = -1 if limit is None else limit
        while True:
            at = self._buffer.find(b"\n")
            size = at + 1 if at >= 0 else len(self._buffer)
            if at >= 0 or 0 <= most <= size or not self._more():
                break
        if not self._buffer:
            self._fail()
        return self._take(size if most < 0 else min(size, most))

    def readable(self) -> bool:
        return True

    @property
    def at_end(self) -> bool:
        """Whether the end has come and everything before it was taken."""
        return self._over and not self._buffer and self._error is None

    def close(self) -> None:
        if not self.closed:
            self._call.close()
        super().close()


class TapeResponse(http.client.HTTPResponse):
    """An answer from a ``Tape``. ``Content-Length`` does not cut it: it ends where the recorded one ended."""

    _tacho_tape: Tape

    def _tacho_read(self, read: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        tape = self._tacho_tape
        try:
            got = read(*args, **kwargs)
        except BaseException:
            if tape.raised is not None:
                if tape.closes:
                    self.close()
                raise_as_it_is(tape.raised)  # as recorded, not as http.client would see it now
            raise
        if not self.chunked and not self.isclosed() and tape.at_end:
            self._close_conn()  # type: ignore[attr-defined]
        return got

    def read(self, *args: Any, **kwargs: Any) -> Any:
        return self._tacho_read(super().read, *args, **kwargs)

    def read1(self, *args: Any, **kwargs: Any) -> Any:
        return self._tacho_read(super().read1, *args, **kwargs)

    def readinto(self, *args: Any, **kwargs: Any) -> Any:
        return self._tacho_read(super().readinto, *args, **kwargs)

    def readline(self, *args: Any, **kwargs: Any) -> Any:
        return self._tacho_read(super().readline, *args, **kwargs)


def answer(call: effects.Call, recorded: Dict[str, Any], method: str, failure: Failure) -> Any:
    """The ``http.client`` answer with this recorded head; its body comes from ``call`` as it is read."""
    headers = recorded.get("headers", [])
    framed = any(name.lower() == "transfer-encoding" and value.lower() == "chunked" for name, value in headers)
    version = recorded.get("http_version")
    lines = [
        "%s %s %s"
        % (version if version in ("HTTP/1.0", "HTTP/1.1") else "HTTP/1.1", recorded["status"], recorded.get("reason_phrase") or "")
    ]
    lines += ["%s: %s" % (name, value) for name, value in headers]
    tape = Tape(call, ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace"), framed=framed, failure=failure)
    response = TapeResponse(tape, method=method)  # type: ignore[arg-type]
    response._tacho_tape = tape
    response.begin()
    if response.length:
        response.length = None
    return response

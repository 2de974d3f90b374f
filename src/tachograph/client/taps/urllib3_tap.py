"""urllib3, 1.26 and 2: one ``HTTPConnectionPool._make_request`` is one attempt on the wire, so retries and redirects are calls of their
own and the pool's bookkeeping stays urllib3's. ``requests`` and ``botocore`` (boto3) send through it and need no taps of their own: they
parse, retry and raise what they would.

Told are the raw bytes of the body, still encoded and without the chunks' framing, as they are read. ``_error_catcher`` is where every
read passes through and every error becomes urllib3's own; there the end is told.

A tunnel through a proxy belongs to the attempt that needs it: ``_prepare_proxy`` is put off until the attempt, so that a replay, which
never connects, does not connect to a proxy either.
"""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, Optional

from .. import effects
from . import wire
from .patching import wrap
from .raising import describe, rebuild

_CALL = "_tacho_call"
_TUNNEL = "_tacho_tunnel"
_READING = "_tacho_reading"


def install(module: ModuleType) -> None:
    """Wrap an attempt, and the places where its answer is read."""
    pool = module.HTTPConnectionPool
    response = sys.modules["urllib3.response"].HTTPResponse
    code = pool._make_request.__code__
    # From version 2, an attempt returns urllib3's own answer, with its body read already where that was wanted.
    whole = "response_conn" in code.co_varnames[: code.co_argcount]
    names = code.co_varnames[4 : code.co_argcount]

    wrap(pool, "_make_request", lambda original: _attempt(original, names, whole, sys.modules["urllib3"]))
    for cls in (pool, module.HTTPSConnectionPool):
        if "_prepare_proxy" in cls.__dict__:
            wrap(cls, "_prepare_proxy", _put_off)
    wrap(response, "_handle_chunk", _chunk)
    wrap(response, "_error_catcher", _catcher)
    wrap(response, "close", _close)
    if not whole:
        wrap(response, "from_httplib", _from_httplib)


# -- an attempt ----------------------------------------------------------------------------------------------------------


def _attempt(original: Callable[..., Any], names: Any, whole: bool, urllib3: Any) -> Callable[..., Any]:
    def make_request(self: Any, conn: Any, method: str, url: str, *args: Any, **kwargs: Any) -> Any:
        named: Dict[str, Any] = dict(zip(names, args))
        named.update(kwargs)
        tunnel = conn.__dict__.pop(_TUNNEL, None)
        if not wire.listening():
            _connect(self, conn, tunnel, whole)
            return original(self, conn, method, url, **named)
        content, named["body"], more = wire.freeze(named.get("body"))
        headers = wire.header_pairs(named.get("headers"))
        request = {"method": method, "url": _absolute(self, url), "headers": headers, **more}
        call = effects.begin("http", method, request, content)
        preload = named.get("preload_content", True)
        if call.replayed:
            self.num_requests += 1
            answer = _replayed(self, call, conn, method, url, named, urllib3)
            return _build(self, answer, method, url, named, urllib3) if whole else answer
        if whole:
            named["preload_content"] = False
        try:
            with call.real():
                _connect(self, conn, tunnel, whole)
                answer = original(self, conn, method, url, **named)
        except BaseException as error:
            described = describe(error)
            described["connected"] = bool(getattr(conn, "has_connected_to_proxy", False))
            call.tell_fail(described)
            raise
        raw = answer._original_response if whole else answer
        call.tell_head(wire.head(raw))
        wire.tell_reads(raw, call, ends=False)
        if whole:
            setattr(answer, _CALL, call)
            _preload(answer, preload)
        return answer

    return make_request


def _absolute(pool: Any, url: str) -> str:
    if "://" in url.partition("?")[0]:
        return url  # as a proxy is asked for it
    host = str(pool.host)
    if ":" in host and not host.startswith("["):
        host = "[%s]" % host
    default = {"http": 80, "https": 443}.get(pool.scheme)
    port = "" if pool.port in (None, default) else ":%d" % pool.port
    return "%s://%s%s%s" % (pool.scheme, host, port, url)


def _put_off(original: Callable[..., Any]) -> Callable[..., Any]:
    def prepare_proxy(self: Any, conn: Any) -> None:
        conn.__dict__[_TUNNEL] = original

    return prepare_proxy


def _connect(pool: Any, conn: Any, tunnel: Optional[Callable[..., Any]], whole: bool) -> None:
    """The tunnel that was put off, with the errors that ``urlopen`` makes of it."""
    if tunnel is None:
        return
    try:
        tunnel(pool, conn)
    except OSError as error:  # SSLError and timeouts are OSErrors
        if whole:
            pool._raise_timeout(err=error, url=pool.proxy.url, timeout_value=conn.timeout)
        raise


# -- the answer, told as it is read --------------------------------------------------------------------------------------


def _preload(response: Any, wanted: bool) -> None:
    """What the constructor does with ``preload_content``; here it can be told."""
    if wanted and not response._body:
        response._body = response.read(decode_content=response.decode_content)


def _from_httplib(original: Callable[..., Any]) -> Callable[..., Any]:
    def from_httplib(cls: Any, r: Any, **kwargs: Any) -> Any:
        call = getattr(r, _CALL, None)
        replayed = isinstance(r, wire.TapeResponse)
        if call is None and not replayed:
            return original(cls, r, **kwargs)
        preload = kwargs.pop("preload_content", True)
        response = original(cls, r, preload_content=False, **kwargs)
        if replayed:
            _believe_the_pieces(response)
        else:
            setattr(response, _CALL, call)
        _preload(response, preload)
        return response

    return from_httplib


def _chunk(original: Callable[..., Any]) -> Callable[..., Any]:
    def handle_chunk(self: Any, amt: Optional[int]) -> Any:
        data = original(self, amt)
        call = self.__dict__.get(_CALL)
        if call is not None and data:
            call.tell_chunk(data)
        return data

    return handle_chunk


def _catcher(original: Callable[..., Any]) -> Callable[..., Any]:
    @contextlib.contextmanager
    def error_catcher(self: Any) -> Iterator[None]:
        call = self.__dict__.get(_CALL)
        if call is None:
            with original(self):
                yield
            return
        setattr(self, _READING, True)
        try:
            with original(self):
                yield
        except GeneratorExit:
            call.tell_end(effects.CLOSED)
            raise
        except BaseException as error:
            call.tell_end(effects.BROKEN, describe(error))
            raise
        finally:
            setattr(self, _READING, False)
        if self._original_response is None or self._original_response.isclosed():
            call.tell_end(effects.EOF)

    return error_catcher


def _close(original: Callable[..., Any]) -> Callable[..., Any]:
    def close(self: Any) -> None:
        call = self.__dict__.get(_CALL)
        if call is not None and not self.__dict__.get(_READING):  # a read that fails closes, too, and then says why
            call.tell_end(effects.CLOSED)
        original(self)

    return close


# -- the answer, from the record -----------------------------------------------------------------------------------------


def _replayed(pool: Any, call: effects.Call, conn: Any, method: str, url: str, named: Dict[str, Any], urllib3: Any) -> Any:
    def failure(error: Dict[str, Any]) -> BaseException:
        made = rebuild(error, urllib3.exceptions.HTTPError)
        for name, value in (("pool", pool), ("conn", conn), ("url", url)):
            # Not data, so not in the record; some are properties, and some exceptions have none of them.
            if name not in made.__dict__ and not hasattr(type(made), name):
                made.__dict__[name] = value
        return made

    piece = call.head()
    if piece["m"] == "fail":
        if piece["error"].get("connected"):
            conn._has_connected_to_proxy = True  # else urlopen would put the blame on the proxy
        raise failure(piece["error"])
    return wire.answer(call, piece["head"], method, failure)


def _build(pool: Any, raw: Any, method: str, url: str, named: Dict[str, Any], urllib3: Any) -> Any:
    """As ``HTTPConnection.getresponse`` and ``_make_request`` build it."""
    options = {
        "body": raw,
        "headers": urllib3.HTTPHeaderDict(raw.msg.items()),
        "status": raw.status,
        "version": raw.version,
        "version_string": "HTTP/1.0" if raw.version == 10 else "HTTP/1.1",
        "reason": raw.reason,
        "preload_content": False,
        "decode_content": named.get("decode_content", True),
        "original_response": raw,
        "enforce_content_length": named.get("enforce_content_length", True),
        "request_method": method,
        "request_url": url,
    }
    known = urllib3.HTTPResponse.__init__.__code__.co_varnames
    response = urllib3.HTTPResponse(**{name: value for name, value in options.items() if name in known})
    response.retries = named.get("retries")
    response._connection = named.get("response_conn")
    response._pool = pool
    _believe_the_pieces(response)
    _preload(response, named.get("preload_content", True))
    return response


def _believe_the_pieces(response: Any) -> None:
    if response.length_remaining:
        response.length_remaining = None

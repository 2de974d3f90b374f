"""Exceptions become data and come back: the same class, text, arguments and cause, and no code of the recording's choice is run."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import subprocess
import urllib.error
from pathlib import Path
from typing import Any

import aiohttp
import botocore.exceptions
import httpx
import pytest
import urllib3.exceptions
from hypothesis import given
from hypothesis import strategies as st

from tachograph.client.taps.raising import describe, find, rebuild


class _Somewhere:
    """Like a connection: nothing that could be recorded but its looks."""

    def __repr__(self) -> str:
        return "<Somewhere at 0x7f00>"


def _opened() -> BaseException:
    with pytest.raises(FileNotFoundError) as caught:
        Path("/no/such/file").read_bytes()
    return caught.value


ERRORS = [
    _opened(),
    KeyError("x"),
    ValueError("two", 2),
    UnicodeDecodeError("utf8", b"abc", 0, 1, "bad"),
    StopIteration(3),
    SystemExit(3),
    KeyboardInterrupt(),
    TimeoutError(),
    ExceptionGroup("several", [OSError(1, "a"), ValueError("b")]),
    http.client.IncompleteRead(b"part", 5),
    http.client.RemoteDisconnected("gone"),
    urllib.error.URLError(OSError(111, "Connection refused")),
    socket.gaierror(-2, "Name or service not known"),
    ssl.SSLError(1, "[SSL] broken"),
    subprocess.TimeoutExpired(["a"], 3, output=b"x"),
    subprocess.CalledProcessError(2, ["a"], b"o"),
    httpx.ConnectError("refused"),
    urllib3.exceptions.NewConnectionError(_Somewhere(), "refused"),  # type: ignore[arg-type]
    urllib3.exceptions.ConnectTimeoutError(_Somewhere(), "too late"),
    urllib3.exceptions.ReadTimeoutError(_Somewhere(), "/x", "too late"),  # type: ignore[arg-type]
    urllib3.exceptions.ProtocolError("Connection aborted.", http.client.RemoteDisconnected("bye")),
    urllib3.exceptions.IncompleteRead(1, 2),
    aiohttp.ServerDisconnectedError(),
    aiohttp.ClientPayloadError("half"),
    aiohttp.ClientOSError(104, "reset"),
    botocore.exceptions.EndpointConnectionError(endpoint_url="http://x", error=OSError(1, "x")),
]


def _again(error: BaseException) -> BaseException:
    return rebuild(json.loads(json.dumps(describe(error))), RuntimeError)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_it_is_raised_again_as_it_was(error: BaseException) -> None:
    again = _again(error)
    assert type(again).__name__ == type(error).__name__
    assert isinstance(again, type(error))
    assert (str(again), repr(again)) == (str(error), repr(error))
    for name in ("errno", "strerror", "filename", "partial", "expected", "reason", "returncode", "output", "timeout", "code", "kwargs"):
        assert repr(getattr(again, name, None)) == repr(getattr(error, name, None))


def test_the_cause_and_the_context_come_back() -> None:
    try:
        try:
            raise ExceptionGroup("all attempts", [OSError(111, "refused")])
        except ExceptionGroup as group:
            raise OSError("All connection attempts failed") from group
    except OSError as caught:
        again = _again(caught)
    assert isinstance(again.__cause__, ExceptionGroup)
    assert repr(again.__cause__.exceptions) == repr((ConnectionRefusedError(111, "refused"),))
    try:
        try:
            raise KeyError("first")
        except KeyError:
            raise ValueError("second")  # noqa: B904 - without "from" on purpose
    except ValueError as caught:
        again = _again(caught)
    assert again.__cause__ is None
    assert isinstance(again.__context__, KeyError)


def test_no_constructor_of_the_recordings_choice_is_run() -> None:
    built: list[Any] = []

    class Loud(Exception):
        def __init__(self, *args: Any) -> None:
            built.append(args)

    globals()["Loud"] = Loud
    try:
        again = rebuild({"type": "Loud", "module": __name__, "message": "boo", "args": ["boo"]}, RuntimeError)
        assert isinstance(again, Loud)
        assert (str(again), built) == ("boo", [])
    finally:
        del globals()["Loud"]
    for module, name in (("os", "system"), ("builtins", "eval"), ("subprocess", "Popen"), ("antigravity", "x")):
        assert find({"module": module, "type": name}) is None
        assert type(rebuild({"module": module, "type": name, "message": "m"}, RuntimeError)) is RuntimeError


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(
    st.dictionaries(st.sampled_from(["type", "module", "message", "args", "attributes", "cause", "errno", "filename", "implicit"]), _json)
)
def test_any_data_makes_some_exception(data: dict[str, Any]) -> None:
    assert isinstance(rebuild(data, RuntimeError), BaseException)

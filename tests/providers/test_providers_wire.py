from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.providers import Exchange, wire


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b'{"a": 1.0}', {"a": 1.0}),
        ('"\\ud83d\\ude00"', "😀"),
        (b'["\\ud83d", "\\ude00"]', ["�", "�"]),
        (b'"\\\\ud83d"', "\\ud83d"),
        (b'{"\\ud800": "\xc3\xa9\\udc00"}', {"�": "é�"}),
    ],
)
def test_json_is_read_exactly(data: bytes | str, value: Any) -> None:
    assert wire.loads(data) == value


@pytest.mark.parametrize(
    "data",
    [b"", b"NaN", b"1e999", b"{", b"\xff", b'"\\ud800', b"[" * 100_000, b"[" * 5000 + b'"\\ud800"' + b"]" * 5000, "\ud800"],
)
def test_what_is_not_json_is_a_value_error(data: bytes | str) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        wire.loads(data)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://h/a/b?c=/d", "/a/b"),
        ("https://h/a/b/#/c", "/a/b"),
        ("https://h", ""),
        ("/a%2Fb/", "/a%2Fb"),
        ("http://[", ""),
        ("", ""),
        ("https://user:pw@h:1/x", "/x"),
    ],
)
def test_paths(url: str, path: str) -> None:
    assert wire.path_of(url) == path


def test_arguments() -> None:
    assert wire.arguments('{"a": 1}') == {"a": 1}
    assert wire.arguments("") == wire.arguments(" ") == {}
    assert wire.arguments("", finished=False) == {"$invalid": ""}
    assert wire.arguments("{") == {"$invalid": "{"}
    assert wire.arguments({"a": 1}) == {"a": 1}
    assert wire.arguments(None) is None


names = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(st.dictionaries(names, st.integers()), max_size=4), st.dictionaries(names, names))
def test_spread_loses_no_value(sources: list[dict[str, int]], renames: dict[str, str]) -> None:
    params: dict[str, Any] = {}
    for number, source in enumerate(sources):
        wire.spread(params, source, names=renames, origin=f"from{number}")
    assert set(params.values()) == {value for source in sources for value in source.values()}


def test_spread_keeps_plain_names_for_those_who_came_first() -> None:
    params: dict[str, Any] = {}
    wire.spread(params, {"maxTokens": 1, "x": 2, "skipped": 3}, names={"maxTokens": "max_tokens"}, skip={"skipped"})
    wire.spread(params, {"max_tokens": 4, "x": 2}, origin="more")
    assert params == {"max_tokens": 1, "x": 2, "more.max_tokens": 4}


def test_counts() -> None:
    source = {"prompt": 1, "input": 2, "output": -1, "total": True, "other": 1.5, "text": "3"}
    assert wire.counts(source, dict.fromkeys(source, "n")) == {"n": 1}
    assert wire.counts({"output": -1, "total": True, "other": 1.5}, {"output": "o", "total": "t", "other": "x"}) == {}


def test_flat() -> None:
    blocks = ["a", {"text": "b"}, {"content": [{"text": "c"}]}, {"json": {"d": 1}}, {"refusal": "e"}, {"x": "y"}, 7, None]
    assert wire.flat(blocks) == 'a\nb\nc\n{"d": 1}\ne'
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert wire.flat(deep) == ""


def test_headers_of_any_form() -> None:
    odd: Any = [[], ["only"], [1, 2], ["X-A", "1"], ["x-a", "2"]]
    assert wire.header(odd, "x-a") == "1"
    assert wire.header(odd, "x-b") is None


def answered(status: int, body: Any, **headers: str) -> dict[str, Any] | None:
    exchange = Exchange(method="POST", url="", status=status, answer_headers=tuple(headers.items()))
    return wire.failure(exchange, body)


def test_errors_in_every_notation() -> None:
    assert answered(200, {"error": {"message": "m"}}) is None
    assert answered(500, None) == {"type": "http_500", "message": "", "status": 500}
    assert answered(502, "<html>Bad gateway") == {"type": "http_502", "message": "<html>Bad gateway", "status": 502}
    assert answered(400, {"error": "plain words"}) == {"type": "http_400", "message": "plain words", "status": 400}
    assert answered(400, {"__type": "com.amazon.coral#ValidationException", "message": "m"}) == {
        "type": "ValidationException", "message": "m", "status": 400,
    }  # fmt: skip
    assert answered(401, {"error": {"code": "bad_key", "message": "m"}}) == {"type": "bad_key", "message": "m", "status": 401}


@pytest.mark.parametrize(
    ("answer", "kind", "sse"),
    [
        (b"data: {}", "application/json", True),  # servers for tests often leave the type wrong; the SDKs do not look
        (b"\xef\xbb\xbf\n: hello", None, True),
        (b'{"error": 1}', "text/event-stream", False),
        (b"", "text/event-stream", True),
        (b'{"a": 1}', None, False),
    ],
)
def test_is_sse(answer: bytes, kind: str | None, sse: bool) -> None:
    headers = (("Content-Type", kind),) if kind else ()
    assert wire.is_sse(Exchange(method="POST", url="", answer_headers=headers, answer=answer)) is sse

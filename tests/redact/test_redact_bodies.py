from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from redact_samples import GITHUB, PASSWORD, redactor, trace

from tachograph.redact.placeholder import PLACEHOLDER

REDACTOR = redactor()


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "utf-8-sig", "shift_jis"])
def test_a_text_in_another_charset(codec: str) -> None:
    value = {"key": f"see {GITHUB}", "password": PASSWORD}
    out = REDACTOR.body(json.dumps(value).encode(codec), content_type=f"application/json; charset={codec}")
    assert list(out) == ["key", "password"]
    assert PLACEHOLDER.search(out["key"])
    assert PLACEHOLDER.fullmatch(out["password"])


@pytest.mark.parametrize("codec", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_mark_tells_the_charset(codec: str) -> None:
    assert trace(GITHUB, str(REDACTOR.body(f"see {GITHUB}".encode(codec), content_type="text/plain"))) is None


@pytest.mark.parametrize("charset", ["unheard-of", "base64", "rot13", '"', "hex"])
def test_a_charset_that_is_none(charset: str) -> None:
    assert REDACTOR.body(b"plain words", content_type=f"text/plain; charset={charset}") == "plain words"


def test_a_form_whose_fields_hold_json() -> None:
    data = urlencode({"payload": json.dumps({"text": "hello", "token": GITHUB}), "client_secret": PASSWORD, "q": "words"}).encode()
    pairs = dict(REDACTOR.body(data, content_type="application/x-www-form-urlencoded")["$form"])
    assert json.loads(pairs["payload"])["text"] == "hello"
    assert PLACEHOLDER.fullmatch(json.loads(pairs["payload"])["token"])
    assert PLACEHOLDER.fullmatch(pairs["client_secret"])
    assert pairs["q"] == "words"


def _nested(depth: int) -> bytes:
    body = f"see {GITHUB}".encode()
    for level in range(depth):
        kind = f"Content-Type: multipart/mixed; boundary=b{level - 1}\r\n" if level else ""
        body = f"--b{level}\r\n{kind}\r\n".encode() + body + f"\r\n--b{level}--\r\n".encode()
    return body


@pytest.mark.parametrize("depth", [1, 2, 8, 9, 2000])
def test_multipart_in_multipart(depth: int) -> None:
    out = REDACTOR.body(_nested(depth), content_type=f"multipart/mixed; boundary=b{depth - 1}")
    assert "$multipart" in out
    assert trace(GITHUB, str(out)) is None

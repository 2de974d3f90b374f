"""What holds for every input: redaction ends, is idempotent, keeps JSON's shape, and leaves no known or shaped secret in any encoding."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redact_samples import ANTHROPIC, AWS, GITHUB, JWT, KEY, PASSWORD, SLACK, trace

from tachograph.redact.engine import Redactor
from tachograph.redact.placeholder import PLACEHOLDER, neutral
from tachograph.redact.policy import Policy

KNOWN = 'correct/horse+battery "staple" ß7'
SECRETS = (GITHUB, ANTHROPIC, AWS, JWT, SLACK, KNOWN, PASSWORD)


def fresh(*, learns: bool = True) -> Redactor:
    return Redactor(Policy.default(), key=KEY, known={KNOWN: "env", PASSWORD: "env"}, learns=learns)


def _base64(offset: int, encode: Callable[[bytes], bytes]) -> Callable[[str], str]:
    return lambda secret: encode(b":" * offset + secret.encode()).decode()


def _escaped(text: str) -> str:
    return json.dumps(text)[1:-1]


ENCODINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda s: s,
    **{f"base64 at {n}": _base64(n, base64.b64encode) for n in range(3)},
    **{f"url-safe base64 at {n}": _base64(n, base64.urlsafe_b64encode) for n in range(3)},
    "percent": lambda s: quote(s, safe=""),
    "form": quote_plus,
    "percent twice": lambda s: quote(quote(s, safe=""), safe=""),
    "every character in percent": lambda s: "".join(f"%{byte:02x}" for byte in s.encode()),
    "JSON": _escaped,
    "JSON twice": lambda s: _escaped(_escaped(s)),
    "hexadecimal": lambda s: s.encode().hex(),
    "upper-case hexadecimal": lambda s: s.encode().hex().upper(),
}
#: What may stand around a secret without being part of its encoding.
AROUND = st.text(alphabet=" \n\t'(),;", max_size=6)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(st.sampled_from(SECRETS), AROUND, AROUND)
@settings(max_examples=40, deadline=None)
def test_no_secret_stays_in_any_encoding(encoding: str, secret: str, before: str, after: str) -> None:
    written = ENCODINGS[encoding](secret)
    text = f"first {before}{written}{after} last"
    red = fresh(learns=False)
    body = red.body(json.dumps({"q": text}).encode(), content_type="application/json")
    for out in (red.text(text), red.document({"t": [text]})["t"][0], red.raw(text.encode()).decode(), body["q"]):
        # A neighbour's characters in base64 hold up to two of the secret's; the edges of an encoding are no traces.
        assert trace(written[4:-4], out) is None, out
        assert PLACEHOLDER.search(out)
        assert red.text(out) == out


LEAF = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20)
NAMES = st.sampled_from(["password", "token", "text", "content", "role", "type", "name", "value", "auth", "data", "x"]) | st.text(
    max_size=5
)
STRINGS = st.sampled_from([*SECRETS, f"password={PASSWORD}", base64.b64encode(GITHUB.encode()).decode(), GITHUB[:20], GITHUB[20:]])
JSON = st.recursive(LEAF | STRINGS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12)


def shape(value: Any) -> Any:
    """A value without its strings and numbers."""
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    if isinstance(value, list):
        return [shape(item) for item in value]
    return value if isinstance(value, bool) or value is None else 0


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_json_stays_json_of_the_same_shape(value: Any) -> None:
    red = fresh()
    out = red.document(value)
    assert neutral(json.dumps(red.document(out))) == neutral(json.dumps(out))
    if len({red.text(key) for key in _keys(value)}) == len(_keys(value)):  # two names may be one secret
        assert shape(out) == shape(value)
    text = json.dumps(value)
    printed = red.text(text)
    assert red.text(printed) == printed
    if isinstance(value, (dict, list)):
        json.loads(printed)
    assert not any(secret in json.dumps(out) or secret in printed for secret in SECRETS[:5])


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for item in value.values() for key in _keys(item)}
    return {key for item in value for key in _keys(item)} if isinstance(value, list) else set()


CONTENT_TYPES = st.sampled_from([
    "", "application/json", "text/event-stream", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    "application/vnd.amazon.eventstream", "text/plain; charset=x", "application/octet-stream",
])  # fmt: skip
ENCODED = st.sampled_from(["", "gzip", "br", "zstd", "deflate", "identity", "rot13"])
BYTES = st.binary(max_size=200) | st.sampled_from([
    b"--x\r\n\r\n", b'{"a":' * 300, b"[" * 5000, b"\xff\xfe" * 50, b"%" * 50, b"a=%zz&b", b"\\u\\x\\", b"=\n=3D=", b"&#x;&#99999999;",
    b"data: {\n\ndata: [DONE]", b"\x00" * 40, "\ud800".encode("utf-8", "surrogatepass") * 9, b"A" * 4096 + b"=" * 9,
])  # fmt: skip
UNICODE = st.text(st.characters(), max_size=120) | st.sampled_from(
    ["\ud800" * 9, "&#1114112;&#xFFFFFF;", "\\ud83d\\u00", "%ff%80%u0041", "\u2028="]
)


@given(BYTES, CONTENT_TYPES, ENCODED, st.integers(0, 200))
@settings(max_examples=300, deadline=None)
def test_any_bytes_have_a_result(data: bytes, content_type: str, encoding: str, at: int) -> None:
    red = fresh()
    assert isinstance(red.raw(data), bytes)
    red.body(data, content_type=content_type, content_encoding=encoding)
    headers = [["Content-Type", content_type], ["Content-Encoding", encoding], ["Content-Length", str(len(data) + at % 2)]]
    _, chunks = red.answer(headers, [data[:at], data[at:]])
    assert len(chunks) == 2
    assert red.document({"b": data, "l": [data]})


@given(UNICODE, UNICODE)
@settings(max_examples=300, deadline=None)
def test_any_text_has_a_result(one: str, other: str) -> None:
    red = fresh()
    for text in (one, f"{one}{other}", f'{{"{one}": "{other}"}}', f"password={one}\n{other}"):
        out = red.text(text)
        assert red.text(out) == out
    red.document({one: [other, {"content": one}, {"content": other}]})
    red.headers([[one, other], ["authorization", one], ["cookie", other]])
    red.arguments([one, other, "--password", one])
    red.environment({one: other, "PASSWORD": one})
    red.url(one)

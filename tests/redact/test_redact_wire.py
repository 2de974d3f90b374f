from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from redact_samples import AWS, GITHUB, KEY, PASSWORD, PEM, SHAPED, SLACK, redactor, trace

from tachograph.format import eventstream, sse
from tachograph.redact.engine import Redactor
from tachograph.redact.placeholder import PLACEHOLDER, placeholder
from tachograph.redact.policy import Policy
from tachograph.redact.rules.examples import mixed
from tachograph.redact.streams import completion

KNOWN = "Tr0ub4dor and 3"
REDACTOR = redactor(env=KNOWN)
SSE = [["Content-Type", "text/event-stream; charset=utf-8"], ["x-request-id", "req_1"]]
AWS_STREAM = [["Content-Type", "application/vnd.amazon.eventstream"]]

# -- streams of the providers: how they carry pieces of a text, and how to read them back --------------------------------


def anthropic(pieces: list[str], kind: str = "text") -> list[bytes]:
    block, delta, field = {
        "text": ({"type": "text", "text": ""}, "text_delta", "text"),
        "tool": ({"type": "tool_use", "id": "toolu_1", "name": "sh", "input": {}}, "input_json_delta", "partial_json"),
        "thinking": ({"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking"),
    }[kind]
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "msg_1", "model": "m", "content": [], "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 1, "content_block": block},
        {"type": "ping"},
        *({"type": "content_block_delta", "index": 1, "delta": {"type": delta, field: piece}} for piece in pieces),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return [sse.encode(event["type"], json.dumps(event)) for event in events]


def chat(pieces: list[str], kind: str = "text") -> list[bytes]:
    def delta(piece: str) -> dict[str, Any]:
        return {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} if kind == "tool" else {"content": piece}

    events = [{"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta(piece)}]} for piece in pieces]
    return [*(sse.encode(None, json.dumps(event, separators=(",", ":"))) for event in events), sse.encode(None, "[DONE]")]


def responses(pieces: list[str], kind: str = "text") -> list[bytes]:
    name = {"text": "response.output_text.delta", "tool": "response.function_call_arguments.delta"}[kind]
    events: list[dict[str, Any]] = [
        {"type": name, "item_id": "msg_1", "output_index": 0, "content_index": 0, "sequence_number": n, "delta": piece}
        for n, piece in enumerate(pieces)
    ]
    events.append({"type": "response.output_text.done", "item_id": "msg_1", "text": "".join(pieces)})
    return [sse.encode(event["type"], json.dumps(event)) for event in events]


def converse(pieces: list[str], kind: str = "text") -> list[bytes]:
    events: list[tuple[str, dict[str, Any]]] = [("messageStart", {"role": "assistant"})]
    for piece in pieces:
        delta: dict[str, Any] = {"toolUse": {"input": piece}} if kind == "tool" else {"text": piece}
        events.append(("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta, "p": "abcdef"}))
    events.append(("messageStop", {"stopReason": "end_turn"}))
    return [message(name, json.dumps(event).encode()) for name, event in events]


def gemini(pieces: list[str], kind: str = "text") -> list[bytes]:
    part = {"thought": True} if kind == "thinking" else {}
    events: list[dict[str, Any]] = [
        {"candidates": [{"content": {"parts": [{**part, "text": piece}], "role": "model"}, "index": 0}], "responseId": "r"}
        for piece in pieces
    ]
    events.append({"candidates": [{"content": {"parts": [], "role": "model"}, "finishReason": "STOP", "index": 0}], "responseId": "r"})
    return [sse.encode(None, json.dumps(event)) for event in events]


def invoke(pieces: list[str], kind: str = "text") -> list[bytes]:
    events = [json.loads(event.data) for event in sse.parse(b"".join(anthropic(pieces, kind)))]
    return [
        message("chunk", json.dumps({"bytes": base64.b64encode(json.dumps(event).encode()).decode(), "p": "abc"}).encode())
        for event in events
    ]


def message(name: str, payload: bytes) -> bytes:
    return eventstream.encode({":event-type": name, ":content-type": "application/json", ":message-type": "event"}, payload)


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings(item)]
    return [text for item in value for text in strings(item)] if isinstance(value, list) else []


def read(body: bytes, headers: list[list[str]]) -> list[Any]:
    """The events of a body as JSON; whatever is not must be ``[DONE]``."""
    if headers is SSE:
        return [json.loads(event.data) for event in sse.parse(body) if event.data != "[DONE]"]
    messages, end = eventstream.decode(body)
    assert end == len(body)
    events = [json.loads(message.payload) for message in messages]
    return [json.loads(base64.b64decode(event["bytes"])) if "bytes" in event else event for event in events]


FIELDS = ("text", "partial_json", "thinking", "content", "arguments", "delta", "input")


def joined(events: list[Any]) -> str:
    """The pieces of a text, put together as a client does."""

    def pieces(value: Any) -> str:
        if isinstance(value, dict):
            return "".join(item if key in FIELDS and isinstance(item, str) else pieces(item) for key, item in value.items())
        return "".join(map(pieces, value)) if isinstance(value, list) else ""

    return "".join(pieces(event) for event in events if not str(event.get("type", "")).endswith(".done"))


CARRIERS = [
    (anthropic, "text", SSE),
    (anthropic, "tool", SSE),
    (anthropic, "thinking", SSE),
    (chat, "text", SSE),
    (chat, "tool", SSE),
    (responses, "text", SSE),
    (responses, "tool", SSE),
    (gemini, "text", SSE),
    (gemini, "thinking", SSE),
    (converse, "text", AWS_STREAM),
    (converse, "tool", AWS_STREAM),
    (invoke, "text", AWS_STREAM),
    (invoke, "tool", AWS_STREAM),
    (invoke, "thinking", AWS_STREAM),
]


def payload(secret: str, kind: str) -> str:
    return json.dumps({"command": f"export X={secret} && run", "n": 1}) if kind == "tool" else f"Your key is {secret}, keep it."


@pytest.mark.parametrize(("carrier", "kind", "headers"), CARRIERS)
@pytest.mark.parametrize("secret", [GITHUB, KNOWN], ids=["token", "known"])
def test_a_secret_split_at_every_offset(carrier: Any, kind: str, headers: list[list[str]], secret: str) -> None:
    text = payload(secret, kind)
    begin = text.index(secret)
    expected = REDACTOR.text(text)
    for at in range(begin - 1, begin + len(secret) + 2):
        chunks = carrier([text[:at], text[at:]], kind)
        _, out = REDACTOR.answer(headers, chunks)
        assert len(out) == len(chunks)
        events = read(b"".join(out), headers)
        assert joined(events) == expected
        for piece in strings(events):
            assert trace(secret, piece) is None


@given(st.sampled_from(CARRIERS), st.sampled_from([*SHAPED, KNOWN, PASSWORD]), st.integers(0, 90), st.integers(0, 90))
@settings(max_examples=200, deadline=None)
def test_a_secret_in_three_pieces(carrier: Any, secret: str, first: int, second: int) -> None:
    make, kind, headers = carrier
    text = json.dumps({"command": f"password='{secret}' run"}) if kind == "tool" else f"password='{secret}', keep it."
    begin = text.index("password") + 8
    chunks = make(split(text, [begin + first, begin + second]), kind)
    _, out = REDACTOR.answer(headers, chunks)
    events = read(b"".join(out), headers)
    assert joined(events) == REDACTOR.text(text)
    assert all(trace(secret, piece) is None for piece in strings(events))


@pytest.mark.parametrize(("carrier", "kind", "headers"), CARRIERS)
def test_a_stream_that_names_a_value_at_its_end(carrier: Any, kind: str, headers: list[list[str]]) -> None:
    """Where it is learned, it is masked from the beginning of this very answer."""
    text = f"it is {PASSWORD}; so password={PASSWORD}"
    red = Redactor(Policy.default(), key=KEY, learns=True)
    chunks = carrier(split(json.dumps([text]) if kind == "tool" else text, [3, 9, 12, 30, 45]), kind)
    _, out = red.answer(headers, chunks)
    assert len(out) == len(chunks)
    assert PASSWORD not in joined(read(b"".join(out), headers))
    assert red.answer(headers, out)[1] == out


@pytest.mark.parametrize(("carrier", "kind", "headers"), CARRIERS)
def test_a_secret_in_pieces_of_one_character(carrier: Any, kind: str, headers: list[list[str]]) -> None:
    text = payload(GITHUB, kind)
    tally: Counter[str] = Counter()
    chunks = carrier(list(text), kind)
    _, out = REDACTOR.answer(headers, chunks, tally)
    assert len(out) == len(chunks)
    assert joined(read(b"".join(out), headers)) == REDACTOR.text(text)
    assert tally["github-token"] == (2 if carrier is responses else 1)  # its last event holds the whole text again


@given(
    st.sampled_from(CARRIERS),
    st.lists(st.sampled_from([GITHUB, KNOWN, PEM, AWS, "fine ", "é😀", "\n", '"', "password=", PASSWORD]), max_size=5),
    st.lists(st.integers(0, 400), max_size=5),
    st.lists(st.integers(0, 3000), max_size=5),
)
@settings(max_examples=150, deadline=None)
def test_pieces_and_chunks_cut_anywhere(carrier: Any, parts: list[str], cuts: list[int], breaks: list[int]) -> None:
    make, kind, headers = carrier
    text = json.dumps({"a": " ".join(parts)}) if kind == "tool" else " ".join(parts)
    pieces = split(text, cuts)
    body = b"".join(make(pieces, kind))
    chunks = [body[a:b] for a, b in zip([0, *places(body, breaks)], [*places(body, breaks), len(body)], strict=True)]
    out_headers, out = REDACTOR.answer(headers, chunks)
    assert len(out) == len(chunks)
    assert out_headers == headers
    expected = REDACTOR.text(text)
    assert joined(read(b"".join(out), headers)) == expected
    if expected == text:
        assert all(a is b for a, b in zip(out, chunks, strict=True))
    again = REDACTOR.answer(headers, out)[1]
    assert again == out


def split(text: str, cuts: list[int]) -> list[str]:
    at = [0, *sorted({min(cut, len(text)) for cut in cuts}), len(text)]
    return [text[a:b] for a, b in pairwise(at)]


def places(body: bytes, breaks: list[int]) -> list[int]:
    return sorted({min(each, len(body)) for each in breaks})


# -- what stays ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("carrier", "kind", "headers"), CARRIERS)
def test_nothing_secret_nothing_changed(carrier: Any, kind: str, headers: list[list[str]]) -> None:
    chunks = carrier([payload("nothing", kind)], kind)
    out_headers, out = REDACTOR.answer(headers, chunks)
    assert out_headers == headers
    assert all(a is b for a, b in zip(out, chunks, strict=True))


def test_signatures_and_ids_stay() -> None:
    events = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": mixed(400) + "=="}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": mixed(300)}},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "toolu_01" + mixed(22), "name": "x", "input": {}},
        },
    ]
    chunks = [sse.encode(event["type"], json.dumps(event)) for event in events]
    assert all(a is b for a, b in zip(REDACTOR.answer(SSE, chunks)[1], chunks, strict=True))


def test_only_the_events_that_hold_the_secret_change() -> None:
    text = payload(GITHUB, "text")
    chunks = anthropic([text[:20], text[20:40], text[40:], " and more"])
    _, out = REDACTOR.answer(SSE, chunks)
    assert [a is b for a, b in zip(out, chunks, strict=True)] == [True, True, True, False, False, False, True, True, True, True]
    assert sse.parse(out[3])[0].event == "content_block_delta"


def test_comments_ids_and_retries_survive() -> None:
    body = b": hello\nid: 7\nevent: message\ndata: " + json.dumps({"text": GITHUB}).encode() + b"\nretry: 10\n\n"
    _, (out,) = REDACTOR.answer(SSE, [body])
    assert out == body.replace(GITHUB.encode(), placeholder("github-token", KEY, GITHUB).encode())


def test_a_secret_in_a_comment_or_an_id() -> None:
    body = f": {GITHUB}\nid: {SLACK}\ndata: {{}}\n\n".encode()
    _, (out,) = REDACTOR.answer(SSE, [body])
    assert trace(GITHUB, out.decode()) is None
    assert trace(SLACK, out.decode()) is None


def test_data_in_several_lines() -> None:
    body = b'event: x\ndata: {"text":\ndata: "' + GITHUB.encode() + b'"}\n\n'
    _, (out,) = REDACTOR.answer(SSE, [body])
    assert json.loads(sse.parse(out)[0].data) == {"text": placeholder("github-token", KEY, GITHUB)}


def test_events_that_are_no_json() -> None:
    chunks = [sse.encode(None, GITHUB[:10]), sse.encode(None, GITHUB[10:]), sse.encode(None, "[DONE]")]
    _, out = REDACTOR.answer(SSE, chunks)
    assert [e.data for e in sse.parse(b"".join(out))] == [placeholder("github-token", KEY, GITHUB), "", "[DONE]"]


def test_two_choices_are_two_texts() -> None:
    first, second = GITHUB[:12], GITHUB[12:]
    events = [
        {"choices": [{"index": n, "delta": {"content": piece}}]} for n, piece in ((0, first), (1, "other"), (0, second), (1, " text"))
    ]
    _, out = REDACTOR.answer(SSE, [sse.encode(None, json.dumps(event)) for event in events])
    found = [event["choices"][0]["delta"]["content"] for event in read(b"".join(out), SSE)]
    assert found == [placeholder("github-token", KEY, GITHUB), "other", "", " text"]


def test_other_leaves_of_an_event() -> None:
    event = {"type": "error", "error": {"message": f"bad key {GITHUB}"}, "password": PASSWORD, "pin": 12345678}
    _, (out,) = REDACTOR.answer(SSE, [sse.encode("error", json.dumps(event))])
    assert trace(GITHUB, out.decode()) is None
    assert trace(PASSWORD, out.decode()) is None
    assert json.loads(sse.parse(out)[0].data)["pin"] == placeholder("pin", KEY, "12345678")


def test_checksums_are_valid_and_header_types_stay() -> None:
    raw = bytes((4,)) + b"flag" + bytes((0,)) + bytes((11,)) + b":event-type" + bytes((7,)) + (5).to_bytes(2, "big") + b"chunk"
    body = eventstream.encode_raw(raw, json.dumps({"outputText": f"x {GITHUB}"}).encode())
    _, (out,) = REDACTOR.answer(AWS_STREAM, [body])
    (found,), end = eventstream.decode(out)
    assert end == len(out)
    assert found.raw_headers == raw
    assert json.loads(found.payload)["outputText"] == f"x {placeholder('github-token', KEY, GITHUB)}"


# -- bodies that are no streams ------------------------------------------------------------------------------------------


def test_json_body_keeps_its_spelling() -> None:
    body = b'{ "n": 1.0, "token" : "%s", "u":"\\u00e9" }' % GITHUB.encode()
    headers, (out,) = REDACTOR.answer([["content-type", "application/json"], ["Content-Length", str(len(body))]], [body])
    assert out == body.replace(GITHUB.encode(), placeholder("github-token", KEY, GITHUB).encode())
    assert headers[1] == ["Content-Length", str(len(out))]


@given(st.lists(st.integers(0, 120), max_size=6))
@settings(max_examples=100, deadline=None)
def test_chunk_boundaries_inside_a_secret(breaks: list[int]) -> None:
    body = f"line one\npassword={PASSWORD}\n{GITHUB} é\nlast".encode()
    chunks = [body[a:b] for a, b in zip([0, *places(body, breaks)], [*places(body, breaks), len(body)], strict=True)]
    _, out = REDACTOR.answer([], chunks)
    assert len(out) == len(chunks)
    assert b"".join(out).decode() == REDACTOR.text(body.decode())


def test_bytes_that_are_no_text() -> None:
    body = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20
    _, (out,) = REDACTOR.answer([["content-type", "image/png"]], [body])
    assert out is body
    _, (out,) = REDACTOR.answer([["content-type", "application/octet-stream"]], [b"\xff\xfe\x00" * 50 + GITHUB.encode() + b"\x00\xff"])
    assert trace(GITHUB, out.decode("latin-1")) is None
    assert out.startswith(b"\xff\xfe\x00" * 50)


def _bare(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


@pytest.mark.parametrize(
    ("name", "compress"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstandard.ZstdCompressor().compress), ("deflate", _bare)],
)
def test_content_encodings(name: str, compress: Any) -> None:
    for text, changed in ((f'{{"a":"{GITHUB}"}}', True), ('{"a":"fine"}', False)):
        packed = compress(text.encode())
        chunks = [packed[:10], packed[10:]]
        headers = [["content-type", "application/json"], ["Content-Encoding", name], ["content-length", str(len(packed))]]
        out_headers, out = REDACTOR.answer(headers, chunks)
        assert len(out) == 2
        if changed:
            assert b"".join(out).decode() == REDACTOR.text(text)
            assert out_headers == [["content-type", "application/json"], ["content-length", str(len(b"".join(out)))]]
        else:
            assert out_headers == headers
            assert all(a is b for a, b in zip(out, chunks, strict=True))


def test_a_stream_that_is_packed_chunk_by_chunk() -> None:
    stream = zlib.compressobj(wbits=31)
    chunks = [stream.compress(chunk) + stream.flush(zlib.Z_SYNC_FLUSH) for chunk in anthropic([GITHUB[:20], GITHUB[20:]])]
    _, out = REDACTOR.answer([*SSE, ["content-encoding", "gzip"]], chunks)
    assert len(out) == len(chunks)
    assert joined(read(b"".join(out), SSE)) == placeholder("github-token", KEY, GITHUB)
    assert all(sse.parse(chunk)[0].complete for chunk in out)


@pytest.mark.parametrize("encoding", ["gzip", "zstd", "x-secret"])
def test_what_cannot_be_unpacked_is_masked_whole(encoding: str) -> None:
    headers, out = REDACTOR.answer([["content-encoding", encoding], ["content-length", "999"]], [b"not what it says", GITHUB.encode()])
    assert PLACEHOLDER.fullmatch(out[0].decode())
    assert out[1] == b""
    assert headers == [["content-length", str(len(out[0]))]]


def test_a_bomb_is_masked_whole() -> None:
    bomb = gzip.compress(b"\0" * (70 * 1024 * 1024))
    _, (out,) = REDACTOR.answer([["content-encoding", "gzip"]], [bomb])
    assert PLACEHOLDER.fullmatch(out.decode())


# -- what broke off ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("carrier", "kind", "headers"), CARRIERS)
@pytest.mark.parametrize("secret", [GITHUB, KNOWN], ids=["token", "known"])
def test_a_stream_cut_at_every_byte_leaks_nothing(carrier: Any, kind: str, headers: list[list[str]], secret: str) -> None:
    text = payload(secret, kind)
    half = text.index(secret) + len(secret) // 2
    body = b"".join(carrier([text[:half], text[half:]], kind))
    step = 1 if headers is SSE else 7
    for end in range(len(body) // 3, len(body), step):
        _, (out,) = REDACTOR.answer(headers, [body[:end]])
        # Where the cut leaves nothing but the beginning of a token, its prefix tells; eleven characters of it do not make a key.
        assert trace(secret, everything(out, headers), 11 if secret is GITHUB else 8) is None, end


def everything(body: bytes, headers: list[list[str]]) -> str:
    """All text in a body, however it is wrapped, and the pieces put together."""
    if headers is SSE:
        events = [event.data for event in sse.parse(body)]
        values = []
        for data in events:
            try:
                values.append(json.loads(data + completion(data)))
            except ValueError:
                continue
        return body.decode("utf-8", "replace") + joined([value for value in values if isinstance(value, dict)])
    _, end = eventstream.decode(body)
    found = read(body[:end], headers)
    tail = body[end:].decode("latin-1")
    packed = tail.partition('"bytes": "')[2].partition('"')[0]
    tail += base64.b64decode(packed[: len(packed) // 4 * 4]).decode("latin-1") if packed and "REDACTED" not in packed else ""
    return joined(found) + "\n" + tail + "\n".join(strings(found))


def test_a_damaged_event_stream_is_scanned_as_text() -> None:
    body = bytearray(b"".join(converse([f"key {GITHUB} x"])))
    body[len(converse([])[0]) + 8] ^= 1  # the prelude checksum of the second message
    _, (out,) = REDACTOR.answer(AWS_STREAM, [bytes(body)])
    assert trace(GITHUB, out.decode("latin-1")) is None


def test_a_json_body_that_broke_off() -> None:
    body = f'{{"a": [1, 2], "password": "{PASSWORD}", "b": "{GITHUB[:20]}'.encode()
    _, (out,) = REDACTOR.answer([["content-type", "application/json"], ["content-length", "5000"]], [body])
    assert trace(PASSWORD, out.decode()) is None
    assert trace(GITHUB[:20], out.decode()) is None


def test_no_body() -> None:
    assert REDACTOR.answer([["content-encoding", "gzip"], ["Set-Cookie", "a=" + mixed(20)]], []) == (
        [["content-encoding", "gzip"], ["Set-Cookie", "a=" + placeholder("cookie", KEY, mixed(20))]],
        [],
    )
    assert REDACTOR.answer([], [b"", b""])[1] == [b"", b""]


@given(st.binary(max_size=300), st.sampled_from([SSE, AWS_STREAM, [["content-type", "application/json"]], []]))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_taken(body: bytes, headers: list[list[str]]) -> None:
    assert len(REDACTOR.answer(headers, [body, body])[1]) == 2


JSON = st.recursive(
    st.sampled_from(["a", 'q"\\', "é\n", 1, -2.5, 1e300, True, False, None]),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("ab"), inner),
)


@given(st.lists(JSON) | st.dictionaries(st.sampled_from("ab"), JSON), st.integers(1, 200))
def test_json_cut_anywhere_is_completed(value: Any, at: int) -> None:
    text = json.dumps(value)[:at]
    suffix = completion(text)
    if suffix:
        json.loads(text + suffix)
    else:  # whole already, or cut within an escape
        assert re.search(r"\\(?:u[0-9a-f]{0,3})?\Z", text) or json.loads(text) is not None


@given(st.text(alphabet='{}[]":,\\ab1 ', max_size=40))
def test_completion_makes_json_or_nothing(text: str) -> None:
    suffix = completion(text)
    assert not suffix or json.loads(text + suffix) is not None

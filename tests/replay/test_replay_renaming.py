"""Live values in recorded answers: in bodies, headers, streams, and across the cuts between chunks."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tachograph.format import eventstream, sse
from tachograph.replay.renaming import Renaming
from tachograph.replay.tape import Piece

OLD, NEW = "550e8400-e29b-41d4-a716-446655440000", "7c9e6679-7425-40de-944b-e07fc1f90ae7"
NAMES = {
    ("id", OLD): NEW, ("date", "10:00:05"): "23:59:59.5", ("epoch", "1764460800"): "1764461111", ("epoch", "1764460800.25"): "1764461111.5",
    ("port", "34567"): "45678", ("id", "/tmp/tmpab12cd34"): "/tmp/tmpzz99_x0y-longer", ("id", "3f2a9c1b"): "77aa01cc",
}  # fmt: skip
renaming = Renaming(lambda kind, value: NAMES.get((kind, value)))


def http(chunks: Sequence[bytes], **headers: str) -> list[Piece]:
    pairs = [[name.replace("_", "-"), value] for name, value in headers.items()]
    head = Piece(1, {"m": "head", "head": {"status": 200, "headers": pairs}})
    return [head, *(Piece(n, {"m": "chunk"}, data) for n, data in enumerate(chunks, 2)), Piece(99, {"m": "end", "state": "eof"})]


def body(pieces: Sequence[Piece]) -> bytes:
    return b"".join(piece.data for piece in pieces)


def headers(pieces: Sequence[Piece]) -> dict[str, str]:
    return dict(pieces[0].header["head"]["headers"])


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_json_across_chunks(size: int) -> None:
    said = {
        "id": OLD,
        "text": f"line\n{OLD}\tat 10:00:05",
        "created": 1764460800,
        "f": 1764460800.25,
        "inner": json.dumps({"id": OLD}),
        "n": 3,
    }
    data = json.dumps(said, indent=1).encode()
    out = renaming.answer("http", http(cut(data, size), content_type="application/json", content_length=str(len(data)), x_id=OLD))
    assert json.loads(body(out)) == {
        "id": NEW, "text": f"line\n{NEW}\tat 23:59:59.5", "created": 1764461111, "f": 1764461111.5, "inner": json.dumps({"id": NEW}), "n": 3,
    }  # fmt: skip
    assert headers(out)["content-length"] == str(len(body(out)))
    assert headers(out)["x-id"] == NEW
    assert len(out) == len(cut(data, size)) + 2


def test_what_holds_nothing_is_the_same_object() -> None:
    pieces = http([b'{"id": "other", "at": "10:00:06"}'], content_type="application/json")
    assert all(new is old for new, old in zip(renaming.answer("http", pieces), pieces, strict=True))


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_encodings_are_undone_where_something_changes(encoding: str) -> None:
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    pieces = http(cut(pack(json.dumps({"id": OLD}).encode()), 9), content_type="application/json", content_encoding=encoding)
    out = renaming.answer("http", pieces)
    assert json.loads(body(out)) == {"id": NEW}
    assert "content-encoding" not in headers(out)
    other = http([pack(b"{}")], content_encoding=encoding)
    assert renaming.answer("http", other)[1] is other[1]


def test_what_cannot_be_decoded_stays() -> None:
    pieces = http([b"no gzip at all " + OLD.encode()], content_encoding="gzip")
    assert body(renaming.answer("http", pieces)) == body(pieces)


def deltas(text: str, size: int) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text[at : at + size]}}
        for at in range(0, len(text), size)
    ]


@given(st.integers(1, 40), st.integers(1, 200))
@settings(max_examples=60)
def test_a_value_that_a_model_streams_in_pieces(piece: int, chunk: int) -> None:
    text = f"The order {OLD} of run 3f2a9c1b was paid at 10:00:05."
    events = [*deltas(text, piece), {"type": "message_stop", "created": 1764460800}]
    data = b"".join(sse.encode(event["type"], json.dumps(event)) for event in events)
    out = renaming.answer("http", http(cut(data, chunk), content_type="text/event-stream"))
    read = [json.loads(event.data) for event in sse.parse(body(out))]
    assert len(read) == len(events)
    assert "".join(event["delta"]["text"] for event in read[:-1]) == f"The order {NEW} of run 77aa01cc was paid at 23:59:59.5."
    assert read[-1]["created"] == 1764461111
    assert [event.event for event in sse.parse(body(out))] == [event["type"] for event in events]


@given(st.integers(1, 40), st.integers(1, 200), st.booleans())
@settings(max_examples=60)
def test_event_streams_get_new_frames(piece: int, chunk: int, wrapped: bool) -> None:
    text = f"The order {OLD} of run 3f2a9c1b."
    events = [*deltas(text, piece), {"type": "message_stop", "created": 1764460800}]
    data = b""
    for event in events:
        payload = json.dumps(event).encode()
        if wrapped:
            payload = json.dumps({"bytes": base64.b64encode(payload).decode()}).encode()
        data += eventstream.encode({":event-type": "chunk", ":message-type": "event"}, payload)
    out = renaming.answer("http", http(cut(data, chunk), content_type="application/vnd.amazon.eventstream"))
    messages, consumed = eventstream.decode(body(out))
    assert consumed == len(body(out))
    read = [json.loads(message.payload) for message in messages]
    if wrapped:
        read = [json.loads(base64.b64decode(each["bytes"])) for each in read]
    assert "".join(event["delta"]["text"] for event in read[:-1]) == f"The order {NEW} of run 77aa01cc."
    assert read[-1]["created"] == 1764461111


def test_ports_and_paths_in_headers_and_text() -> None:
    out = renaming.answer("http", http([b"saved /tmp/tmpab12cd34/x.txt\nport 34567\n"], location="http://127.0.0.1:34567/next"))
    assert headers(out)["location"] == "http://127.0.0.1:45678/next"
    assert body(out) == b"saved /tmp/tmpzz99_x0y-longer/x.txt\nport 45678\n"


def test_a_port_is_one_only_where_ports_stand() -> None:
    pieces = http([b'{"cents": 34567, "zip": "34567"}'], content_type="application/json")
    assert body(renaming.answer("http", pieces)) == body(pieces)


def test_masked_secrets_are_left_alone() -> None:
    pieces = http([b'{"key": "[REDACTED:token:3f2a9c1b]"}'], content_type="application/json")
    assert body(renaming.answer("http", pieces)) == body(pieces)


def test_names_that_could_hold_secrets_change_nothing() -> None:
    said = {"password": "hunter22", "token": OLD, "pin": 123456, "auth": "dXNlcjpwYXNz", "list": [{"name": "API_KEY", "value": "abc"}]}
    out = renaming.answer("http", http([json.dumps(said).encode()], content_type="application/json"))
    assert json.loads(body(out)) == {**said, "token": NEW}


def test_commands_by_output() -> None:
    half = len(OLD) // 2
    pieces = [
        Piece(1, {"m": "head", "head": {"pid": 34567, "lane": "main/proc-1/main"}}),
        Piece(2, {"m": "chunk", "fd": 0}, f"in {OLD}\n".encode()),
        Piece(3, {"m": "chunk", "fd": 1}, f"out {OLD[:half]}".encode()),
        Piece(4, {"m": "chunk", "fd": 2}, b"warning\n"),
        Piece(5, {"m": "chunk", "fd": 1}, f"{OLD[half:]}\n".encode()),
        Piece(6, {"m": "end", "state": "eof", "exit": 0}),
    ]
    out = renaming.answer("process", pieces)
    assert [piece.data for piece in out[1:4]] == [f"in {OLD}\n".encode(), f"out {NEW}".encode(), b"warning\n"]
    assert out[4].data == b"\n"
    assert out[0] is pieces[0]


def test_tools_and_errors() -> None:
    result = Piece(1, {"m": "result", "result": {"value": {"id": OLD, "at": 1764460800.25}, "exact": True}})
    out = renaming.answer("tool", [result])[0].header
    assert out == {"m": "result", "result": {"value": {"id": NEW, "at": 1764461111.5}, "exact": True}}
    text = Piece(1, {"m": "result", "result": {"text": True}}, f"wrote {OLD}".encode())
    assert renaming.answer("tool", [text])[0].data == f"wrote {NEW}".encode()
    error = {"type": "NotFound", "module": "shop.errors", "message": f"no order {OLD}", "args": [OLD], "errno": 2}
    failed = Piece(1, {"m": "fail", "state": "failed", "error": error})
    assert renaming.answer("http", [failed])[0].header["error"] == {**error, "message": f"no order {NEW}", "args": [NEW]}


def test_values_of_an_answer() -> None:
    found = set(renaming.values(http([f'{{"id": "{OLD}"}}'.encode()], x_run="run-3f2a9c1b")))
    assert {("uuid", OLD), ("hex", "3f2a9c1b")} <= found

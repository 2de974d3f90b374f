from __future__ import annotations

import doctest
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.exchange import jsonl
from tachograph.exchange.jsonl import Piece, loads, pieces

SPACE = b" \t\r\n"


def is_record(value: dict[str, Any]) -> bool:
    return "id" in value


def read(data: bytes) -> list[Piece]:
    return list(pieces(data, is_record=is_record))


def values(data: bytes) -> list[Any]:
    return [piece.value if piece.readable else piece.raw for piece in read(data)]


# Bytes in which every rule is likely to come up.
wire = st.lists(
    st.sampled_from(
        [b'{"id":1}', b'{"id":2,"of":{"id":3}}', b'{"x":[{"id":4}]}', b'{"id":"a\\"b{"}', b'{"id":', b'"', b"{", b"}", b"[1]",
         b"\\", b"\n", b"\r\n", b" ", b"\0", b"\0\0", b"\xef\xbb\xbf", "\u2028\u0085é".encode(), b"\xff", b"NaN", b"0"]
    ),
    max_size=24,
).map(b"".join)  # fmt: skip


def test_the_docstring_example() -> None:
    assert doctest.testmod(jsonl).failed == 0


@given(wire)
def test_pieces_tile_the_file(data: bytes) -> None:
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    for piece in read(data):
        assert not data[at : piece.offset].strip(SPACE), "bytes that belong to no piece"
        assert data[piece.offset : piece.offset + len(piece.raw)] == piece.raw
        assert piece.raw.strip(SPACE) == piece.raw != b""
        assert piece.line == data[: piece.offset].count(b"\n") + 1
        assert piece.value is None or piece.readable
        at = piece.offset + len(piece.raw)
    assert not data[at:].strip(SPACE)


@given(st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=8) | st.integers() | st.none(), max_size=3), max_size=6))
def test_whole_lines_are_what_they_were(rows: list[dict[str, Any]]) -> None:
    data = b"\n".join(json.dumps(row).encode() for row in rows)
    assert values(data) == rows


@given(st.lists(st.dictionaries(st.just("id"), st.text(max_size=8), min_size=1), min_size=1, max_size=5), st.integers(1, 400))
def test_records_behind_a_torn_one_are_found(rows: list[dict[str, Any]], keep: int) -> None:
    torn = json.dumps({"id": "torn", "nested": {"id": "not a record", "list": [{"id": 1}, {"id": 2}]}, "text": "x{y\\" * 9}).encode()
    found = values(torn[: min(keep, len(torn) - 1)] + b"".join(json.dumps(row).encode() for row in rows) + b"\n")
    assert found[-len(rows) :] == rows


def test_lines_end_in_line_feeds_only() -> None:
    row = {"id": "a\u2028b\u2029c\u0085d\x0be\x1cf"}
    assert values(json.dumps(row, ensure_ascii=False).encode()) == [row]


def test_a_missing_line_feed_a_run_of_nulls_and_a_truncated_tail() -> None:
    assert values(b'{"id":1}{"id":2} {"id":3}\n') == [{"id": 1}, {"id": 2}, {"id": 3}]
    assert values(b'\0\0\0{"id":1}\n{"id":2}\0\0') == [b"\0\0\0", {"id": 1}, {"id": 2}, b"\0\0"]
    assert values(b'{"id":1}\n{"id":2,"text":"half') == [{"id": 1}, b'{"id":2,"text":"half']


def test_what_is_nested_in_a_torn_record_is_no_record() -> None:
    torn = b'{"id":1,"of":{"id":2},"list":[{"id":3}'
    assert values(torn) == [torn[: torn.rindex(b"{")], {"id": 3}]  # nothing tells this one from a record that was spliced in
    assert values(torn + b"]") == [torn + b"]"]
    assert values(b'{"text":"x{"no":1}') == [b'{"text":"x{"no":1}']


def test_a_byte_order_mark_is_skipped_at_the_start_only() -> None:
    assert values(b'\xef\xbb\xbf{"id":1}\n') == [{"id": 1}]
    assert values(b'{"id":1}\n\xef\xbb\xbf{"id":2}\n') == [{"id": 1}, b"\xef\xbb\xbf", {"id": 2}]


def test_bytes_that_are_no_text_spoil_nothing() -> None:
    (piece,) = read(b'{"id":"caf\xe9 \xff"}')
    assert piece.value["id"].encode("utf-8", "surrogateescape") == b"caf\xe9 \xff"
    assert values(b'{"id":"\\ud83d"}') == [{"id": "\ud83d"}]
    assert Piece(offset=0, line=1, raw=b"\xff", readable=False).text == b"\xff"
    assert Piece(offset=0, line=1, raw=b"\0x", readable=False).text == "\0x"


@pytest.mark.parametrize(
    "raw",
    [b'{"a":1,"a":2}', b'{"a":NaN}', b"[1e400]", b"-Infinity", b"[" * 100_000, b"[" * 300 + b"]" * 300, b"", b"{", b"9" * 5000],
)
def test_what_two_readers_could_read_differently_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError):
        loads(raw)


@pytest.mark.parametrize("raw", [b"12345678901234567890123", b"0.1", b'{"a":{"b":[1,2.50,"\\u00e9"]}}', b"[" * 150 + b"]" * 150])
def test_what_is_read_is_exact(raw: bytes) -> None:
    assert loads(raw) == json.loads(raw)


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":"' + b"x" * 19_000_000 + b'"}',
        b'{"id":"' + b"x" * 19_000_000,
        b'{"a":' * 400_000,
        b'{"a":[1,' * 300_000,
        b'{"' * 1_000_000,
        b'{"id":1,"list":[' + b'{"id":2},' * 200_000,
        b"\0" * 5_000_000 + b'{"id":1}',
    ],
    ids=["long", "long torn", "deep", "deep lists", "quotes", "torn list", "nulls"],
)
def test_long_lines_take_time_in_proportion(line: bytes) -> None:
    start = time.process_time()
    assert sum(len(piece.raw) for piece in read(line + b"\n")) == len(line)
    assert time.process_time() - start < 5

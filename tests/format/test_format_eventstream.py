from __future__ import annotations

import struct
import uuid
from binascii import crc32

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given, settings
from hypothesis import strategies as st

from tachograph.format import eventstream
from tachograph.format.eventstream import decode, encode, encode_raw, iterate

header_names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
messages = st.tuples(st.dictionaries(header_names, st.text(max_size=80), max_size=5), st.binary(max_size=300))

UUID = uuid.UUID("12345678-1234-5678-1234-567812345678")
ALL_TYPES = b"".join(
    bytes((len(name),)) + name + value
    for name, value in [
        (b"yes", b"\x00"),
        (b"no", b"\x01"),
        (b"byte", b"\x02" + struct.pack(">b", -7)),
        (b"short", b"\x03" + struct.pack(">h", -700)),
        (b"int", b"\x04" + struct.pack(">i", -70_000)),
        (b"long", b"\x05" + struct.pack(">q", -7_000_000_000)),
        (b"bytes", b"\x06\x00\x03\xff\x00\x01"),
        (b"string", b"\x07\x00\x05caf\xc3\xa9"),
        (b"time", b"\x08" + struct.pack(">q", 1_700_000_000_123)),
        (b"uuid", b"\x09" + UUID.bytes),
    ]
)


def botocore_messages(body: bytes) -> list[tuple[dict[str, object], bytes]]:
    buffer = EventStreamBuffer()
    buffer.add_data(body)
    return [(message.headers, message.payload) for message in buffer]


@given(st.lists(messages, max_size=5), st.data())
def test_botocore_reads_the_same(wanted: list[tuple[dict[str, str], bytes]], data: st.DataObject) -> None:
    body = b"".join(encode(headers, payload) for headers, payload in wanted)
    cut = data.draw(st.integers(0, len(body)))
    got, consumed = decode(body[:cut])
    assert [(m.headers, m.payload) for m in got] == botocore_messages(body[:cut]) == wanted[: len(got)]
    assert consumed == (got[-1].end if got else 0) <= cut
    assert [m.start for m in got] == [0, *(m.end for m in got[:-1])][: len(got)]
    if cut == len(body):
        assert (len(got), consumed) == (len(wanted), cut)


def test_every_header_type_as_text_and_kept() -> None:
    body = encode_raw(ALL_TYPES, b"payload")
    ((message,), consumed) = decode(body)
    assert message.headers == {
        "yes": "true", "no": "false", "byte": "-7", "short": "-700", "int": "-70000", "long": "-7000000000",
        "bytes": "/wAB", "string": "café", "time": "1700000000123", "uuid": str(UUID),
    }  # fmt: skip
    assert consumed == len(body)
    assert encode_raw(message.raw_headers, message.payload) == body
    ((theirs, payload),) = botocore_messages(body)
    assert (theirs["bytes"], theirs["uuid"], theirs["long"], payload) == (
        b"\xff\x00\x01",
        UUID.bytes,
        -7_000_000_000,
        b"payload",
    )


@given(messages, messages, st.data())
@settings(max_examples=300)
def test_any_flipped_bit_is_damage(first: tuple[dict[str, str], bytes], second: tuple[dict[str, str], bytes], data: st.DataObject) -> None:
    good, victim = encode(*first), bytearray(encode(*second))
    bit = data.draw(st.integers(0, len(victim) * 8 - 1))
    victim[bit // 8] ^= 1 << bit % 8
    with pytest.raises(ValueError, match=f"at byte {len(good)}$"):
        decode(good + bytes(victim))


def test_messages_before_damage_are_given() -> None:
    stream = iterate(encode({"a": "b"}, b"1") + b"\x00" * 16)
    assert next(stream).payload == b"1"
    with pytest.raises(ValueError, match="prelude checksum"):
        next(stream)


@given(st.binary(max_size=200))
def test_random_bytes_are_nothing_or_damage(body: bytes) -> None:
    try:
        got, consumed = decode(body)
    except ValueError:
        return
    assert (got, consumed) == ([], 0)


def prelude(total: int, headers: int) -> bytes:
    lengths = struct.pack(">II", total, headers)
    return lengths + struct.pack(">I", crc32(lengths))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (prelude(2**32 - 1, 0), "out of range"),
        (prelude(16 + eventstream.MAX_PAYLOAD + 1, 0), "out of range"),
        (prelude(15, 0), "out of range"),
        (prelude(20, 5), "out of range"),
        (prelude(2**31, eventstream.MAX_HEADERS + 1), "headers are too many"),
        (encode_raw(b"\x01a\x0a", b""), "unknown value type 10"),
        (encode_raw(b"\x01a", b""), "bad headers"),
        (encode_raw(b"\x05a", b""), "cut short"),
        (encode_raw(b"\x01a\x07\x00\x09x", b""), "cut short"),
        (encode_raw(b"\x01a\x07\x00", b""), "cut short"),
        (encode_raw(b"\x01a\x05\x00", b""), "bad headers"),
        (encode_raw(b"\x01a\x09\x00", b""), "cut short"),
        (encode_raw(b"\x00\x00", b""), "without a name"),
        (encode_raw(b"\x01\xff\x00", b""), "bad headers"),
        (encode_raw(b"\x01a\x00\x01a\x01", b""), "twice"),
    ],
)
def test_damage_is_refused_with_its_place(body: bytes, why: str) -> None:
    ok = encode({}, b"")
    with pytest.raises(ValueError, match=rf"{why}.*message at byte {len(ok)}$"):
        decode(ok + body)


def test_a_large_message_that_is_only_announced_costs_nothing() -> None:
    assert decode(prelude(16 + eventstream.MAX_PAYLOAD, 0)) == ([], 0)


@pytest.mark.parametrize("headers", [{"": "x"}, {"n" * 256: "x"}, {"n": "x" * 65536}, {f"n{i}": "x" * 60_000 for i in range(3)}])
def test_headers_that_do_not_fit_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        encode(headers, b"")


def test_a_payload_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError):
        encode({}, bytes(eventstream.MAX_PAYLOAD + 1))

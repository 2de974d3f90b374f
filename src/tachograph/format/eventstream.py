"""AWS event stream (``application/vnd.amazon.eventstream``): bytes ⇄ messages.

Layout of a message, integers big-endian (smithy.io, "Amazon Event Stream"):

    total length u32 | headers length u32 | CRC-32 of these 8 bytes | headers | payload | CRC-32 of all before
    header = name length u8 | name | type u8 | value

Rules:

- Both checksums are checked and both lengths limited before anything is read with them. Damage raises ValueError
  that names the byte offset of the message; there is no resynchronising after it.
- A last message that is not all there is no damage: it is not consumed, so ``body[consumed:]`` is what is left of it.
- Header values that are not strings are given as text (``true``, ``-7``, base64 of bytes, milliseconds of a
  timestamp, a UUID). ``raw_headers`` are the header bytes as they came, so a message with another payload is
  ``encode_raw(message.raw_headers, payload)`` and loses no type.
"""

from __future__ import annotations

import base64
import struct
import uuid
from binascii import crc32
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Bytes. The limits that the AWS SDKs enforce.
MAX_HEADERS = 128 * 1024
MAX_PAYLOAD = 24 * 1024 * 1024

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_OVERHEAD = _PRELUDE.size + _CRC.size

_TRUE, _FALSE, _BYTES, _STRING, _UUID = 0, 1, 6, 7, 9
#: Types 2-5 are signed integers of 1, 2, 4 and 8 bytes; 8 is a timestamp in milliseconds since 1970.
_INTEGERS = {kind: struct.Struct(code) for kind, code in ((2, ">b"), (3, ">h"), (4, ">i"), (5, ">q"), (8, ">q"))}


@dataclass(frozen=True)
class Message:
    """One message; ``start`` and ``end`` are its byte offsets in the body it was read from."""

    headers: dict[str, str]
    payload: bytes
    start: int
    end: int
    raw_headers: bytes = field(default=b"", repr=False)


def decode(body: bytes) -> tuple[list[Message], int]:
    """All whole messages of ``body`` and the number of bytes they take. Raises ValueError on damage."""
    messages = list(iterate(body))
    return messages, messages[-1].end if messages else 0


def iterate(body: bytes) -> Iterator[Message]:
    """The whole messages one by one: those before a damaged one are given before ValueError is raised."""
    start = 0
    while len(body) - start >= _PRELUDE.size:
        total, headers_length, prelude_crc = _PRELUDE.unpack_from(body, start)
        if crc32(body[start : start + 8]) != prelude_crc:
            raise ValueError(f"event stream: the prelude checksum does not match, message at byte {start}")
        if headers_length > MAX_HEADERS:
            raise ValueError(f"event stream: {headers_length} bytes of headers are too many, message at byte {start}")
        if not 0 <= total - headers_length - _OVERHEAD <= MAX_PAYLOAD:
            raise ValueError(f"event stream: a message length of {total} is out of range, message at byte {start}")
        end = start + total
        if end > len(body):
            return
        if crc32(body[start : end - 4]) != _CRC.unpack_from(body, end - 4)[0]:
            raise ValueError(f"event stream: the message checksum does not match, message at byte {start}")
        headers_end = start + _PRELUDE.size + headers_length
        raw_headers = body[start + _PRELUDE.size : headers_end]
        try:
            headers = _headers(raw_headers)
        except (ValueError, IndexError, struct.error) as error:
            raise ValueError(f"event stream: bad headers ({error}), message at byte {start}") from error
        yield Message(headers, body[headers_end : end - 4], start, end, raw_headers)
        start = end


def encode(headers: Mapping[str, str], payload: bytes) -> bytes:
    """The bytes of one message with string headers. Raises ValueError where a name, value or the whole is too long."""
    raw = bytearray()
    for name, value in headers.items():
        name_bytes, value_bytes = name.encode(), value.encode()
        if not 1 <= len(name_bytes) <= 0xFF or len(value_bytes) > 0xFFFF:
            raise ValueError(f"event stream: the header {name[:64]!r} has a name or value of a length that does not fit")
        raw += bytes((len(name_bytes),)) + name_bytes + bytes((_STRING,)) + len(value_bytes).to_bytes(2, "big") + value_bytes
    return encode_raw(bytes(raw), payload)


def encode_raw(raw_headers: bytes, payload: bytes) -> bytes:
    """The bytes of one message with headers that are encoded already. Raises ValueError where either is too long."""
    if len(raw_headers) > MAX_HEADERS or len(payload) > MAX_PAYLOAD:
        raise ValueError(f"event stream: {len(raw_headers)} bytes of headers and {len(payload)} of payload do not fit")
    lengths = struct.pack(">II", _OVERHEAD + len(raw_headers) + len(payload), len(raw_headers))
    message = lengths + _CRC.pack(crc32(lengths)) + raw_headers + payload
    return message + _CRC.pack(crc32(message))


def _headers(raw: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    at = 0
    while at < len(raw):
        name, at = _take(raw, at + 1, raw[at])
        if not name:
            raise ValueError("a header without a name")
        key = name.decode()
        if key in headers:
            raise ValueError(f"{key[:64]!r} twice")
        headers[key], at = _value(raw, at + 1, raw[at])
    return headers


def _value(raw: bytes, at: int, kind: int) -> tuple[str, int]:
    if kind in (_TRUE, _FALSE):
        return ("true" if kind == _TRUE else "false"), at
    if kind in _INTEGERS:
        form = _INTEGERS[kind]
        return str(form.unpack_from(raw, at)[0]), at + form.size
    if kind == _UUID:
        value, at = _take(raw, at, 16)
        return str(uuid.UUID(bytes=value)), at
    if kind in (_BYTES, _STRING):
        length, at = _take(raw, at, 2)
        value, at = _take(raw, at, int.from_bytes(length, "big"))
        return (value.decode() if kind == _STRING else base64.b64encode(value).decode()), at
    raise ValueError(f"unknown value type {kind}")


def _take(raw: bytes, at: int, length: int) -> tuple[bytes, int]:
    value = raw[at : at + length]
    if len(value) != length:
        raise ValueError("cut short")
    return value, at + length

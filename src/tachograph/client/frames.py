"""The frames that client and host exchange over a unix socket (``docs/reference/client-protocol.md``).

    frame  = u32 header length, u32 payload length (big endian), header (JSON object, ASCII), payload (raw bytes)

JSON keeps the host safe from a hostile client (nothing is unpickled), and payloads stay raw so that a chunk of a stream is not
copied through base64. The host imports this module too, so both ends agree by construction.
"""

from __future__ import annotations

import json
import struct
from typing import Any, Callable, Dict, List, Optional, Tuple

_HEAD = struct.Struct(">II")
HEAD_SIZE = _HEAD.size

#: A header never carries content in bulk; a payload is at most one body. Both bound what a broken peer can make us allocate.
MAX_HEADER = 64 << 20
MAX_PAYLOAD = 1 << 30

# ASCII output: lone surrogates (which agents do produce) pass through as \\udXXX escapes instead of failing to encode.
_encoder = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":"), allow_nan=True)


def _make_dumps() -> Callable[[Any], str]:
    """``JSONEncoder.encode`` makes its C encoder anew at every call, which costs more than encoding a small header: make it once."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return _encoder.encode
    encode = make(None, _encoder.default, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True)
    return lambda value: "".join(encode(value, 0))


_dumps = _make_dumps()


class FrameError(ValueError):
    """A peer that does not speak this protocol."""


def pack(header: Dict[str, Any], payload: bytes = b"") -> bytes:
    """One frame."""
    head = _dumps(header).encode("ascii")
    return _HEAD.pack(len(head), len(payload)) + head + payload


class Splitter:
    """Cuts a byte stream into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._at = 0

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def pending(self) -> int:
        """Bytes received that are not a whole frame yet."""
        return len(self._buffer) - self._at

    def next_raw(self) -> Optional[Tuple[bytes, bytes]]:
        """The next whole frame as (header bytes, payload), or None."""
        buffer, at = self._buffer, self._at
        if len(buffer) - at < HEAD_SIZE:
            self._compact()
            return None
        head, body = _HEAD.unpack_from(buffer, at)
        if head > MAX_HEADER or body > MAX_PAYLOAD:
            raise FrameError("a frame larger than this protocol allows")
        end = at + HEAD_SIZE + head + body
        if len(buffer) < end:
            self._compact()
            return None
        start = at + HEAD_SIZE
        header, payload = bytes(buffer[start : start + head]), bytes(buffer[start + head : end])
        self._at = end
        return header, payload

    def frames(self) -> List[Tuple[Dict[str, Any], bytes]]:
        """All whole frames so far, headers parsed."""
        out: List[Tuple[Dict[str, Any], bytes]] = []
        while True:
            raw = self.next_raw()
            if raw is None:
                return out
            out.append((json.loads(raw[0]), raw[1]))

    def _compact(self) -> None:
        if self._at:
            del self._buffer[: self._at]
            self._at = 0

"""Content encodings, decoded with a limit: gzip, deflate, zstd, and br where a module for it is there (``brotli`` is installed with us; a platform may lack it).

Members and frames may follow each other. What cannot be decoded is masked whole by whoever asked, and its ``Content-Encoding`` goes with it,
so that a replay serves the mask as a plain body instead of bytes that no client can read.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Sequence
from itertools import islice
from typing import Any

import zstandard

#: Bytes of decoded body. Beyond, the body counts as not decodable.
LIMIT = 64 * 1024 * 1024


#: Bytes that tell whether a text has two of them a character.
_SAMPLE = 512


def wide(data: bytes) -> str:
    """The codec of a text in UTF-16 (``utf-16-le`` or ``utf-16-be``), by its byte order mark or, without one, by the zeros that ASCII has
    in every second byte; empty for everything else."""
    if data.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return ""  # four bytes a character
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16-le" if data[0] == 0xFF else "utf-16-be"
    sample = data[:_SAMPLE]
    first, second = sample[::2], sample[1::2]
    if len(second) >= 8 and 0 not in first and second.count(0) * 10 >= len(second) * 9:
        return "utf-16-le"
    if len(second) >= 8 and 0 not in second and first.count(0) * 10 >= len(first) * 9:
        return "utf-16-be"
    return ""


class UndecodableError(ValueError):
    """Damaged, too large, or an encoding that is not at hand."""


def decode(chunks: Sequence[bytes], encoding: str) -> list[bytes]:
    """What each chunk adds to the decoded body. A body cut short is decoded as far as it came. Raises ``UndecodableError``."""
    names = [name.strip().lower() for name in encoding.split(",") if name.strip()]
    parts = list(chunks)
    for name in reversed(names):
        if name != "identity":
            parts = _decode(parts, name)
    return parts


def _decode(chunks: Sequence[bytes], name: str) -> list[bytes]:
    out: list[bytes] = []
    total = 0
    decoder = _decoder(name, b"".join(islice(filter(None, chunks), 2))[:2])
    for chunk in chunks:
        try:
            piece = decoder.feed(chunk, LIMIT - total)
        except (zlib.error, zstandard.ZstdError, ValueError, EOFError) as error:
            raise UndecodableError(f"a body that is not {name}") from error
        total += len(piece)
        out.append(piece)
    return out


def _decoder(name: str, head: bytes) -> Any:
    if name in ("gzip", "x-gzip"):
        return _Zlib(31)
    if name == "deflate":
        # RFC 9110 says zlib; some servers send a bare deflate stream.
        is_zlib = len(head) >= 2 and head[0] & 0x0F == 8 and (head[0] << 8 | head[1]) % 31 == 0
        return _Zlib(15 if is_zlib else -15)
    if name == "zstd":
        return _Zstd()
    if name == "br":
        return _Brotli()
    raise UndecodableError(f"content encoding {name[:32]!r}")


class _Zlib:
    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._stream = zlib.decompressobj(wbits)

    def feed(self, data: bytes, room: int) -> bytes:
        out = b""
        while data:
            out += self._stream.decompress(data, room - len(out) + 1)
            if len(out) > room:
                raise UndecodableError("a body that is too large when decoded")
            data = self._stream.unused_data
            if not data.strip(b"\0"):  # some writers pad to a block, as tapes once needed
                break
            self._stream = zlib.decompressobj(self._wbits)  # gzip members may follow each other
        return out


class _Zstd:
    def __init__(self) -> None:
        self._stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj(read_across_frames=True)

    def feed(self, data: bytes, room: int) -> bytes:
        # Fed in pieces, so that a bomb is noticed before it has gone off.
        out = b""
        for at in range(0, len(data), 4096):
            out += self._stream.decompress(data[at : at + 4096])
            if len(out) > room:
                raise UndecodableError("a body that is too large when decoded")
        return out


class _Brotli:
    def __init__(self) -> None:
        for module in ("brotli", "brotlicffi"):
            try:
                self._stream = importlib.import_module(module).Decompressor()
            except ImportError:
                continue
            return
        raise UndecodableError("content encoding 'br': no module for it, pip install brotli")

    def feed(self, data: bytes, room: int) -> bytes:
        process = getattr(self._stream, "process", None) or self._stream.decompress
        out = b""
        for at in range(0, len(data), 4096):
            try:
                out += process(data[at : at + 4096])
            except Exception as error:
                raise UndecodableError("a body that is not br") from error
            if len(out) > room:
                raise UndecodableError("a body that is too large when decoded")
        return bytes(out)

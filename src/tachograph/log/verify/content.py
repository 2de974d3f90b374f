"""Step 8: with the session's key, every frame opens, and every reference is to a node that is there."""

from __future__ import annotations

from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from zstandard import ZstdDecompressor, ZstdError, frame_content_size

from .frames import HEADER
from .lines import Segment
from .result import Source, Verification

_MAX_FRAME = 256 << 20
#: Of a node: id (32 bytes), kind (1 byte), length of the payload (4 bytes).
_HEAD = 37


def check(store: Source, prefix: str, segments: list[Segment], session_id: str, data_key: bytes, out: Verification) -> None:
    """Call it when the frames are known to be where the lines say."""
    names: set[bytes] = set()
    inflate = ZstdDecompressor().decompress  # making one takes as long as a small frame does
    for segment in segments:
        file = f"{segment.number:08d}.content.pack"
        data = memoryview(store.read(prefix + file) if any(found for _, found, _ in segment.content) else b"")
        decrypt = AESGCM(HKDF(SHA256(), 32, None, b"tachograph/v1 segment " + data[8:HEADER]).derive(data_key)).decrypt
        place = f"tachograph/v1 frame {session_id} {segment.number} "
        for offset, found, uris in segment.content:
            for index, at, length in found:
                try:
                    box = decrypt(index.to_bytes(12, "big"), data[at + 4 : at + length], f"{place}{index}".encode())
                    # The decompressor's own bound does not hold where the frame states its size.
                    if frame_content_size(box) > _MAX_FRAME:
                        raise ValueError("is larger than any frame may be")
                    _names(inflate(box, max_output_size=_MAX_FRAME, allow_extra_data=False), names)
                except (InvalidTag, ZstdError, ValueError) as error:
                    what = "does not open with the session's key" if isinstance(error, InvalidTag) else str(error)
                    out.problem("content", file, at, f"the frame {what}")
            for field, name in uris:
                if _id(name) not in names:
                    out.problem("content", segment.file, offset, f"{field} refers to content that is in no frame")
    out.content = "opened" if out.verdict != "tampered" else "damaged"


def _names(data: bytes, names: set[bytes]) -> None:
    """Add the ids of a frame's nodes. Raises ``ValueError`` where it ends inside one."""
    at, size = 0, len(data)
    while at + _HEAD <= size:
        names.add(data[at : at + 32])
        at += _HEAD + int.from_bytes(data[at + 33 : at + _HEAD], "big")
    if at != size:
        raise ValueError("ends inside a node")


def _id(name: str) -> Any:
    """The bytes of an id that is spelt as ids are; else what is no id."""
    try:
        found = bytes.fromhex(name)
    except ValueError:
        return None
    return found if found.hex() == name else None

"""The content pack: a header, then frames (``docs/format/v1.md``, section 4). Pure: encryption is handed in.

pack   = "TACHOPK1" ‖ salt (32 bytes) ‖ frame*
frame  = u32 length of the box ‖ box
box    = AES-256-GCM( zstd( node* ) ), 16-byte tag at the end
node   = id (32 bytes) ‖ kind (1 byte) ‖ u32 length ‖ payload
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import zstandard

from .tree import Node

MAGIC = b"TACHOPK1"
SALT = 32
HEADER = len(MAGIC) + SALT
_LENGTH = struct.Struct(">I")
_NODE = struct.Struct(">32scI")

#: Nodes of one event beyond this go into a further frame.
FRAME = 8 << 20
#: What a reader will allocate for one frame; a node is at most BLOB or one canonical object.
MAX_FRAME = 256 << 20

# One of each, since making one costs as much as using it on a small frame; they are not for several threads at once.
_compressor = zstandard.ZstdCompressor(level=3)
_decompressor = zstandard.ZstdDecompressor()


def header(salt: bytes) -> bytes:
    """The first bytes of a pack."""
    return MAGIC + salt


def salt_of(data: bytes) -> bytes:
    """The salt of a pack's header. Raises ``ValueError`` for other bytes."""
    if len(data) < HEADER or data[: len(MAGIC)] != MAGIC:
        raise ValueError("not a content pack of version 1")
    return data[len(MAGIC) : HEADER]


def associated(session_id: str, segment: int, index: int) -> bytes:
    """What a frame is bound to: it cannot be moved to another place."""
    return f"tachograph/v1 frame {session_id} {segment} {index}".encode()


def groups(nodes: list[Node]) -> Iterator[list[Node]]:
    """Nodes in frames of about ``FRAME`` bytes."""
    group: list[Node] = []
    size = 0
    for node in nodes:
        if group and size + len(node.payload) > FRAME:
            yield group
            group, size = [], 0
        group.append(node)
        size += len(node.payload)
    if group:
        yield group


def plain(nodes: list[Node]) -> bytes:
    """A frame's content before encryption."""
    return _compressor.compress(b"".join(_NODE.pack(n.id, n.kind, len(n.payload)) + n.payload for n in nodes))


def framed(box: bytes) -> bytes:
    """A frame as stored."""
    return _LENGTH.pack(len(box)) + box


def nodes(compressed: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """(id, kind, payload) of the nodes of a decrypted frame. Raises ``ValueError`` for bytes that are none. Plain tuples: rebuilding a
    long session's prompt opens every frame, and is waited for."""
    return nodes_of(unpacked(compressed))


def unpacked(compressed: bytes) -> bytes:
    """The nodes of a decrypted frame, one behind the other. Raises ``ValueError``."""
    try:
        # The bound of ``decompress`` does not hold where the frame states its own size.
        if zstandard.frame_content_size(compressed) > MAX_FRAME:
            raise ValueError(f"a frame of more than {MAX_FRAME} bytes")
        return _decompressor.decompress(compressed, max_output_size=MAX_FRAME, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ValueError(f"a frame that does not decompress ({error})") from None


def nodes_of(data: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """As ``nodes``, of what ``unpacked`` gives. Raises ``ValueError``."""
    out = []
    at, size, unpack, head = 0, len(data), _NODE.unpack_from, _NODE.size
    while at < size:
        if at + head > size:
            raise ValueError("a frame that ends inside a node's head")
        name, kind, length = unpack(data, at)
        at += head
        end = at + length
        if end > size:
            raise ValueError("a frame that ends inside a node")
        out.append((name, kind, data[at:end]))
        at = end
    return out

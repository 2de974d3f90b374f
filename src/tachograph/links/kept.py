"""What ``tacho blame`` asks of every session of a repository, kept in the store's catalogue: the sessions need not be read again for it.

Each session's part is encrypted with a key that is derived from its own data key: nothing of it lies in clear, who may not read a session reads
nothing of it here, and a session that is shredded is shredded here, too. It is good for a session that has ended, at the size and root with which
the ledger says that it ended, and for no other.

    file = ( u32 length, id of a session (30 bytes), nonce (12 bytes), AES-256-GCM of zstd of JSON )*      (big endian)

A part that does not open, and a file that is not so, are as if they were not there.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import zstandard

from tachograph.core.errors import KeyUnavailableError, NotFoundError, TachographError
from tachograph.core.ports import Store
from tachograph.crypto import boxes
from tachograph.format import layout

from .anchors import Write, Written

FOLDER = f"{layout.CATALOGUE}blame/"
#: Of what is kept. Another one is made anew.
_VERSION = 1
#: Files from which on they become one.
_MANY = 16
#: Bytes of one part, unpacked.
_MOST = 256 << 20
_HEAD, _ID, _NONCE = struct.Struct(">I"), 30, boxes.NONCE


@dataclass(frozen=True)
class Head:
    """A commit that a session made, or that was made during a call of it. ``detail``: ``tree`` and ``patch_id``, where they are known."""

    action: str
    sha: str
    cause: str
    detail: dict[str, Any]


@dataclass(frozen=True)
class Sketch:
    """Of one session: where it worked, its commits, and what it wrote."""

    repo_url: str | None
    repo_sha: str | None
    heads: tuple[Head, ...]
    written: Written


def seal(sketch: Sketch, session_id: str, data_key: bytes, end: tuple[int, str]) -> bytes:
    """A part. ``end``: size and root of the session."""
    written = sketch.written
    said = {
        "v": _VERSION, "repo": [sketch.repo_url, sketch.repo_sha], "heads": [[one.action, one.sha, one.cause, one.detail] for one in sketch.heads],
        "began": written.began, "base": sorted(written.base),
        "writes": [[one.kind, one.seq, one.ts, one.path, one.tool, " ".join(one.tokens)] for one in written.writes],
    }  # fmt: skip
    plain = zstandard.ZstdCompressor().compress(json.dumps(said).encode())
    nonce = os.urandom(_NONCE)
    return session_id.encode() + nonce + boxes.wrap(_key(data_key), nonce, plain, _associated(session_id, end))


def unseal(part: bytes, session_id: str, data_key: bytes, end: tuple[int, str]) -> Sketch | None:
    """What was sealed; None where it is of another state of the session, or not what it should be."""
    try:
        box = boxes.unwrap(_key(data_key), part[_ID : _ID + _NONCE], part[_ID + _NONCE :], _associated(session_id, end))
        said = json.loads(zstandard.ZstdDecompressor().decompress(box, max_output_size=_MOST))
        if said["v"] != _VERSION:
            return None
        writes = [
            Write(session_id, kind, seq, ts, path, "", tool, tuple(tokens.split(" ")) if tokens else ())
            for kind, seq, ts, path, tool, tokens in said["writes"]
        ]
        written = Written(session_id, said["began"], writes, set(said["base"]))
        url, sha = said["repo"]
        return Sketch(url, sha, tuple(Head(*one) for one in said["heads"]), written)
    except (KeyUnavailableError, ValueError, KeyError, TypeError, zstandard.ZstdError):
        return None


def _key(data_key: bytes) -> bytes:
    return boxes.derive(data_key, b"tachograph/v1 blame")


def _associated(session_id: str, end: tuple[int, str]) -> bytes:
    return f"tachograph/v1 blame {session_id} {end[0]}:{end[1]}".encode()


class Shelf:
    """The files of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files: list[str] = []
        self.parts: dict[str, bytes] = {}
        for name in list(store.names(FOLDER)):
            try:
                data = store.read(name)
            except NotFoundError:
                continue  # it has become one with others
            self._files.append(name)
            self.parts.update((part[:_ID].decode("ascii", "replace"), part) for part in _parts(data))

    def add(self, parts: Iterable[bytes], there: Iterable[str]) -> None:
        """More parts. ``there``: the sessions that the store has; of others nothing stays when files are written anew."""
        fresh = list(parts)
        if not fresh:
            return
        merge = len(self._files) >= _MANY
        if merge:
            names = {part[:_ID] for part in fresh}
            fresh += [self.parts[one] for one in sorted(set(there) & self.parts.keys()) if one.encode() not in names]
        self._store.replace(f"{FOLDER}{os.urandom(8).hex()}", b"".join(_HEAD.pack(len(part)) + part for part in fresh))
        for name in self._files if merge else ():
            self._store.remove(name)


def _parts(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + _HEAD.size <= len(data):
        (length,) = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if not _ID + _NONCE < length <= len(data) - at:
            return
        yield data[at : at + length]
        at += length


def shelf(store: Store) -> Shelf | None:
    """What is kept; None where that cannot be read."""
    try:
        return Shelf(store)
    except TachographError:
        return None

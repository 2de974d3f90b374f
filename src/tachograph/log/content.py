"""Content of one session: values into frames, frames into the pack, and back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from tachograph.core.errors import FormatError, KeyUnavailableError
from tachograph.core.ports import AppendFile, Store
from tachograph.crypto.boxes import SegmentBox
from tachograph.format import layout, pack
from tachograph.format.tree import Digest, TreeReader, TreeWriter

from .appender import Appender


class ContentWriter(Appender):
    """The pack of one segment. ``put`` values, then ``seal`` them into frames that the next line refers to."""

    def __init__(self, file: AppendFile, session_id: str, segment: int, data_key: bytes, *, digest: Digest, salt: bytes) -> None:
        self._session_id = session_id
        self._data_key = data_key
        self._tree = TreeWriter(digest)
        super().__init__(file)
        self._begin(segment, salt)

    def next(self, file: AppendFile, segment: int, salt: bytes) -> None:
        """Go on in the pack of another segment. Content that is in an earlier one is referred to there."""
        self._open(file)
        self._begin(segment, salt)

    def _begin(self, segment: int, salt: bytes) -> None:
        self._segment = segment
        self._box = SegmentBox(self._data_key, salt)
        self._salt = salt
        self._index = 0
        self._size = pack.HEADER

    @property
    def size(self) -> int:
        """Bytes of this segment's pack, with what waits (and its header, though that is written with the first frame)."""
        return self._size

    def put(self, value: Any) -> bytes:
        """The id of a (redacted) value; its new nodes go into the next frame."""
        return self._tree.put(value)

    def seal(self) -> list[dict[str, Any]]:
        """Encrypt what was put since the last call. Returns where it will be, for the line: index, offset, length and SHA-256 of the
        frame as stored (and with the first one the salt, without which none would open), so that anyone can check the pack without a
        key."""
        out = []
        for group in pack.groups(self._tree.take()):
            box = self._box.seal(self._index, pack.plain(group), pack.associated(self._session_id, self._segment, self._index))
            stored = pack.framed(box)
            frame = {"n": self._index, "at": self._size, "len": len(stored), "sha256": hashlib.sha256(stored).hexdigest()}
            if not self._index:
                # With the first frame, and not before: a segment without content costs no sync of its pack.
                self.add(pack.header(self._salt))
                frame["salt"] = self._salt.hex()
            out.append(frame)
            self.add(stored)
            self._size += len(stored)
            self._index += 1
        return out


class ContentReader:
    """Rebuilds values of one session. Frames are opened when the first value is asked for."""

    def __init__(self, store: Store, session_id: str, data_key: Callable[[], bytes]) -> None:
        self._store = store
        self._session_id = session_id
        self._data_key = data_key
        self._frames: list[tuple[int, int, int, int]] = []  # segment, index, offset, length
        self._nodes: dict[bytes, tuple[bytes, bytes]] = {}
        self._tree: TreeReader | None = None

    def expect(self, segment: int, frames: list[dict[str, Any]]) -> None:
        """Tell of frames that a line refers to."""
        self._frames += [(segment, frame["n"], frame["at"], frame["len"]) for frame in frames]

    def get(self, name: str) -> Any:
        """The value of ``content:<hex>``."""
        return self._read(TreeReader.get, name)

    def shared(self, name: str) -> Any:
        """As ``get``, for who changes nothing: what values have in common is one object (``TreeReader.shared``)."""
        return self._read(TreeReader.shared, name)

    def _read(self, get: Callable[[TreeReader, bytes], Any], name: str) -> Any:
        try:
            return get(self._tree or self._opened(), bytes.fromhex(name.removeprefix("content:")))
        except KeyError:
            raise FormatError(f"content {name[:80]!r} is in no frame of session {self._session_id}; run tacho verify on it") from None
        except (ValueError, TypeError, IndexError, AttributeError, RecursionError) as error:
            raise FormatError(
                f"content {name[:80]!r} of session {self._session_id} does not decode ({error}); run tacho verify on it"
            ) from None

    def node(self, name: bytes) -> tuple[bytes, bytes]:
        """(kind, payload) of a node. Raises ``KeyError`` for one that is not there."""
        if self._tree is None:
            self._opened()
        return self._nodes[name]

    def _opened(self) -> TreeReader:
        self._nodes = self._open_all()
        self._tree = TreeReader(self._nodes.__getitem__)
        return self._tree

    def _open_all(self) -> dict[bytes, tuple[bytes, bytes]]:
        key = self._data_key()
        nodes: dict[bytes, tuple[bytes, bytes]] = {}
        segment_open, data, box = 0, b"", None
        for segment, index, at, length in self._frames:
            if segment != segment_open or box is None:
                name = layout.content(self._session_id, segment)
                data, segment_open = self._store.read(name), segment
                try:
                    box = SegmentBox(key, pack.salt_of(data))
                except ValueError as error:
                    raise FormatError(f"{error}, {self._store.url}/{name}; run tacho verify on the session") from None
            stored = data[at : at + length]
            try:
                plain = box.open(index, stored[4:], pack.associated(self._session_id, segment, index))
                for node, kind, payload in pack.nodes(plain):
                    nodes[node] = kind, payload
            except (ValueError, OverflowError, KeyUnavailableError) as error:
                raise FormatError(
                    f"{error}, {layout.content(self._session_id, segment)} offset {at}; run tacho verify {self._session_id}"
                ) from None
        return nodes

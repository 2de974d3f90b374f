"""RFC 6962 Merkle trees, section 2.1: leaf = SHA-256(0x00 ‖ data), node = SHA-256(0x01 ‖ left ‖ right)."""

from __future__ import annotations

import hashlib


def leaf(data: bytes) -> bytes:
    """The hash of a leaf; in a session the data is a line as stored, line feed included."""
    return hashlib.sha256(b"\x00" + data).digest()


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """An append-only tree that keeps one hash a level: enough for its root at any time."""

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []

    def add(self, leaf_hash: bytes) -> None:
        """Append a leaf's hash."""
        at = self.size
        while at & 1:
            leaf_hash = node(self._peaks.pop(), leaf_hash)
            at >>= 1
        self._peaks.append(leaf_hash)
        self.size += 1

    def root(self) -> bytes:
        """The root over all leaves so far (of none: SHA-256 of nothing)."""
        if not self._peaks:
            return hashlib.sha256(b"").digest()
        root = self._peaks[-1]
        for peak in reversed(self._peaks[:-1]):
            root = node(peak, root)
        return root

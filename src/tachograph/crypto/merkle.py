"""RFC 6962 Merkle trees, section 2.1: leaf = SHA-256(0x00 ‖ data), node = SHA-256(0x01 ‖ left ‖ right)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence


def leaf(data: bytes) -> bytes:
    """The hash of a leaf; in a session the data is a line as stored, line feed included."""
    return hashlib.sha256(b"\x00" + data).digest()


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """An append-only tree that keeps one hash a level: enough for its root at any time."""

    def __init__(self, size: int = 0, peaks: Iterable[bytes] = ()) -> None:
        """``size`` and ``peaks``: go on from where another one stood. Raises ``ValueError`` for peaks that no tree of this size has."""
        self.size = size
        self._peaks = list(peaks)
        if size < 0 or len(self._peaks) != size.bit_count() or any(len(peak) != 32 for peak in self._peaks):
            raise ValueError(f"not the peaks of a tree of {size} leaves")

    @property
    def peaks(self) -> tuple[bytes, ...]:
        """The roots of the largest whole subtrees, the largest first: all that a tree needs to grow. As many as ``size`` has bits set."""
        return tuple(self._peaks)

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


class Tree:
    """A tree over leaves that are all there: its root and its peaks at any length. Nodes are computed when they are first asked for."""

    def __init__(self, leaf_hashes: Iterable[bytes] = ()) -> None:
        self._rows: list[list[bytes]] = [list(leaf_hashes)]
        """By level, from the leaves: the roots of all whole subtrees, as far as they were asked for."""

    @property
    def size(self) -> int:
        return len(self._rows[0])

    def add(self, leaf_hash: bytes) -> None:
        """Append a leaf's hash."""
        self._rows[0].append(leaf_hash)

    def peaks_at(self, size: int) -> list[bytes]:
        """The peaks over the first ``size`` leaves, as ``Frontier.peaks``. Raises ``ValueError`` where it has fewer."""
        if not 0 <= size <= self.size:
            raise ValueError(f"{size} leaves of {self.size}")
        self._grow(size)
        # The subtree of 2^level leaves that ends the largest multiple of 2^level leaves.
        return [self._rows[level][(size >> level) - 1] for level in reversed(range(size.bit_length())) if size >> level & 1]

    def root_at(self, size: int) -> bytes:
        """The root over the first ``size`` leaves. Raises ``ValueError`` where it has fewer."""
        return Frontier(size, self.peaks_at(size)).root()

    def _grow(self, size: int) -> None:
        for level in range(size.bit_length() - 1):
            if level + 1 == len(self._rows):
                self._rows.append([])
            below, row = self._rows[level], self._rows[level + 1]
            done, needed = len(row), size >> (level + 1)
            if done < needed:
                pairs = zip(below[2 * done : 2 * needed : 2], below[2 * done + 1 : 2 * needed : 2], strict=True)
                row += [hashlib.sha256(b"\x01" + left + right).digest() for left, right in pairs]


def path(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The inclusion proof of a leaf (RFC 6962, section 2.1.1): the hashes beside its way up, from its sibling to the root's child.
    ``leaves``: the hashes of all leaves, ``index``: from 0. Raises ``ValueError`` for an index outside."""
    return paths(leaves, [index])[0]


def paths(leaves: Sequence[bytes], indexes: Iterable[int]) -> list[list[bytes]]:
    """As ``path``, for several leaves of one tree, whose inner hashes are each computed once."""
    known: dict[tuple[int, int], bytes] = {}

    def root(first: int, last: int) -> bytes:
        if last - first == 1:
            return leaves[first]
        if (first, last) not in known:
            middle = _middle(first, last)
            known[first, last] = node(root(first, middle), root(middle, last))
        return known[first, last]

    out = []
    for index in indexes:
        if not 0 <= index < len(leaves):
            raise ValueError(f"leaf {index} of a tree of {len(leaves)}")
        found: list[bytes] = []
        first, last = 0, len(leaves)
        while last - first > 1:
            middle = _middle(first, last)
            found.append(root(middle, last) if index < middle else root(first, middle))
            first, last = (first, middle) if index < middle else (middle, last)
        out.append(found[::-1])
    return out


def _middle(first: int, last: int) -> int:
    """Where a range of leaves is split: the left part has the largest power of two that is less than all."""
    return first + (1 << (last - first - 1).bit_length() - 1)


def root_of(leaf_hash: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes:
    """The root that a leaf and its inclusion proof lead to (RFC 9162, section 2.1.3.2). Raises ``ValueError`` for a proof that is none
    for this place in a tree of this size."""
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} of a tree of {size}")
    at, last, found = index, size - 1, leaf_hash
    for beside in proof:
        if not last:
            raise ValueError("a proof that is too long")
        if at & 1 or at == last:
            found = node(beside, found)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found = node(found, beside)
        at, last = at >> 1, last >> 1
    if last:
        raise ValueError("a proof that is too short")
    return found


def _root(leaves: Sequence[bytes]) -> bytes:
    tree = Frontier()
    for one in leaves:
        tree.add(one)
    return tree.root()

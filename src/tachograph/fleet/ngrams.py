"""Filters: whether a session may hold a text, without its content, and without telling anybody else.

A filter is a Bloom filter of n-grams of all that a session's frames hold. An n-gram's places in it are taken from AES (a pseudo-random
function) of the n-gram and of the session, under a key that comes from the store's content key. So who has no key can neither confirm a guess nor see
that two sessions share something; how many different n-grams there are, the size tells, as that of the content does.

Not all n-grams are kept, but the ones with the smallest hash among ``WINDOW`` neighbours (winnowing; Schleimer, Wilkerson and Aiken 2003): a text of
``LEAST`` bytes has at least one whole window, whose smallest is kept wherever the text stands. Of shorter texts a filter says nothing. Upper-case ASCII
letters count as lower-case ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tachograph.core.errors import UsageError
from tachograph.crypto import boxes

try:
    import numpy as np
except ImportError:
    raise UsageError("a search needs numpy, which is not here; pip install 'tachograph[catalogue]'") from None

#: Bytes of an n-gram; n-grams of a window; bytes of the shortest text of which a filter tells anything.
N, WINDOW = 6, 4
LEAST = N + WINDOW - 1
#: Of the bits of a filter, set at most. With two places an n-gram, one in eight that is not there seems to be.
FULL = 0.35
#: Bits.
_SMALLEST, _LARGEST = 1 << 9, 1 << 27
#: Bytes that are looked at in one go, so that intermediate results stay in a processor's cache.
_CHUNK = 1 << 17
_MASK = np.uint64((1 << 8 * N) - 1)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.arange(256, dtype=np.uint8)
_FOLD[ord("A") : ord("Z") + 1] += 32

Array = Any  # of numpy, whose own types say little here


def key_of(content_key: bytes) -> bytes:
    """The key of a store's filters."""
    return boxes.derive(content_key, b"tachograph/v1 search filters")


def build(key: bytes, session_id: str, parts: Iterable[bytes]) -> bytes:
    """The filter of a session whose contents are in these byte strings."""
    grams = [found for part in parts if (found := _kept(part)).size]
    if not grams:
        return bytes(_SMALLEST // 8)
    places = _places(key, np.concatenate(grams), np.frombuffer(_tag(session_id), "<u8"))
    size = _SMALLEST
    while size < 4 * len(places) * 2 and size < _LARGEST:
        size *= 2
    bits = np.zeros(size, bool)
    bits[(places & np.uint32(size - 1)).ravel()] = True
    while size > _SMALLEST:
        half = bits[: size // 2] | bits[size // 2 :]
        if np.count_nonzero(half) > FULL * half.size:
            break
        bits, size = half, size // 2
    return np.packbits(bits, bitorder="little").tobytes()


def asked(texts: Iterable[str]) -> Array:
    """The n-grams that are in each session that holds all of these texts; none where they are too short to tell."""
    found = [_kept(text.encode("utf-8", "surrogatepass")) for text in texts]
    return np.unique(np.concatenate([*found, np.zeros(0, np.uint64)]))


def may_hold(key: bytes, grams: Array, session_ids: Sequence[str], filters: Sequence[bytes]) -> list[bool]:
    """Of each session, whether it may hold all of these n-grams. An empty filter says nothing."""
    if not grams.size or not filters:
        return [True] * len(filters)
    sizes = np.array([len(each) for each in filters], np.int64)
    known = np.flatnonzero(sizes)
    data = np.frombuffer(b"".join(filters), np.uint8)
    starts = (np.cumsum(sizes) - sizes)[known]
    tags = np.frombuffer(b"".join(_tag(session_ids[int(number)]) for number in known), "<u8")
    masks = (sizes[known] * 8 - 1).astype(np.uint32)
    good = np.ones(len(known), bool)
    for gram in grams:
        left = np.flatnonzero(good)
        if not left.size:
            break
        places = _places(key, np.full(left.size, gram, np.uint64), tags[left])
        for at in range(2):
            place = places[:, at] & masks[left]
            good[left] &= (data[starts[left] + (place >> 3)] >> (place & 7).astype(np.uint8) & 1).astype(bool)
    answer = np.ones(len(filters), bool)
    answer[known] = good
    return [bool(each) for each in answer]


def _kept(data: bytes) -> Array:
    """The n-grams of a byte string that are kept, each as a number, some of them several times."""
    out = []
    # Each chunk begins early enough that no window is lost between two.
    for at in range(0, max(len(data) - LEAST + 1, 0), _CHUNK):
        out.append(_windows(data[at : at + _CHUNK + LEAST - 1]))
    return np.concatenate(out) if out else np.zeros(0, np.uint64)


def _windows(data: bytes) -> Array:
    if len(data) < LEAST:
        return np.zeros(0, np.uint64)
    folded = np.zeros(len(data) + 8, np.uint8)
    np.take(_FOLD, np.frombuffer(data, np.uint8), out=folded[: len(data)])
    count = len(data) - N + 1
    grams = np.ndarray((count,), "<u8", folded.data, 0, (1,)) & _MASK
    hashes = ((grams * _MIX) >> np.uint64(32)).astype(np.uint32)
    pairs = np.minimum(hashes[:-1], hashes[1:])
    least = np.minimum(pairs[:-2], pairs[2:])
    keep = np.zeros(count, bool)
    for at in range(WINDOW):
        keep[at : at + least.size] |= hashes[at : at + least.size] == least
    return grams[keep]


def _places(key: bytes, grams: Array, tags: Array) -> Array:
    """Two places of each n-gram, as 32-bit numbers. One tag for all, or one for each."""
    blocks: Array = np.empty((len(grams), 2), "<u8")
    blocks[:, 0], blocks[:, 1] = grams, tags
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - one block each: a function, no message
    return np.frombuffer(cipher.update(memoryview(blocks).cast("B")), "<u4").reshape(-1, 4)[:, :2]


def _tag(session_id: str) -> bytes:
    return hashlib.sha256(session_id.encode()).digest()[:8]

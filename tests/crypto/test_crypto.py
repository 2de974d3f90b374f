from __future__ import annotations

import base64
import hashlib
import os

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from tachograph.core.errors import KeyUnavailableError
from tachograph.crypto import boxes, keys, merkle, note, wraps
from tachograph.crypto.ring import Ring


def naive_root(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, as written."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return merkle.node(naive_root(leaves[:k]), naive_root(leaves[k:]))


@given(st.lists(st.binary(max_size=8), max_size=70))
def test_the_frontier_has_the_root_of_rfc_6962(data: list[bytes]) -> None:
    frontier = merkle.Frontier()
    for item in data:
        frontier.add(merkle.leaf(item))
    assert frontier.root() == naive_root([merkle.leaf(item) for item in data])
    assert frontier.size == len(data)


def test_the_empty_tree_and_single_leaf_of_rfc_6962() -> None:
    frontier = merkle.Frontier()
    assert frontier.root().hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    frontier.add(merkle.leaf(b""))
    assert frontier.root().hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"


def test_a_note_opens_with_its_key_only() -> None:
    key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    point = note.Checkpoint("tachograph/v1/ses_X", 7, b"\1" * 32)
    signed = note.sign(point, "tachograph/k", key)
    assert note.open_note(signed, key.public_key().public_bytes_raw()) == point
    with pytest.raises(ValueError, match="no signature"):
        note.open_note(signed, other.public_key().public_bytes_raw())


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_no_flipped_byte_of_a_note_passes(place: int, flip: int) -> None:
    key = Ed25519PrivateKey.from_private_bytes(b"s" * 32)
    point = note.Checkpoint("tachograph/v1/ses_X", 7, b"\1" * 32)
    data = note.sign(point, "tachograph/k", key).encode()
    at = place % len(data)
    changed = (data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]).decode("utf-8", "replace")
    try:
        assert note.open_note(changed, key.public_key().public_bytes_raw()) == point
        assert data[at] in b"\n"  # only a line ending of the signature block can be spelt otherwise
    except ValueError:
        pass


def test_the_key_id_is_the_one_of_the_signed_note_specification() -> None:
    public = bytes(range(32))
    expected = hashlib.sha256(b"example.com/foo\n\x01" + public).digest()[:4]
    encoded = base64.b64encode(b"\x01" + public).decode()
    assert note.verifier("example.com/foo", public) == f"example.com/foo+{expected.hex()}+{encoded}"


def test_a_key_file_round_trips_and_its_repr_tells_nothing() -> None:
    key = keys.generate(os.urandom)
    assert keys.load(keys.dump(key), "here") == key
    assert key.kek.hex() not in repr(key)
    assert base64.b64encode(key.kek).decode() not in repr(key)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"v":1,"type":"tachograph-key","kek":"AA==","seed":"AA=="}', b"\xff"])
def test_a_broken_key_file_is_one_clear_line(data: bytes) -> None:
    with pytest.raises(KeyUnavailableError, match="TACHO_KEY") as error:
        keys.load(data, "/somewhere/key.json")
    assert "\n" not in str(error.value)


def test_a_wrap_opens_with_the_right_key_for_the_right_name_only() -> None:
    key, other = keys.generate(os.urandom), keys.generate(os.urandom)
    made = Ring(key).wrap([wraps.key_file_recipient(key)], "sto_A", "ses_A", b"d" * 32, os.urandom)

    def opened(ring: Ring, name: str) -> bytes:
        return ring.open("sto_A", name, list(made.values()), "f", good=lambda _: True)

    assert opened(Ring(key), "ses_A") == b"d" * 32
    with pytest.raises(KeyUnavailableError, match=other.id):
        opened(Ring(other), "ses_A")
    with pytest.raises(KeyUnavailableError):
        opened(Ring(key), "ses_B")


def test_a_frame_opens_at_its_own_place_only() -> None:
    box = boxes.SegmentBox(b"k" * 32, b"s" * 32)
    sealed = box.seal(3, b"plain", b"place")
    assert box.open(3, sealed, b"place") == b"plain"
    for index, place in ((4, b"place"), (3, b"other")):
        with pytest.raises(KeyUnavailableError):
            box.open(index, sealed, place)

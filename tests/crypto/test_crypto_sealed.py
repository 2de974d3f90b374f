"""Sealed boxes: only the private key opens them, where they were put, as they were put."""

from __future__ import annotations

import os

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from tachograph.core.errors import FormatError, KeyUnavailableError
from tachograph.crypto import keys, sealed, vaultkeys

KEY = vaultkeys.VaultKey(bytes(range(32)))


@given(st.binary(max_size=2000), st.binary(max_size=50))
def test_what_was_sealed_is_opened(plain: bytes, associated: bytes) -> None:
    box = sealed.seal(KEY.public, os.urandom(32), plain, associated)
    assert sealed.open_box(KEY.private, box, associated) == plain
    assert len(plain) < 8 or plain not in box


def test_the_box_is_as_the_format_says() -> None:
    ephemeral = b"\x07" * 32
    box = sealed.seal(KEY.public, ephemeral, b"hello", b"place")
    mine = X25519PrivateKey.from_private_bytes(ephemeral).public_key().public_bytes_raw()
    assert box[:32] == mine
    shared = X25519PrivateKey.from_private_bytes(KEY.private).exchange(X25519PublicKey.from_public_bytes(mine))
    key = HKDF(SHA256(), 32, mine + KEY.public, b"tachograph/v1 vault").derive(shared)
    assert AESGCM(key).decrypt(bytes(12), box[32:], b"place") == b"hello"


@given(st.data())
def test_any_change_is_found(data: st.DataObject) -> None:
    box = bytearray(sealed.seal(KEY.public, b"\x07" * 32, b"hello", b"place"))
    box[data.draw(st.integers(0, len(box) - 1))] ^= 1 << data.draw(st.integers(0, 6))
    with pytest.raises(KeyUnavailableError):
        sealed.open_box(KEY.private, bytes(box), b"place")


@pytest.mark.parametrize("box", [b"", b"x" * 31, bytes(32), bytes(60), b"\x01" + bytes(80)])
def test_what_is_no_box_is_refused(box: bytes) -> None:
    with pytest.raises(KeyUnavailableError):
        sealed.open_box(KEY.private, box, b"")


def test_another_key_or_place_opens_nothing() -> None:
    box = sealed.seal(KEY.public, os.urandom(32), b"hello", b"place")
    with pytest.raises(KeyUnavailableError):
        sealed.open_box(os.urandom(32), box, b"place")
    with pytest.raises(KeyUnavailableError):
        sealed.open_box(KEY.private, box, b"another")


def test_a_key_file_comes_back_and_shows_nothing() -> None:
    assert vaultkeys.load(vaultkeys.dump(KEY), "x") == KEY
    assert "\\x" not in repr(KEY)
    good = vaultkeys.dump(KEY)
    for bad in (
        b"",
        b"[]",
        b"{}",
        good.replace(b'"v": 1', b'"v": 2'),
        good.replace(KEY.id.encode(), b"0" * 16),
        keys.dump(keys.generate(os.urandom)),
    ):
        with pytest.raises(KeyUnavailableError, match="not the private key of a vault, there"):
            vaultkeys.load(bad, "there")


def test_a_public_key_counts_only_with_the_signature_of_the_store() -> None:
    owner, other = keys.generate(os.urandom), keys.generate(os.urandom)
    data = vaultkeys.publish(KEY.public, "sto_1", owner)
    assert vaultkeys.published(data, "sto_1", frozenset({owner.public()}), "x") == KEY.public
    forged = vaultkeys.publish(vaultkeys.generate(os.urandom).public, "sto_1", other)
    for bad, store in ((forged, "sto_1"), (data, "sto_2"), (b"{}", "sto_1"), (b"", "sto_1"), (data.replace(b'"v": 1', b'"v": 2'), "sto_1")):
        with pytest.raises(FormatError, match="somebody changed it"):
            vaultkeys.published(bad, store, frozenset({owner.public()}), "x")

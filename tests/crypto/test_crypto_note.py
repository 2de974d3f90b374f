"""A note has one spelling: every other byte string is refused."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tachograph.crypto import note

KEY = Ed25519PrivateKey.from_private_bytes(b"s" * 32)
PUBLIC = KEY.public_key().public_bytes_raw()
POINT = note.Checkpoint("tachograph/v1/ses_X", 7, b"\1" * 32)
SIGNED = note.sign(POINT, "tachograph/k", KEY)


@pytest.mark.parametrize("flip", [1, 2, 4, 8, 16, 32, 64, 128])
def test_each_flipped_bit_is_refused(flip: int) -> None:
    data = SIGNED.encode()
    for at in range(len(data)):
        changed = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
        with pytest.raises(ValueError):
            note.open_note(changed.decode("utf-8"), PUBLIC)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1],
        lambda text: text + "\n",
        lambda text: text + " ",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n— ", "\n—  "),
        lambda text: text.replace("7\n", "07\n"),
        lambda text: text.replace("=\n", "==\n"),
        lambda text: text.replace("=\n", "\n"),
        lambda text: text[:-1] + "\x85\n",
        lambda text: text[:-1] + " \n",
        lambda text: "",
        lambda text: "\n\n",
        lambda text: "\n\n— tachograph/k AAAA\n",
        lambda text: text.partition("\n\n")[0] + "\n\n\n",
    ],
)
def test_another_spelling_is_refused(change: object) -> None:
    assert callable(change)
    with pytest.raises(ValueError):
        note.open_note(change(SIGNED), PUBLIC)


def test_a_note_with_a_second_signature_opens() -> None:
    """A witness's, say: who it is by is none of our business, ours is there."""
    other = note.sign(POINT, "witness", Ed25519PrivateKey.from_private_bytes(b"w" * 32)).splitlines(keepends=True)[-1]
    assert note.open_note(SIGNED + other, PUBLIC) == POINT
    text, _, mine = SIGNED.partition("\n\n")
    assert note.open_note(f"{text}\n\n{other}{mine}", PUBLIC) == POINT


def test_one_of_several_trusted_keys_is_enough() -> None:
    others = [Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32).public_key().public_bytes_raw() for n in range(3)]
    assert note.open_note(SIGNED, frozenset({*others, PUBLIC})) == POINT
    for none in (frozenset(others), frozenset[bytes]()):
        with pytest.raises(ValueError, match="no signature by"):
            note.open_note(SIGNED, none)


@pytest.mark.parametrize("size", [0, 1, 10**18])
def test_round_trip(size: int) -> None:
    point = note.Checkpoint(note.origin("ses_Y"), size, bytes(range(32)))
    assert note.open_note(note.sign(point, "n", KEY), PUBLIC) == point

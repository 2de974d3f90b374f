"""Our notes by others' rules: published vectors open here, and ours open in a parser written from the specifications alone.

The vectors: the key and note in the documentation and tests of Go's golang.org/x/mod/sumdb/note, and the example key of
https://c2sp.org/signed-note. The rules: https://c2sp.org/signed-note and https://c2sp.org/tlog-checkpoint.
"""

from __future__ import annotations

import base64
import hashlib
import unicodedata

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tachograph.crypto import note
from tachograph.log.verify import public_key

VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
SIGNATURE = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
OTHER_VKEYS = (
    "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop",
    "TEST+7997405c+AQcC+FTVKf0jlTdHDY3rbevmnKxxPjigCXlVtGe6RIr6",  # its base64 holds a plus sign
)
#: The published seed that signed it: for showing that we sign the same bytes.
SEED = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr" + "+Y7hfZx09iUvxdXHKDFz")[1:]


def opened_by_the_rules(signed: str, vkey: str) -> str:
    """The text of a signed note, if the key signed it; of our code this uses nothing. ``AssertionError`` for what is no note."""
    assert all(char == "\n" or ord(char) >= 0x20 for char in signed)
    text, separator, signatures = signed.rpartition("\n\n")
    assert separator
    assert signatures.endswith("\n")
    text += "\n"
    name, key_id, material = vkey.split("+", 2)
    key = base64.b64decode(material, validate=True)
    assert (key[0], len(key)) == (1, 33)
    assert hashlib.sha256(name.encode() + b"\n" + key).digest()[:4].hex() == key_id
    verified = False
    for line in signatures.removesuffix("\n").split("\n"):
        dash, signer, encoded = line.split(" ")
        assert dash == "\u2014"
        assert signer
        assert not any(char == "+" or unicodedata.category(char) == "Zs" for char in signer)
        blob = base64.b64decode(encoded, validate=True)
        assert len(blob) > 4
        if (signer, blob[:4].hex()) == (name, key_id):
            Ed25519PublicKey.from_public_bytes(key[1:]).verify(blob[4:], text.encode())
            verified = True
    assert verified
    return text


def checkpoint_by_the_rules(text: str) -> tuple[str, int, bytes]:
    lines = text.split("\n")
    assert lines.pop() == ""
    assert len(lines) >= 3
    assert all(lines)
    assert lines[1].isascii()
    assert lines[1].isdigit()
    assert str(int(lines[1])) == lines[1]
    root = base64.b64decode(lines[2], validate=True)
    assert len(root) == 32
    return lines[0], int(lines[1]), root


def test_the_published_note_is_signed_by_the_published_key() -> None:
    signed = f"{TEXT}\n— PeterNeumann {SIGNATURE}\n"
    assert opened_by_the_rules(signed, VKEY) == TEXT
    public = public_key(VKEY)
    assert note.verifier("PeterNeumann", public) == VKEY
    # Its text is no checkpoint, so that is where we stop; with a changed one we stop at the same place.
    with pytest.raises(ValueError, match=r"size is no number|an origin, a size and a root"):
        note.open_note(signed, public)


def test_a_checkpoint_signed_by_the_published_key_opens_and_ours_are_the_same_bytes() -> None:
    key = Ed25519PrivateKey.from_private_bytes(SEED)
    assert key.public_key().public_bytes_raw() == public_key(VKEY)
    assert base64.b64encode(note.key_id("PeterNeumann", public_key(VKEY)) + key.sign(TEXT.encode())).decode() == SIGNATURE
    point = note.Checkpoint("example.com/behind-the-sofa", 20852163, bytes(range(32)))
    assert note.open_note(note.sign(point, "PeterNeumann", key), public_key(VKEY)) == point


@pytest.mark.parametrize("vkey", OTHER_VKEYS)
def test_published_keys_are_read_and_written(vkey: str) -> None:
    assert note.verifier(vkey.partition("+")[0], public_key(vkey)) == vkey


@pytest.mark.parametrize("size", [0, 1, 9, 10, 20852163, 10**18])
@pytest.mark.parametrize("log", ["ledger", "ses_01K0000000000000000000000A"])
def test_our_notes_open_by_the_rules(log: str, size: int) -> None:
    key = Ed25519PrivateKey.from_private_bytes(b"s" * 32)
    public = key.public_key().public_bytes_raw()
    point = note.Checkpoint(note.origin(log), size, hashlib.sha256(str(size).encode()).digest())
    signed, vkey = note.sign(point, "tachograph/0011223344556677", key), note.verifier("tachograph/0011223344556677", public)
    assert checkpoint_by_the_rules(opened_by_the_rules(signed, vkey)) == (point.origin, point.size, point.root)
    with pytest.raises((AssertionError, InvalidSignature)):
        opened_by_the_rules(signed.replace(log, log + "x"), vkey)
    witnessed = signed + f"— witness.example {base64.b64encode(b'wxyz' + bytes(72)).decode()}\n"
    assert opened_by_the_rules(witnessed, vkey) == opened_by_the_rules(signed, vkey)
    assert note.open_note(witnessed, public) == point

"""C2SP signed notes (https://c2sp.org/signed-note) holding C2SP checkpoints (https://c2sp.org/tlog-checkpoint).

<origin>\\n<size>\\n<root, base64>\\n\\n— <key name> <base64(key id ‖ Ed25519 signature)>\\n
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ED25519 = b"\x01"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")


@dataclass(frozen=True)
class Checkpoint:
    """A log's length in lines and the root over them."""

    origin: str
    size: int
    root: bytes


def origin(session_id: str) -> str:
    """The name of a session's log in its seals."""
    return f"tachograph/v1/{session_id}"


def key_id(name: str, public: bytes) -> bytes:
    """Four bytes that help to pick the key."""
    return hashlib.sha256(name.encode() + b"\n" + ED25519 + public).digest()[:4]


def verifier(name: str, public: bytes) -> str:
    """The key in the notation of signed notes: ``name+hex id+base64``."""
    return f"{name}+{key_id(name, public).hex()}+{base64.b64encode(ED25519 + public).decode()}"


def public_of(vkey: str) -> bytes:
    """The 32 bytes in a verifier key. Raises ``ValueError``."""
    parts = vkey.split("+", 2)  # the base64 may hold a "+" itself
    if len(parts) != 3:
        raise ValueError("not a verifier key")
    data = _base64(parts[2])
    if len(data) != 33 or data[:1] != ED25519 or parts[1] != key_id(parts[0], data[1:]).hex():
        raise ValueError("not an Ed25519 verifier key")
    return data[1:]


def sign(point: Checkpoint, name: str, key: Ed25519PrivateKey) -> str:
    """The signed note."""
    text = f"{point.origin}\n{point.size}\n{base64.b64encode(point.root).decode()}\n"
    public = key.public_key().public_bytes_raw()
    signature = base64.b64encode(key_id(name, public) + key.sign(text.encode())).decode()
    return f"{text}\n— {name} {signature}\n"


def open_note(note: str, public: bytes | frozenset[bytes]) -> Checkpoint:
    """The checkpoint, if one of the note's signatures is by ``public``, or one of them. Raises ``ValueError`` saying what is wrong."""
    text, mark, signatures = note.partition("\n\n")
    if not mark or not signatures.endswith("\n"):
        raise ValueError("not a signed note")
    text += "\n"
    point = _checkpoint(text)
    expected = (public,) if isinstance(public, bytes) else sorted(public)
    for name, blob in [_signature(line) for line in signatures[:-1].split("\n")]:
        # The id is four bytes: of several trusted keys two may have the same.
        candidates = [one for one in expected if blob[:4] == key_id(name, one)]
        if any(_verifies(one, blob[4:], text) for one in candidates):
            return point
        if candidates:
            raise ValueError("a signature that does not verify")
    raise ValueError("no signature by the expected key")


def claimed(note: str) -> Checkpoint:
    """What a signed note says, whoever signed it: for deciding what to check it against. Raises ``ValueError``."""
    text, mark, signatures = note.partition("\n\n")
    if not mark or not signatures.endswith("\n"):
        raise ValueError("not a signed note")
    return _checkpoint(text + "\n")


def _verifies(public: bytes, signature: bytes, text: str) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text.encode())
    except InvalidSignature:
        return False
    return True


def _signature(line: str) -> tuple[str, bytes]:
    fields = line.split(" ")
    if len(fields) != 3 or fields[0] != "—":
        raise ValueError("a signature line that is none")
    try:
        return fields[1], _base64(fields[2])
    except ValueError:
        raise ValueError("a signature that is not base64") from None


def _checkpoint(text: str) -> Checkpoint:
    lines = text.split("\n")
    if len(lines) < 4 or lines[-1] != "":
        raise ValueError("a checkpoint has an origin, a size and a root")
    if not _NUMBER.fullmatch(lines[1]):
        raise ValueError("a checkpoint whose size is no number")
    try:
        root = _base64(lines[2])
    except ValueError:
        raise ValueError("a checkpoint whose root is not base64") from None
    if len(root) != 32:
        raise ValueError("a checkpoint whose root is not 32 bytes")
    return Checkpoint(lines[0], int(lines[1]), root)


def _base64(text: str) -> bytes:
    """One text per value: base64 has spare bits at its end, and a note must not be spelt in two ways."""
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise ValueError("base64 with spare bits set")
    return data

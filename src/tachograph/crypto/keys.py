"""Key files, as data (``docs/format/v1.md``, section 6).

A *key file* is the user's: a key-encryption key and an Ed25519 signing seed. It lies outside the store (0600), so a stolen store is
unreadable. It may lack its seed (its holder reads and verifies, but cannot seal) or its key-encryption key (its holder seals, and reads
what other means open).
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tachograph.core.errors import KeyUnavailableError

from . import boxes, note, sealed


@dataclass(frozen=True)
class KeyFile:
    """``kek`` and ``seed``: 32 bytes each, never shown (``repr`` has only the id). ``verifier``: the public half of a seed that is
    not here."""

    kek: bytes | None
    seed: bytes | None
    verifier: bytes | None = None

    @property
    def id(self) -> str:
        """Names the key without telling it."""
        told = self.public() if self.kek is None else boxes.derive(self.kek, b"tachograph/v1 key id")
        return hashlib.sha256(b"tachograph/v1 key id " + told).hexdigest()[:16]

    @property
    def name(self) -> str:
        """The name of its signatures."""
        return "tachograph/" + self.id

    def signer(self) -> Ed25519PrivateKey:
        """Raises ``KeyUnavailableError`` where there is no seed."""
        if self.seed is None:
            raise KeyUnavailableError(
                f"the key {self.id} reads and cannot seal, so nothing can be recorded or changed with it; "
                "name the one with the signing key with TACHO_KEY"
            )
        return Ed25519PrivateKey.from_private_bytes(self.seed)

    def public(self) -> bytes:
        """The 32 bytes of the verification key."""
        if self.seed is None:
            assert self.verifier is not None
            return self.verifier
        return self.signer().public_key().public_bytes_raw()

    def note_verifier(self) -> str:
        """The verification key in the notation of signed notes."""
        return note.verifier(self.name, self.public())

    def box_private(self) -> bytes:
        """The X25519 key that opens what was wrapped for this file without its key-encryption key. Needs ``kek``."""
        assert self.kek is not None
        return boxes.derive(self.kek, b"tachograph/v1 key file box")

    def box_public(self) -> bytes:
        return sealed.public_of(self.box_private())

    def reading(self) -> KeyFile:
        """The same without its seed."""
        return KeyFile(self.kek, None, self.public())

    def __repr__(self) -> str:
        return f"KeyFile(id={self.id!r})"


def signed_by(owner: bytes, signature: bytes, signed: bytes) -> bool:
    """Whether the holder of this public key (32 bytes) has signed that."""
    try:
        Ed25519PublicKey.from_public_bytes(owner).verify(signature, signed)
    except (InvalidSignature, ValueError):
        return False
    return True


def generate(entropy: Callable[[int], bytes]) -> KeyFile:
    """A new key file."""
    return KeyFile(entropy(boxes.KEY), entropy(boxes.KEY))


def dump(key: KeyFile) -> bytes:
    """As written to disk (mode 0600, by the caller)."""
    parts = {"kek": key.kek, "seed": key.seed, "public": key.public() if key.seed is None else None}
    fields = {
        "v": 1,
        "type": "tachograph-key",
        "id": key.id,
        **{name: base64.b64encode(value).decode() for name, value in parts.items() if value is not None},
    }
    return json.dumps(fields, indent=1).encode() + b"\n"


def load(data: bytes, where: str) -> KeyFile:
    """The key in a file's bytes. Raises ``KeyUnavailableError`` naming ``where``; never echoes the content."""
    try:
        fields = json.loads(data)
        if fields["type"] != "tachograph-key" or fields["v"] != 1:
            raise ValueError("type")
        key = KeyFile(_part(fields, "kek"), _part(fields, "seed"), _part(fields, "public"))
        if (key.seed is None) == (key.verifier is None):
            raise ValueError("a seed, or the public half of one")
        # The id is derived: a key file that was damaged in a digit or two must not pass for another, good key.
        if fields["id"] != key.id:
            raise ValueError("id")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise KeyUnavailableError(
            f"not a tachograph key file, {where}; restore it from your backup or name another with TACHO_KEY"
        ) from None
    return key


def _part(fields: dict[str, Any], name: str) -> bytes | None:
    if name not in fields:
        return None
    value = base64.b64decode(fields[name], validate=True)
    if len(value) != boxes.KEY:
        raise ValueError("length")
    return value

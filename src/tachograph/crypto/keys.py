"""Key files and wrapped keys, as data (``docs/format/v1.md``, section 6).

A *key file* is the user's: a key-encryption key and an Ed25519 signing seed. It lies outside the store (0600), so a stolen store is
unreadable. Inside the store lie only wrapped keys: the store's (content and fingerprint key) and each session's data key.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tachograph.core.errors import FormatError, KeyUnavailableError

from . import boxes


@dataclass(frozen=True)
class KeyFile:
    """``kek`` and ``seed``: 32 bytes each, never shown (``repr`` has only the id)."""

    kek: bytes
    seed: bytes

    @property
    def id(self) -> str:
        """Names the key without telling it."""
        return hashlib.sha256(b"tachograph/v1 key id " + boxes.derive(self.kek, b"tachograph/v1 key id")).hexdigest()[:16]

    def signer(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)

    def public(self) -> bytes:
        """The 32 bytes of the verification key."""
        return self.signer().public_key().public_bytes_raw()

    def __repr__(self) -> str:
        return f"KeyFile(id={self.id!r})"


def generate(entropy: Callable[[int], bytes]) -> KeyFile:
    """A new key file."""
    return KeyFile(entropy(boxes.KEY), entropy(boxes.KEY))


def dump(key: KeyFile) -> bytes:
    """As written to disk (mode 0600, by the caller)."""
    fields = {
        "v": 1,
        "type": "tachograph-key",
        "id": key.id,
        "kek": base64.b64encode(key.kek).decode(),
        "seed": base64.b64encode(key.seed).decode(),
    }
    return json.dumps(fields, indent=1).encode() + b"\n"


def load(data: bytes, where: str) -> KeyFile:
    """The key in a file's bytes. Raises ``KeyUnavailableError`` naming ``where``; never echoes the content."""
    try:
        fields = json.loads(data)
        if fields["type"] != "tachograph-key" or fields["v"] != 1:
            raise ValueError("type")
        key = KeyFile(base64.b64decode(fields["kek"], validate=True), base64.b64decode(fields["seed"], validate=True))
        # The id is derived: a key file that was damaged in a digit or two must not pass for another, good key.
        if len(key.kek) != boxes.KEY or len(key.seed) != boxes.KEY or fields["id"] != key.id:
            raise ValueError("length or id")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise KeyUnavailableError(
            f"not a tachograph key file, {where}; restore it from your backup or name another with TACHO_KEY"
        ) from None
    return key


def wrap(key: KeyFile, name: str, plain: bytes, entropy: Callable[[int], bytes]) -> dict[str, Any]:
    """A wrap of ``plain`` for the object called ``name`` (a session id, or ``store``)."""
    nonce = entropy(boxes.NONCE)
    box = boxes.wrap(key.kek, nonce, plain, _bound(name))
    return {
        "type": "keyfile",
        "key_id": key.id,
        "nonce": base64.b64encode(nonce).decode(),
        "wrapped": base64.b64encode(box).decode(),
    }


def unwrap(key: KeyFile, name: str, wraps: Any, where: str) -> bytes:
    """What was wrapped for ``name``; one wrap that opens is enough. Raises ``KeyUnavailableError``: no wrap for this key, or none
    that opens; ``FormatError``: no wraps at all."""
    if not isinstance(wraps, list) or not all(isinstance(one, dict) for one in wraps):
        raise FormatError(f"not a file of wrapped keys, {where}; restore the file from a backup")
    mine = [one for one in wraps if one.get("type") == "keyfile" and one.get("key_id") == key.id]
    if not mine:
        others = ", ".join(sorted({ascii(one.get("key_id"))[1:17] for one in wraps})) or "none"
        raise KeyUnavailableError(
            f"the content of {name} is wrapped for another key ({others}), yours is {key.id}, {where}; set TACHO_KEY to the right key file"
        )
    for one in mine:
        try:
            nonce, box = base64.b64decode(one["nonce"], validate=True), base64.b64decode(one["wrapped"], validate=True)
            return boxes.unwrap(key.kek, nonce, box, _bound(name))
        except (KeyError, ValueError, TypeError, KeyUnavailableError):
            continue
    raise KeyUnavailableError(f"the wrapped key of {name} was damaged or is not its own, {where}; restore the file from a backup")


def _bound(name: str) -> bytes:
    return b"tachograph/v1 wrap " + name.encode()

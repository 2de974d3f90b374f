"""Sealed boxes: whoever has the public key can put something in, and only the private key takes it out (``docs/format/v1.md``,
section 11).

    box = ephemeral public key (32 bytes) ‖ AES-256-GCM(key, nonce of zeros, plain, associated)
    key = HKDF-SHA256(X25519(ephemeral, recipient), salt = ephemeral public ‖ recipient public, info = "tachograph/v1 vault"
                      or, of a wrapped key, "tachograph/v1 wrap box")

The ephemeral private key is drawn for one box and forgotten, so that a key is used once (the nonce may be constant), and the one who
sealed a box cannot open it again. As in RFC 9180 (HPKE, base mode), a box does not say who made it.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tachograph.core.errors import KeyUnavailableError

from .boxes import KEY, NONCE

PUBLIC = 32
VAULT = b"tachograph/v1 vault"
#: For wrapped keys (section 6).
WRAP = b"tachograph/v1 wrap box"


def public_of(private: bytes) -> bytes:
    """The public key that belongs to a private one, 32 bytes each."""
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def seal(public: bytes, ephemeral: bytes, plain: bytes, associated: bytes, *, info: bytes = VAULT) -> bytes:
    """A box for the owner of ``public``. ``ephemeral``: 32 fresh random bytes, used for nothing else. ``info``: what the box is for.
    Raises ``ValueError`` for a public key of low order."""
    own = X25519PrivateKey.from_private_bytes(ephemeral)
    mine = own.public_key().public_bytes_raw()
    aead = AESGCM(_key(own.exchange(X25519PublicKey.from_public_bytes(public)), mine, public, info))
    return mine + aead.encrypt(bytes(NONCE), plain, associated)


def open_box(private: bytes, box: bytes, associated: bytes, *, info: bytes = VAULT) -> bytes:
    """What is in a box. Raises ``KeyUnavailableError`` when it is not for this key, or was changed or moved."""
    own = X25519PrivateKey.from_private_bytes(private)
    mine, theirs = own.public_key().public_bytes_raw(), box[:PUBLIC]
    try:
        shared = own.exchange(X25519PublicKey.from_public_bytes(theirs))
        return AESGCM(_key(shared, theirs, mine, info)).decrypt(bytes(NONCE), box[PUBLIC:], associated)
    except (InvalidTag, ValueError):  # ValueError: not 32 bytes, or a point of low order
        raise KeyUnavailableError("a sealed box does not open with this key, or its bytes were changed") from None


def _key(shared: bytes, ephemeral: bytes, recipient: bytes, info: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY, salt=ephemeral + recipient, info=info).derive(shared)

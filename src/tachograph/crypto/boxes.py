"""AES-256-GCM, with nonces that count (``docs/format/v1.md``, section 4).

A segment's key is derived from the session's data key and the segment's random salt, so the counter starts at zero in every segment
and no (key, nonce) pair ever occurs twice: a segment is opened for append once, by one writer.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tachograph.core.errors import KeyUnavailableError

KEY = 32
NONCE = 12


def derive(key: bytes, info: bytes) -> bytes:
    """A 32-byte subkey (HKDF-SHA256, RFC 5869, no salt)."""
    return HKDF(algorithm=SHA256(), length=KEY, salt=None, info=info).derive(key)


class SegmentBox:
    """Seals and opens the frames of one segment."""

    def __init__(self, data_key: bytes, salt: bytes) -> None:
        self._aead = AESGCM(derive(data_key, b"tachograph/v1 segment " + salt))

    def seal(self, index: int, plain: bytes, associated: bytes) -> bytes:
        """Frame ``index`` (0, 1, 2, …; each exactly once), encrypted."""
        return self._aead.encrypt(index.to_bytes(NONCE, "big"), plain, associated)

    def open(self, index: int, box: bytes, associated: bytes) -> bytes:
        """The plain bytes. Raises ``KeyUnavailableError`` when key, place or bytes are not the ones it was sealed with."""
        try:
            return self._aead.decrypt(index.to_bytes(NONCE, "big"), box, associated)
        except InvalidTag:
            raise KeyUnavailableError("a content frame does not open with this key, or its bytes were changed") from None


def wrap(key: bytes, nonce: bytes, plain: bytes, associated: bytes) -> bytes:
    """A key encrypted under another one."""
    return AESGCM(key).encrypt(nonce, plain, associated)


def unwrap(key: bytes, nonce: bytes, box: bytes, associated: bytes) -> bytes:
    """The key that was wrapped. Raises ``KeyUnavailableError`` when it was not wrapped with this one."""
    try:
        return AESGCM(key).decrypt(nonce, box, associated)
    except InvalidTag:
        raise KeyUnavailableError("the wrapped key does not open with this key file") from None

"""The key pair of a vault, as data (``docs/format/v1.md``, section 11).

The *private* key file lies with those who may unmask, never in the store. The *public* key lies in the store, signed with the store's
own key: whoever can write the folder must not be able to put another one there and be sent the originals.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from tachograph.core.errors import FormatError, KeyUnavailableError

from . import boxes, sealed
from .keys import KeyFile, signed_by

_TYPE = "tachograph-vault-key"
_PUBLIC_TYPE = "tachograph-vault-public-key"


@dataclass(frozen=True)
class VaultKey:
    """The private key, 32 bytes; ``repr`` does not show it."""

    private: bytes = field(repr=False)

    @property
    def public(self) -> bytes:
        return sealed.public_of(self.private)

    @property
    def id(self) -> str:
        """Names the pair without telling it."""
        return id_of(self.public)


def id_of(public: bytes) -> str:
    """16 hexadecimal digits."""
    return hashlib.sha256(b"tachograph/v1 vault key id " + public).hexdigest()[:16]


def generate(entropy: Callable[[int], bytes]) -> VaultKey:
    return VaultKey(entropy(boxes.KEY))


def dump(key: VaultKey) -> bytes:
    """The private key file, as written (mode 0600, by the caller)."""
    fields = {"v": 1, "type": _TYPE, "id": key.id, "private": base64.b64encode(key.private).decode()}
    return json.dumps(fields, indent=1).encode() + b"\n"


def load(data: bytes, where: str) -> VaultKey:
    """The key in a private key file. Raises ``KeyUnavailableError`` naming ``where``; never echoes the content."""
    try:
        fields = json.loads(data)
        if fields["type"] != _TYPE or fields["v"] != 1:
            raise ValueError("type")
        key = VaultKey(base64.b64decode(fields["private"], validate=True))
        if len(key.private) != boxes.KEY or fields["id"] != key.id:
            raise ValueError("length or id")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise KeyUnavailableError(f"not the private key of a vault, {where}; name the file that tacho vault init made with --key") from None
    return key


def publish(public: bytes, store_id: str, owner: KeyFile) -> bytes:
    """The public key as it lies in the store."""
    signature = owner.signer().sign(_signed(public, store_id))
    fields = {
        "v": 1, "type": _PUBLIC_TYPE, "id": id_of(public), "public": base64.b64encode(public).decode(),
        "signature": base64.b64encode(signature).decode(),
    }  # fmt: skip
    return json.dumps(fields, indent=1).encode() + b"\n"


def published(data: bytes, store_id: str, owners: frozenset[bytes], where: str) -> bytes:
    """The public key in the store's file, if the store's own key has signed it (``owners``: public halves, of the user's key and those that
    followed it). Raises ``FormatError``."""
    try:
        fields = json.loads(data)
        public = base64.b64decode(fields["public"], validate=True)
        if fields["type"] != _PUBLIC_TYPE or fields["v"] != 1 or len(public) != sealed.PUBLIC or fields["id"] != id_of(public):
            raise ValueError
        signature = base64.b64decode(fields["signature"], validate=True)
        if not any(signed_by(owner, signature, _signed(public, store_id)) for owner in owners):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FormatError(
            f"not a vault's public key that this store's key has signed, {where}; somebody changed it: restore it from a backup"
        ) from None
    return public


def _signed(public: bytes, store_id: str) -> bytes:
    return b"tachograph/v1 vault key " + store_id.encode() + b"\n" + public

"""A file of wraps: one key, wrapped for each of its holders (``docs/format/v1.md``, section 6).

Anyone can seal a box for a public key, so a wrap that opens proves nothing. The file says a *commitment* to the key (a hash from which
it cannot be found) and the store's signature of it, for this name in this store: a key that somebody else has put there is not used,
else he could read what is written from then on.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import FormatError

from . import boxes
from .keys import KeyFile, signed_by


@dataclass(frozen=True)
class WrapFile:
    """``wraps``: as read, which may be anything. ``shredded``: when the key was destroyed on purpose."""

    wraps: Any
    commitment: str = ""
    signature: bytes = b""
    shredded: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)

    def signed_by(self, store_id: str, name: str, publics: frozenset[bytes]) -> bytes | None:
        """Which of these keys has signed the commitment."""
        said = _signed(store_id, name, self.commitment)
        return next((public for public in publics if signed_by(public, self.signature, said)), None)

    def is_of(self, plain: bytes) -> bool:
        """Whether this is the key that the file commits to."""
        return hmac.compare_digest(commitment(plain), self.commitment)


def commitment(plain: bytes) -> str:
    """Names a key without telling it: 64 hexadecimal digits."""
    return boxes.derive(plain, b"tachograph/v1 commitment").hex()


def dump(name: str, plain: bytes, wraps: list[dict[str, Any]], *, store_id: str, owner: KeyFile) -> bytes:
    """The file. ``name``: a session's id, or ``store`` or ``ledger``. Raises ``KeyUnavailableError`` where ``owner`` cannot sign."""
    commits = commitment(plain)
    signature = owner.signer().sign(_signed(store_id, name, commits))
    fields = {
        "v": 1, **({"session_id": name} if name != "store" else {}), "wraps": wraps, "commitment": commits,
        "signature": base64.b64encode(signature).decode(),
    }  # fmt: skip
    return json.dumps(fields, indent=1).encode() + b"\n"


def load(data: bytes, where: str) -> WrapFile:
    """Raises ``FormatError`` for what is no JSON object."""
    try:
        fields = json.loads(data)
        if not isinstance(fields, dict):
            raise TypeError
    except (ValueError, TypeError, RecursionError):
        raise FormatError(f"not a JSON object, {where}; restore the file from a backup") from None
    wraps, at, commits = fields.get("wraps", []), fields.get("shredded"), fields.get("commitment")
    try:
        signature = base64.b64decode(fields.get("signature", ""), validate=True)
    except (binascii.Error, ValueError, TypeError):
        signature = b""
    return WrapFile(
        wraps,
        commits if isinstance(commits, str) and commits.isascii() else "",
        signature,
        at[:40] if isinstance(at, str) and at and not wraps else None,
        fields,
    )


def _signed(store_id: str, name: str, commits: str) -> bytes:
    return f"tachograph/v1 key of {name}\n{store_id}\n{commits}".encode("utf-8", "surrogatepass")

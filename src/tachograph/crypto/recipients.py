"""The list of those for whom new keys are wrapped, as it lies in the store (``docs/format/v1.md``, section 6). Signed with the key of
the store's seals: else whoever can write the folder adds himself, and reads all that comes."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tachograph.core.errors import FormatError

from .keys import KeyFile, signed_by

_TYPE = "tachograph-recipients"


def dump(recipients: Sequence[Mapping[str, Any]], store_id: str, owner: KeyFile) -> bytes:
    """The file. What is signed lies in it as text, so that nobody has to spell JSON as we do. Raises ``KeyUnavailableError`` where
    ``owner`` cannot sign."""
    said = json.dumps([dict(one) for one in recipients], separators=(",", ":"))
    signature = owner.signer().sign(_signed(said, store_id))
    fields = {"v": 1, "type": _TYPE, "recipients": said, "signature": base64.b64encode(signature).decode()}
    return json.dumps(fields, indent=1).encode() + b"\n"


def load(data: bytes, store_id: str, owners: frozenset[bytes], where: str) -> list[dict[str, Any]]:
    """The recipients, at least one, each with ``type`` and ``id``; ``owners``: the public keys one of which must have signed them. Raises
    ``FormatError``."""
    try:
        fields = json.loads(data)
        said, signature = fields["recipients"], base64.b64decode(fields["signature"], validate=True)
        if fields["type"] != _TYPE or fields["v"] != 1 or not any(signed_by(owner, signature, _signed(said, store_id)) for owner in owners):
            raise ValueError
        found = json.loads(said)
        if not found or not all(isinstance(one["type"], str) and isinstance(one["id"], str) for one in found):
            raise ValueError
        if len({one["id"] for one in found}) != len(found):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FormatError(
            f"not a list of recipients that this store's key has signed, {where}; somebody changed it: restore it from a backup"
        ) from None
    return list(found)


def _signed(said: str, store_id: str) -> bytes:
    return b"tachograph/v1 recipients " + store_id.encode() + b"\n" + said.encode("utf-8", "surrogatepass")

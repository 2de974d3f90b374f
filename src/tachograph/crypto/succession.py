"""Signing keys that follow one another (``docs/format/v1.md``, section 6), and whom to believe because of whom.

When a key is rotated, old and new sign one statement of it. Somebody who trusts one key trusts, from there,

* *back*: the keys that it says it came after (the new one's signature): seals of earlier years still verify;
* *forward*: the keys that it says came after it (the old one's signature): an auditor who was given the first key follows.

Never back and then forward: an old key that is stolen years later could name a thief as its successor, and whoever holds the newest key
would believe him. Where a key names two successors, one of them is a lie, and neither is followed.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tachograph.core.errors import FormatError

from . import note
from .keys import KeyFile, signed_by

#: No spaces: what is signed can be read in one way only.
_VERIFIER = re.compile(r"tachograph/[0-9a-f]{16}\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+")


@dataclass(frozen=True)
class Statement:
    """``old`` and ``new``: verifier keys in the notation of signed notes. The signatures are not checked yet."""

    old: str
    new: str
    by_old: bytes
    by_new: bytes


def statement(old: KeyFile, new: KeyFile, store_id: str) -> Statement:
    """That ``new`` follows ``old`` in this store. Raises ``KeyUnavailableError`` where one of them cannot sign."""
    names = (old.note_verifier(), new.note_verifier())
    signed = _signed(*names, store_id)
    return Statement(*names, old.signer().sign(signed), new.signer().sign(signed))


def dump(statements: Sequence[Statement]) -> bytes:
    verifiers = [
        {
            "old": one.old, "new": one.new, "by_old": base64.b64encode(one.by_old).decode(), "by_new": base64.b64encode(one.by_new).decode(),
        }
        for one in statements
    ]  # fmt: skip
    return json.dumps({"v": 1, "type": "tachograph-verifiers", "verifiers": verifiers}, indent=1).encode() + b"\n"


def load(data: bytes, where: str) -> list[Statement]:
    """Raises ``FormatError``."""
    try:
        fields = json.loads(data)
        if fields["v"] != 1 or fields["type"] != "tachograph-verifiers":
            raise ValueError
        return [_loaded(one) for one in fields["verifiers"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FormatError(f"not a list of verifier keys that follow one another, {where}; restore the file from a backup") from None


def back(root: bytes, statements: Sequence[Statement], store_id: str) -> list[bytes]:
    """The public keys before ``root``, nearest first."""
    found = [root]
    for key in found:
        found += [old for old, new in _valid(statements, store_id, new=True) if new == key and old not in found]
    return found[1:]


def forward(root: bytes, statements: Sequence[Statement], store_id: str) -> list[bytes]:
    """The public keys after ``root``, nearest first."""
    found = [root]
    for key in found:
        after = {new for old, new in _valid(statements, store_id, new=False) if old == key}
        if len(after) == 1 and not after <= set(found):
            found += after
    return found[1:]


def trusted(root: bytes, statements: Sequence[Statement], store_id: str) -> frozenset[bytes]:
    """All whom one who trusts ``root`` trusts."""
    return frozenset({root, *back(root, statements, store_id), *forward(root, statements, store_id)})


def _valid(statements: Sequence[Statement], store_id: str, *, new: bool) -> list[tuple[bytes, bytes]]:
    """(old, new) of the statements that the one of them has signed that counts."""
    found = []
    for one in statements:
        pair = (note.public_of(one.old), note.public_of(one.new))
        signature = one.by_new if new else one.by_old
        if signed_by(pair[new], signature, _signed(one.old, one.new, store_id)):
            found.append(pair)
    return found


def _loaded(fields: Any) -> Statement:
    for name in ("old", "new"):
        if _VERIFIER.fullmatch(fields[name]) is None:
            raise ValueError
        note.public_of(fields[name])
    try:
        signatures = [base64.b64decode(fields[name], validate=True) for name in ("by_old", "by_new")]
    except binascii.Error:
        raise ValueError from None
    return Statement(fields["old"], fields["new"], *signatures)


def _signed(old: str, new: str, store_id: str) -> bytes:
    return f"tachograph/v1 {new} follows {old} in {store_id}".encode()

"""Wraps for a recipient of age (https://age-encryption.org/v1), made with pyrage. What is in one begins with the name that it was made for."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from tachograph.core.errors import FormatError, KeyUnavailableError, NotHeldError, UsageError
from tachograph.core.ports import Entropy

KIND = "age"


class AgeWrap:
    """``identities``: the lines of a file of identities, or None where none is named. age draws its own entropy."""

    def __init__(self, fields: Mapping[str, Any], identities: Callable[[], str | None]) -> None:
        named = fields.get("recipient")
        if not isinstance(named, str) or fields.get("id") != identified(named):
            raise FormatError("an age recipient that is none; restore the file from a backup")
        self._named = named
        self._identities = identities

    @property
    def recipient(self) -> Mapping[str, Any]:
        return {"type": KIND, "id": identified(self._named), "recipient": self._named}

    def wrap(self, name: str, plain: bytes, entropy: Entropy) -> dict[str, Any]:  # noqa: ARG002 - age's own
        box = _pyrage().encrypt(_header(name) + plain, [parsed(self._named)])
        return {"type": KIND, "key_id": identified(self._named), "recipient": self._named, "box": base64.b64encode(box).decode()}

    def unwrap(self, name: str, wrap: Mapping[str, Any]) -> bytes:
        pyrage = _pyrage()
        said = self._identities()
        if said is None:
            raise NotHeldError("no age identity; name its file with TACHO_AGE_IDENTITY")
        mine = [one for one in _parsed_identities(said) if str(one.to_public()) == self._named]
        if not mine:
            raise NotHeldError(f"the file of TACHO_AGE_IDENTITY does not hold the identity of {self._named}; name another one")
        try:
            plain: bytes = pyrage.decrypt(base64.b64decode(wrap["box"], validate=True), mine)
        except (pyrage.DecryptError, ValueError, KeyError, TypeError):
            raise KeyUnavailableError("an age wrap that does not open with its identity; restore the file from a backup") from None
        if not plain.startswith(_header(name)):
            raise KeyUnavailableError("an age wrap that was made for another name; restore the file from a backup")
        return plain[len(_header(name)) :]


def recipient(named: str) -> dict[str, Any]:
    """Raises ``UsageError`` for what is no ``age1…`` key."""
    parsed(named)
    return {"type": KIND, "id": identified(named), "recipient": named}


def identified(named: str) -> str:
    """16 hexadecimal digits, as of the other recipients."""
    return hashlib.sha256(b"tachograph/v1 recipient age " + named.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def parsed(named: str) -> Any:
    """pyrage's recipient. Raises ``UsageError``."""
    pyrage = _pyrage()
    try:
        return pyrage.x25519.Recipient.from_str(named)
    except pyrage.RecipientError:
        raise UsageError(f"not an age recipient, {named[:80]!a}; it begins with age1, and age-keygen prints it") from None


def _parsed_identities(said: str) -> list[Any]:
    pyrage = _pyrage()
    found = []
    for line in said.splitlines():
        if (word := line.strip()).startswith("AGE-SECRET-KEY-1"):
            try:
                found.append(pyrage.x25519.Identity.from_str(word))
            except pyrage.IdentityError:
                raise KeyUnavailableError(
                    "a line in the file of TACHO_AGE_IDENTITY is no identity; restore it from where you keep it"
                ) from None
    if not found:
        raise KeyUnavailableError(
            "no identity in the file of TACHO_AGE_IDENTITY; one begins with AGE-SECRET-KEY-1 (a file under a passphrase: age -d it first)"
        )
    return found


def _pyrage() -> Any:
    try:
        import pyrage
    except ImportError:
        raise NotHeldError("pyrage is not installed, which age recipients need; pip install 'tachograph[age]'") from None
    return pyrage


def _header(name: str) -> bytes:
    return b"tachograph/v1 wrap " + name.encode() + b"\n"

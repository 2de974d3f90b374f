"""Wraps that need no library but ours: for a key file, a passphrase, or any X25519 key (``docs/format/v1.md``, section 6).

What has a public half is wrapped for without its holder: neither a passphrase nor a key ring is asked for while an agent is recorded.
Each wrap says all that its holder needs (a passphrase's salt, say), so that it opens without the list of recipients.
"""

from __future__ import annotations

import base64
import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from tachograph.core.errors import FormatError, KeyUnavailableError, NotHeldError, UsageError
from tachograph.core.ports import Entropy

from . import boxes, sealed
from .keys import KeyFile

SALT = 16
#: scrypt's cost (RFC 7914; r = 8, p = 1): 128 MiB and some 0.3 s a guess, as OWASP's Password Storage Cheat Sheet has it.
COST = 1 << 17
_MOST_COST = 1 << 20
#: Characters. Whoever has a copy of the store guesses offline, as fast as he can pay for.
SHORTEST = 12


def bound(name: str) -> bytes:
    """What ties a wrap to its name: a session's id, ``store`` or ``ledger``."""
    return b"tachograph/v1 wrap " + name.encode()


def recipient_id(kind: str, public: bytes) -> str:
    """16 hexadecimal digits."""
    return hashlib.sha256(b"tachograph/v1 recipient " + kind.encode() + b" " + public).hexdigest()[:16]


class KeyFileWrap:
    """For a key file. ``find``: the key file with an id, if it is here. With it AES-256-GCM under its key; without it a sealed box."""

    def __init__(self, fields: Mapping[str, Any], find: Callable[[str], KeyFile | None]) -> None:
        self._id = text(fields, "id")
        self._public = None if "public" not in fields else blob(fields, "public", sealed.PUBLIC)
        self._find = find

    @property
    def recipient(self) -> Mapping[str, Any]:
        public = {} if self._public is None else {"public": base64.b64encode(self._public).decode()}
        return {"type": "keyfile", "id": self._id, **public}

    def wrap(self, name: str, plain: bytes, entropy: Entropy) -> dict[str, Any]:
        made: dict[str, Any] = {"type": "keyfile", "key_id": self._id}
        if (key := self._find(self._id)) is not None and key.kek is not None:
            nonce = entropy(boxes.NONCE)
            box = boxes.wrap(key.kek, nonce, plain, bound(name))
            return {**made, "nonce": base64.b64encode(nonce).decode(), "wrapped": base64.b64encode(box).decode()}
        if self._public is None:
            raise NotHeldError(f"the key file {self._id} is not here, and there is no public half of it; name it with TACHO_KEY")
        return {**made, "box": _sealed(self._public, name, plain, entropy)}

    def unwrap(self, name: str, wrap: Mapping[str, Any]) -> bytes:
        key = self._find(self._id)
        if key is None or key.kek is None:
            raise NotHeldError(f"the key file {self._id} is not here; set TACHO_KEY to the right key file")
        try:
            if "box" in wrap:
                return _opened(key.box_private(), name, wrap)
            return boxes.unwrap(key.kek, blob(wrap, "nonce", boxes.NONCE), blob(wrap, "wrapped"), bound(name))
        except FormatError as error:
            raise KeyUnavailableError(str(error)) from None


def key_file_recipient(key: KeyFile) -> dict[str, Any]:
    """Needs ``kek``."""
    return {"type": "keyfile", "id": key.id, "public": base64.b64encode(key.box_public()).decode()}


class BoxWrap:
    """For whoever has an X25519 private key. ``carried``: fields that a wrap repeats, so that its holder finds the key;
    ``private``: gets it, and raises ``NotHeldError`` where it cannot."""

    def __init__(
        self, kind: str, fields: Mapping[str, Any], private: Callable[[bytes], bytes], *, carried: Mapping[str, Any] | None = None
    ) -> None:
        self._kind = kind
        self._public = blob(fields, "public", sealed.PUBLIC)
        self._carried = {**(carried or {}), "public": base64.b64encode(self._public).decode()}
        self._private = private
        self._held: bytes | None = None
        if text(fields, "id") != recipient_id(kind, self._public):
            raise FormatError(f"a recipient whose id is not that of its {kind}; restore the file from a backup")

    @property
    def recipient(self) -> Mapping[str, Any]:
        return {"type": self._kind, "id": recipient_id(self._kind, self._public), **self._carried}

    def wrap(self, name: str, plain: bytes, entropy: Entropy) -> dict[str, Any]:
        box = _sealed(self._public, name, plain, entropy)
        return {"type": self._kind, "key_id": recipient_id(self._kind, self._public), **self._carried, "box": box}

    def unwrap(self, name: str, wrap: Mapping[str, Any]) -> bytes:
        if self._held is None:
            self._held = self._private(self._public)
        try:
            return _opened(self._held, name, wrap)
        except FormatError as error:
            raise KeyUnavailableError(str(error)) from None


def passphrase_wrap(fields: Mapping[str, Any], passphrases: Callable[[], Iterable[str]]) -> BoxWrap:
    """For a passphrase. ``passphrases``: what was given or is typed, one after the other until one is right; none is ``NotHeldError``."""
    salt, cost = blob(fields, "salt", SALT), fields.get("n")
    # Somebody else's file says what it costs us: no more than a GiB.
    if type(cost) is not int or not 1 << 14 <= cost <= _MOST_COST or cost & (cost - 1):
        raise FormatError("a passphrase whose cost is no power of two from 2^14 to 2^20; restore the file from a backup")

    def private(public: bytes) -> bytes:
        tried = False
        for one in passphrases():
            found = stretch(one, salt, cost)
            if sealed.public_of(found) == public:
                return found
            tried = True
        what = "the passphrase is not the right one" if tried else "no passphrase, and no terminal to ask for one on"
        raise NotHeldError(f"{what}; type it, or name a file that holds it with TACHO_PASSPHRASE_FILE")

    return BoxWrap("passphrase", fields, private, carried={"salt": base64.b64encode(salt).decode(), "n": cost})


def passphrase_recipient(passphrase: str, entropy: Entropy, *, cost: int = COST) -> dict[str, Any]:
    """A new recipient. Raises ``UsageError`` for a passphrase that is guessed too easily."""
    if len(passphrase) < SHORTEST:
        raise UsageError(
            f"a passphrase of fewer than {SHORTEST} characters, which whoever has a copy of the store guesses; take six random words"
        )
    salt = entropy(SALT)
    public = sealed.public_of(stretch(passphrase, salt, cost))
    return {
        "type": "passphrase", "id": recipient_id("passphrase", public), "salt": base64.b64encode(salt).decode(), "n": cost,
        "public": base64.b64encode(public).decode(),
    }  # fmt: skip


def box_recipient(kind: str, entropy: Entropy) -> tuple[bytes, dict[str, Any]]:
    """A new private key, and the recipient who has it."""
    private = entropy(boxes.KEY)
    public = sealed.public_of(private)
    return private, {"type": kind, "id": recipient_id(kind, public), "public": base64.b64encode(public).decode()}


def stretch(passphrase: str, salt: bytes, cost: int) -> bytes:
    """The X25519 private key of a passphrase, which is taken in Unicode's form NFC: keyboards differ."""
    data = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    return Scrypt(salt=salt, length=boxes.KEY, n=cost, r=8, p=1).derive(data)


def blob(fields: Mapping[str, Any], name: str, size: int | None = None) -> bytes:
    """Bytes in base64. Raises ``FormatError``."""
    try:
        value = base64.b64decode(fields[name], validate=True)
        if size is not None and len(value) != size:
            raise ValueError
    except (KeyError, ValueError, TypeError):
        raise FormatError(f"a wrapped key or a recipient without a good {name!r}; restore the file from a backup") from None
    return value


def text(fields: Mapping[str, Any], name: str) -> str:
    """Text that says something. Raises ``FormatError``."""
    value = fields.get(name)
    if not isinstance(value, str) or not value or len(value) > 4096 or not value.isprintable():
        raise FormatError(f"a wrapped key or a recipient without a good {name!r}; restore the file from a backup")
    return value


def _sealed(public: bytes, name: str, plain: bytes, entropy: Entropy) -> str:
    try:
        return base64.b64encode(sealed.seal(public, entropy(boxes.KEY), plain, bound(name), info=sealed.WRAP)).decode()
    except ValueError:
        raise FormatError("a recipient whose public key is none; restore the file from a backup") from None


def _opened(private: bytes, name: str, wrap: Mapping[str, Any]) -> bytes:
    return sealed.open_box(private, blob(wrap, "box"), bound(name), info=sealed.WRAP)

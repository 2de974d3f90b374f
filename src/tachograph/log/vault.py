"""A session's vault: the originals of what was masked, sealed for those who may unmask (``docs/format/v1.md``, section 11).

    vault  = "TACHOVT1" ‖ id of the vault's key (8 bytes) ‖ record*
    record = u32 n ‖ box (n bytes)
    box    = sealed box (``crypto/sealed.py``) of JSON {"fingerprint","kind","value"}, padded with spaces

Each box is bound to its session and its place. A value exists in memory between its masking and its sealing, which follow each other
at once, and the process that sealed it cannot open it again. A file is written by one writer, once; what a killed one leaves at its end
is passed over, with the holes that a power cut makes in it, and an empty file is a vault that was dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from tachograph.core.errors import FormatError, KeyUnavailableError, NotFoundError
from tachograph.core.ports import AppendFile, Entropy, Store
from tachograph.crypto import sealed, vaultkeys
from tachograph.crypto.vaultkeys import VaultKey
from tachograph.format import layout, torn
from tachograph.redact.placeholder import fingerprint

from .appender import Appender

MAGIC = b"TACHOVT1"
HEADER = len(MAGIC) + 8
#: Bytes of a value. Longer ones are whole bodies that could not be decoded, and are not kept.
MAX_VALUE = 64 << 10
#: A box's length must not tell how long a password is. Bytes.
PAD = 256
#: Bytes of the shortest box: an ephemeral public key, padded JSON, a tag.
_LEAST = 32 + PAD + 16
#: So many zeros in a row are no ciphertext.
_ZEROS = 16
#: Not a secret but a mark that something was too deep to look at.
_NO_ORIGINAL = frozenset({"too-deep"})


class VaultWriter(Appender):
    """The vault of a session that is being recorded; its ``keep`` is a redactor's sink."""

    def __init__(self, file: AppendFile, session_id: str, public: bytes, entropy: Entropy) -> None:
        super().__init__(file)
        self._session_id = session_id
        self._public = public
        self._entropy = entropy
        self._count = 0
        self.add(MAGIC + bytes.fromhex(vaultkeys.id_of(public)))

    @property
    def key_id(self) -> str:
        """The id of the key that it is sealed for."""
        return vaultkeys.id_of(self._public)

    def keep(self, fingerprint: str, kind: str, value: str) -> None:
        """Seal a value. It is written with the next ``flush``; a file that failed takes none any more."""
        if self.failed or kind in _NO_ORIGINAL or len(value) > MAX_VALUE:
            return
        plain = json.dumps({"fingerprint": fingerprint, "kind": kind, "value": value}, separators=(",", ":")).encode()
        plain += b" " * (-len(plain) % PAD)
        box = sealed.seal(self._public, self._entropy(32), plain, associated(self._session_id, self._count))
        self.add(len(box).to_bytes(4, "big") + box)
        self._count += 1


@dataclass(frozen=True)
class Original:
    """What a placeholder stands for. ``repr`` does not show it."""

    fingerprint: str
    kind: str
    value: str = field(repr=False)


def create(store: Store, session_id: str, public: bytes, entropy: Entropy) -> VaultWriter:
    """The vault of a new session."""
    return VaultWriter(store.create(layout.vault(session_id)), session_id, public, entropy)


def read(store: Store, session_id: str, key: VaultKey, fingerprint_key: bytes) -> list[Original]:
    """All originals of a session, in the order in which they were masked first. Raises ``NotFoundError`` (there is no vault, or it was
    dropped), ``KeyUnavailableError`` (another key's) and ``FormatError`` (damaged, or somebody else's making: anyone can seal for a
    public key, but only with the store's key is the fingerprint right)."""
    name = layout.vault(session_id)
    data = _data(store, session_id)
    if len(data) < HEADER:
        return []  # its writer died while it made it
    if _holed(data, 0, HEADER, _ZEROS):
        return []  # nothing of it has ever reached the device
    if data[: len(MAGIC)] != MAGIC:
        raise FormatError(f"not a vault, {store.url}/{name}; restore it from a backup")
    if (sealed_for := data[len(MAGIC) : HEADER].hex()) != key.id:
        raise KeyUnavailableError(
            f"the vault of {session_id} is sealed for the key {sealed_for}, yours is {key.id}; name the right one with --key"
        )
    found = []
    for index, (at, box) in enumerate(_boxes(data)):
        try:
            fields = json.loads(sealed.open_box(key.private, box, associated(session_id, index)))
            original = Original(fields["fingerprint"], fields["kind"], fields["value"])
            if fingerprint(fingerprint_key, original.value) != original.fingerprint:
                raise ValueError
        except (KeyUnavailableError, ValueError, KeyError, TypeError, AttributeError):
            if _holed(data, at, at + 4 + len(box), 1):
                break
            raise FormatError(
                f"a record of the vault was changed, or is none of this store's, {store.url}/{name} offset {at}; restore it from a backup"
            ) from None
        found.append(original)
    return found


def count(store: Store, session_id: str) -> int:
    """How many originals there are; needs no key. Raises ``NotFoundError``."""
    return sum(1 for _ in _boxes(_data(store, session_id)))


def session_ids(store: Store) -> list[str]:
    """The sessions that have a vault, dropped ones too, oldest first."""
    return [name.removeprefix(layout.VAULTS).removesuffix(".vault") for name in store.names(layout.VAULTS) if name.endswith(".vault")]


def drop(store: Store, session_id: str) -> None:
    """Make the vault of a session empty."""
    store.replace(layout.vault(session_id), b"")


def associated(session_id: str, index: int) -> bytes:
    """What a box is bound to."""
    return f"tachograph/v1 vault {session_id} {index}".encode()


def _data(store: Store, session_id: str) -> bytes:
    try:
        data = store.read(layout.vault(session_id))
    except NotFoundError:
        raise NotFoundError(f"no vault of {session_id} in {store.url}; it was recorded without --vault") from None
    if not data:
        raise NotFoundError(f"the vault of {session_id} was dropped, {store.url}; tacho cat ledger says by whom and why")
    return data


def _boxes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(offset, box) of the whole records. What a killed writer left at the end is none: less than a record, or what has a hole and all
    behind it. A record that was acknowledged was synced, and so were all before it."""
    at = HEADER
    while at + 4 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        end = at + 4 + length
        if end > len(data) or _holed(data, at, end, _ZEROS) or (length < _LEAST and _holed(data, at, at + 4, 1)):
            return
        yield at, data[at + 4 : end]
        at = end


def _holed(data: bytes, at: int, end: int, least: int) -> bool:
    """Whether a block that was never written (zeros from ``at``, or from its beginning, to its end) lies between these offsets, ``least``
    bytes of it at least."""
    for block in range(at - at % torn.BLOCK, end, torn.BLOCK):
        piece = data[max(block, at) : block + torn.BLOCK]
        if len(piece) >= least and piece.count(0) == len(piece):
            return True
    return False

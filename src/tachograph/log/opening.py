"""Opening a store: its identity, and the keys that its sessions share.

``store.json`` says that this folder is a store; ``keys/store.json`` wraps the *content key* (names of content: equal content has equal
names in all sessions, and nobody without it can confirm a guess) and the *fingerprint key* (equal secrets have equal placeholders).
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tachograph.core.errors import ConflictError, FormatError, NewerFormatError, NotFoundError, ShreddedError, StoreError, UsageError
from tachograph.core.ports import Entropy, Store
from tachograph.crypto import boxes, keys, note, vaultkeys
from tachograph.format import layout

_LIMIT = 1 << 20


@dataclass(frozen=True)
class OpenStore:
    """A store and the keys to it. ``repr`` shows no key."""

    store: Store
    id: str
    key: keys.KeyFile
    content_key: bytes = field(repr=False)
    fingerprint_key: bytes = field(repr=False)

    @property
    def trusted(self) -> frozenset[bytes]:
        """The public keys whose seals are believed, 32 bytes each."""
        return frozenset({self.key.public()})

    def digest(self) -> Callable[[bytes], bytes]:
        """The keyed hash that names content (HMAC-SHA256)."""
        start = hmac.new(self.content_key, digestmod=hashlib.sha256)

        def digest(data: bytes) -> bytes:
            # A copy of the keyed state is several times cheaper than a new HMAC.
            state = start.copy()
            state.update(data)
            return state.digest()

        return digest

    def new_data_key(self, session_id: str, entropy: Entropy) -> bytes:
        """Make, wrap and store the data key of a new session."""
        data_key = entropy(boxes.KEY)
        wraps = [keys.wrap(self.key, session_id, data_key, entropy)]
        self.store.put_new(layout.keys(session_id), _dump({"v": 1, "session_id": session_id, "wraps": wraps}))
        return data_key

    def data_key(self, session_id: str) -> bytes:
        """The data key of a session. Raises ``KeyUnavailableError`` (``ShreddedError`` if it was destroyed on purpose) or
        ``NotFoundError`` (no such wraps: lost, or never there)."""
        name = layout.keys(session_id)
        fields = _load(self.store.read(name, limit=_LIMIT), f"{self.store.url}/{name}")
        if fields.get("shredded") and not fields.get("wraps"):
            raise ShreddedError(f"the content of {session_id} was shredded, {self.store.url}/{name}; tacho cat ledger says by whom and why")
        return keys.unwrap(self.key, session_id, fields.get("wraps", []), f"{self.store.url}/{name}")


def set_vault_key(opened: OpenStore, public: bytes) -> None:
    """Make this the key that the store's vaults are sealed for. Raises ``ConflictError`` where there is another one."""
    try:
        opened.store.put_new(layout.VAULT_KEY, vaultkeys.publish(public, opened.id, opened.key))
    except ConflictError:
        if vault_key(opened) != public:
            raise another_vault_key(opened) from None


def another_vault_key(opened: OpenStore) -> ConflictError:
    """The error that says which key the store's vaults are sealed for already."""
    return ConflictError(
        f"{opened.store.url} has a vault key already, {vaultkeys.id_of(vault_key(opened))}; name its private half with --key"
    )


def vault_key(opened: OpenStore) -> bytes:
    """The public key that the store's vaults are sealed for. Raises ``UsageError`` where there is none, ``FormatError`` for one that the
    store's own key did not sign."""
    where = f"{opened.store.url}/{layout.VAULT_KEY}"
    try:
        data = opened.store.read(layout.VAULT_KEY, limit=_LIMIT)
    except NotFoundError:
        raise UsageError(f"no vault key in {opened.store.url}; tacho vault init makes one") from None
    return vaultkeys.published(data, opened.id, opened.key.public(), where)


def destroy_data_key(store: Store, session_id: str, at: str) -> None:
    """Put a mark in the place of a session's wrapped key, so that its content opens nowhere any more. ``at``: when, as lines say it.
    The bytes that were replaced may stay on the device until it writes over them, and in copies of the folder."""
    store.replace(layout.keys(session_id), _dump({"v": 1, "session_id": session_id, "wraps": [], "shredded": at}))


def shredded_at(store: Store, session_id: str) -> str | None:
    """When the key of a session was destroyed on purpose; None if it was not, or if its file does not say. Needs no key."""
    try:
        fields = _load(store.read(layout.keys(session_id), limit=_LIMIT), "")
    except (StoreError, FormatError, NotFoundError):
        return None
    at = fields.get("shredded")
    return at[:40] if isinstance(at, str) and not fields.get("wraps") else None


def exists(store: Store) -> bool:
    """Whether this place is a store at all."""
    return store.exists(layout.STORE)


def describe(store: Store) -> dict[str, Any]:
    """``store.json``. Raises ``UsageError`` where there is no store, ``NewerFormatError`` for one from the future."""
    try:
        fields = _load(store.read(layout.STORE, limit=_LIMIT), f"{store.url}/{layout.STORE}")
    except NotFoundError:
        raise UsageError(f"no tachograph store at {store.url}; record something first, or name the store with --store") from None
    if fields.get("format") != "tachograph-store":
        raise UsageError(f"{store.url} holds a {layout.STORE} of something else; name a tachograph store with --store")
    if fields.get("v") != layout.VERSION:
        raise NewerFormatError(f"the store at {store.url} has format version {fields.get('v')!r}; update tachograph to read it")
    return fields


def create(store: Store, key: keys.KeyFile, entropy: Entropy) -> None:
    """Make a store here. Harmless when somebody else with the same key makes it at the same time, or died over it: of each file the
    first stays. Raises ``KeyUnavailableError`` when it is another key's."""
    shared = entropy(boxes.KEY) + entropy(boxes.KEY)
    wraps = [keys.wrap(key, "store", shared, entropy)]
    store_id = "sto_" + entropy(10).hex()
    try:
        store.put_new(layout.STORE_KEYS, _dump({"v": 1, "wraps": wraps}))
    except ConflictError:
        _shared_keys(store, key)
    fields = {
        "v": 1,
        "format": "tachograph-store",
        "id": store_id,
        "verifier": note.verifier("tachograph/" + key.id, key.public()),
    }
    with contextlib.suppress(ConflictError):
        store.put_new(layout.STORE, _dump(fields))


def open_store(store: Store, key: keys.KeyFile) -> OpenStore:
    """The store with its shared keys."""
    fields = describe(store)
    shared = _shared_keys(store, key)
    return OpenStore(store, str(fields.get("id")), key, shared[: boxes.KEY], shared[boxes.KEY :])


def _shared_keys(store: Store, key: keys.KeyFile) -> bytes:
    where = f"{store.url}/{layout.STORE_KEYS}"
    wraps = _load(store.read(layout.STORE_KEYS, limit=_LIMIT), where).get("wraps", [])
    shared = keys.unwrap(key, "store", wraps, where)
    if len(shared) != 2 * boxes.KEY:
        raise FormatError(f"the shared keys have the wrong length, {where}; restore the file from a backup")
    return shared


def _dump(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, indent=1).encode() + b"\n"


def _load(data: bytes, where: str) -> dict[str, Any]:
    try:
        fields = json.loads(data)
        if not isinstance(fields, dict):
            raise TypeError
    except (ValueError, TypeError, RecursionError):
        raise FormatError(f"not a JSON object, {where}; restore the file from a backup") from None
    return fields

"""Opening a store: its identity, and the keys that its sessions share.

``store.json`` says that this folder is a store; ``keys/store.json`` wraps the *content key* (names of content: equal content has equal
names in all sessions, and nobody without it can confirm a guess) and the *fingerprint key* (equal secrets have equal placeholders).
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

from tachograph.core.errors import (
    ConflictError,
    FormatError,
    KeyUnavailableError,
    NewerFormatError,
    NotFoundError,
    ShreddedError,
    StoreError,
    UsageError,
)
from tachograph.core.ports import Entropy, Store
from tachograph.crypto import boxes, keys, note, recipients, succession, vaultkeys, wrapfile, wraps
from tachograph.crypto.ring import Ring
from tachograph.format import layout, migrations

_LIMIT = 1 << 20
#: The name of the shared keys, where a session's has its id.
STORE = "store"


@dataclass(frozen=True)
class OpenStore:
    """A store and the keys to it. ``repr`` shows no key. ``key``: what seals are made with, if it can seal; ``trusted``: the public keys whose
    seals are believed (32 bytes each); ``owners``: of these, the ones whose word on recipients counts; ``stranger``: ``key`` is not of the store's own line of keys; ``ring``: how keys are wrapped."""

    store: Store
    id: str
    key: keys.KeyFile
    content_key: bytes = field(repr=False)
    fingerprint_key: bytes = field(repr=False)
    with_ring: InitVar[Ring | None] = None
    trusted: frozenset[bytes] = frozenset()
    owners: frozenset[bytes] = frozenset()
    stranger: bool = False
    ring: Ring = field(init=False, repr=False)
    _held: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self, with_ring: Ring | None) -> None:
        object.__setattr__(self, "ring", with_ring if with_ring is not None else Ring(self.key))
        for name in ("trusted", "owners"):
            object.__setattr__(self, name, getattr(self, name) or frozenset({self.key.public()}))

    def digest(self) -> Callable[[bytes], bytes]:
        """The keyed hash that names content (HMAC-SHA256)."""
        start = hmac.new(self.content_key, digestmod=hashlib.sha256)

        def digest(data: bytes) -> bytes:
            # A copy of the keyed state is several times cheaper than a new HMAC.
            state = start.copy()
            state.update(data)
            return state.digest()

        return digest

    def recipients(self) -> list[dict[str, Any]]:
        """For whom keys are wrapped: of the store's list, else for the user's key file. Raises ``FormatError`` for a list that the
        store's own key did not sign."""
        try:
            data = self.store.read(layout.RECIPIENTS, limit=_LIMIT)
        except NotFoundError:
            if self.key.kek is None:
                raise KeyUnavailableError(
                    f"the key file {self.key.id} cannot be wrapped for, and {self.store.url} has no list of recipients; tacho keys add names one"
                ) from None
            return [wraps.key_file_recipient(self.key)]
        where = f"{self.store.url}/{layout.RECIPIENTS}"
        try:
            return recipients.load(data, self.id, self.owners, where)
        except FormatError:
            # The key may have been rotated since this process has opened the store.
            root = self.key.public()
            return recipients.load(data, self.id, frozenset({root, *succession.forward(root, statements(self.store), self.id)}), where)

    def wrapped(self, name: str, plain: bytes, holders: Sequence[Mapping[str, Any]], entropy: Entropy) -> bytes:
        """The file of wraps of a key. ``name``: a session's id, ``ledger`` or ``store``."""
        made = list(self.ring.wrap(holders, self.id, name, plain, entropy).values())
        return wrapfile.dump(name, plain, made, store_id=self.id, owner=self.key)

    def new_data_key(self, session_id: str, entropy: Entropy) -> bytes:
        """Make, wrap and store the data key of a new session. Raises ``KeyUnavailableError`` with a key file that cannot seal."""
        self.key.signer()
        data_key = entropy(boxes.KEY)
        holders = self.recipients()
        self.store.put_new(layout.keys(session_id), self.wrapped(session_id, data_key, holders, entropy))
        # Whoever changes the recipients writes the list, then brings all keys up to date. He has seen this key, or it sees his list.
        if (now := self.recipients()) != holders:
            self.store.replace(layout.keys(session_id), self.wrapped(session_id, data_key, now, entropy))
        if session_id == layout.LEDGER:
            self._held[session_id] = data_key
        return data_key

    def data_key(self, session_id: str) -> bytes:
        """The data key of a session. Raises ``KeyUnavailableError`` (``ShreddedError`` if it was destroyed on purpose) or
        ``NotFoundError`` (no such wraps: lost, or never there)."""
        if session_id in self._held:
            return self._held[session_id]
        name = layout.keys(session_id)
        found = wrapfile.load(self.store.read(name, limit=_LIMIT), f"{self.store.url}/{name}")
        if found.shredded is not None:
            raise ShreddedError(f"the content of {session_id} was shredded, {self.store.url}/{name}; tacho cat ledger says by whom and why")
        key = self.unwrapped(session_id, found)
        if session_id == layout.LEDGER:
            # Its writers come back to it, maybe after the user's key was rotated; a session's is not kept, since it may be shredded.
            self._held[session_id] = key
        return key

    def unwrapped(self, session_id: str, found: wrapfile.WrapFile) -> bytes:
        """The key in a file of wraps (``store``: the shared keys)."""
        name = layout.STORE_KEYS if session_id == STORE else layout.keys(session_id)
        signed = found.signed_by(self.id, session_id, self.trusted) is not None
        if not signed:
            trusted = self.trusted | succession.trusted(self.key.public(), statements(self.store), self.id)  # rotated since
            signed = found.signed_by(self.id, session_id, trusted) is not None
        return _unwrapped(self.ring, found, session_id, self.id, signed, f"{self.store.url}/{name}")


def _unwrapped(ring: Ring, found: wrapfile.WrapFile, name: str, store_id: str, signed: bool, where: str) -> bytes:
    """What is wrapped there, if it is the key that a trusted one has signed for. A signature takes longer to check than all the rest."""
    key = ring.open(store_id, name, found.wraps, where, good=found.is_of)
    if not signed:
        raise KeyUnavailableError(
            f"the wrapped key of {name} is not one that this store's key has signed, {where}; restore the file from a backup"
        )
    return key


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
    return vaultkeys.published(data, opened.id, opened.owners, where)


def destroy_data_key(store: Store, session_id: str, at: str) -> None:
    """Put a mark in the place of a session's wrapped key, so that its content opens nowhere any more. ``at``: when, as lines say it.
    The bytes that were replaced may stay on the device until it writes over them, and in copies of the folder."""
    store.replace(layout.keys(session_id), _dump({"v": 1, "session_id": session_id, "wraps": [], "shredded": at}))


def shredded_at(store: Store, session_id: str) -> str | None:
    """When the key of a session was destroyed on purpose; None if it was not, or if its file does not say. Needs no key."""
    try:
        return wrapfile.load(store.read(layout.keys(session_id), limit=_LIMIT), "").shredded
    except (StoreError, FormatError, NotFoundError):
        return None


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
    if type(fields.get("v")) is not int or fields["v"] not in migrations.STEPS:
        raise NewerFormatError(f"the store at {store.url} has format version {fields.get('v')!r}; update tachograph to read it")
    return fields


def create(store: Store, key: keys.KeyFile, entropy: Entropy) -> None:
    """Make a store here. Harmless when somebody else with the same key makes it at the same time, or died over it: of each file the
    first stays. Raises ``KeyUnavailableError`` when it is another key's, or one that cannot seal."""
    key.signer()
    shared = entropy(boxes.KEY) + entropy(boxes.KEY)
    # The id comes from the keys, so that of two makers at once the second one has the first one's.
    store_id = _id_of(shared)
    ring = Ring(key)
    made = list(ring.wrap([wraps.key_file_recipient(key)], store_id, STORE, shared, entropy).values())
    try:
        store.put_new(layout.STORE_KEYS, wrapfile.dump(STORE, shared, made, store_id=store_id, owner=key))
    except ConflictError:
        where = f"{store.url}/{layout.STORE_KEYS}"
        found = wrapfile.load(store.read(layout.STORE_KEYS, limit=_LIMIT), where)
        store_id = _id_of(ring.open("", STORE, found.wraps, where, good=found.is_of))
    fields = {"v": 1, "format": "tachograph-store", "id": store_id, "verifier": key.note_verifier()}
    with contextlib.suppress(ConflictError):
        store.put_new(layout.STORE, _dump(fields))


def first_key(store: Store, described: Mapping[str, Any]) -> bytes:
    """The public key that ``store.json`` names: the first one. Raises ``FormatError``."""
    try:
        return note.public_of(str(described.get("verifier")))
    except ValueError:
        raise FormatError(f"no public key in {store.url}/{layout.STORE}; restore the file from a backup") from None


def open_store(store: Store, key: keys.KeyFile | Ring) -> OpenStore:
    """The store with its shared keys. Without a key file, whose seals are believed is the store's own word."""
    ring = key if isinstance(key, Ring) else Ring(key)
    fields = describe(store)
    store_id = str(fields.get("id"))
    try:
        first = first_key(store, fields)
    except FormatError:
        if ring.key is None:
            raise
        first = b""  # somebody else's word is not needed, and a damaged one is told of by ``stranger``
    own = ring.key or keys.KeyFile(None, None, first)
    said = statements(store)
    root = own.public()
    trusted = succession.trusted(root, said, store_id)
    owners = frozenset({root, *succession.forward(root, said, store_id)})
    stranger = first not in trusted and root not in succession.trusted(first, said, store_id)
    where = f"{store.url}/{layout.STORE_KEYS}"
    found = wrapfile.load(store.read(layout.STORE_KEYS, limit=_LIMIT), where)
    shared = _unwrapped(ring, found, STORE, store_id, found.signed_by(store_id, STORE, trusted) is not None, where)
    if len(shared) != 2 * boxes.KEY:
        raise FormatError(f"the shared keys have the wrong length, {where}; restore the file from a backup")
    return OpenStore(store, store_id, own, shared[: boxes.KEY], shared[boxes.KEY :], ring, trusted, owners, stranger)


def has_other_wraps(store: Store) -> bool:
    """Whether something else than a key file may open this store."""
    try:
        found = wrapfile.load(store.read(layout.STORE_KEYS, limit=_LIMIT), "").wraps
    except (StoreError, FormatError, NotFoundError):
        return False
    return isinstance(found, list) and any(isinstance(one, dict) and one.get("type") != "keyfile" for one in found)


def check_signer(opened: OpenStore) -> None:
    """Raises ``KeyUnavailableError`` where the user's key is not the one that this store is sealed with, by the store's own word: what it
    would seal, nobody could verify."""
    if opened.stranger:
        raise KeyUnavailableError(
            f"the key file {opened.key.id} reads {opened.store.url}, but another key seals it; name that one with TACHO_KEY"
        )


def statements(store: Store) -> list[succession.Statement]:
    """What the store says of signing keys that followed one another. Raises ``FormatError``."""
    try:
        data = store.read(layout.VERIFIERS, limit=_LIMIT)
    except NotFoundError:
        return []
    return succession.load(data, f"{store.url}/{layout.VERIFIERS}")


def _id_of(shared: bytes) -> str:
    return "sto_" + wrapfile.commitment(shared)[:20]


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

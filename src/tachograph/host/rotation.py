"""Rotating a store's key: a new key-encryption key and a new signing key, all wraps anew.

In this order, so that whoever is killed at any step leaves a store that opens with the key file that is in place by then:

1. the new key file is kept beside the old one; the rotation is entered in the ledger;
2. the store says that the new signing key follows the old one (both sign it);
3. keys are wrapped for the old key file and the new one: those that begin from now on, then all that are there;
4. the new key file takes the place of the old one, which is kept beside it as ``<key file>.<id>.old``;
5. all wraps are made anew, for the new key file and no longer for the old one;
6. once nothing needs it, the old one is removed.

Run again, a rotation goes on where it was left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tachograph.core.errors import KeyUnavailableError, UsageError
from tachograph.crypto import keys, succession, vaultkeys, wraps
from tachograph.crypto.keys import KeyFile
from tachograph.crypto.ring import Ring
from tachograph.format import layout
from tachograph.log import opening
from tachograph.log.opening import OpenStore

from . import recipients
from .custody import Keeper
from .keyplace import KeyPlace
from .recipients import Rewrapped


@dataclass(frozen=True)
class Rotated:
    """``old``: None where only what an earlier rotation had left was done. ``left``: ids of old key files that are kept still."""

    old: str | None
    new: str
    rewrapped: Rewrapped
    left: list[str]


#: Makes the ring of a key file: the same means besides it as the user has now.
MakeRing = Callable[[KeyFile], Ring]


def rotate(by: Keeper, place: KeyPlace, rings: MakeRing, reason: str, *, report: Callable[[str], None] = lambda _: None) -> Rotated:
    """Raises ``UsageError`` for a key file that cannot be rotated here."""
    with recipients.changing(by.opened.store):
        old = place.current()
        old.signer()
        if old.kek is None:
            raise UsageError(
                f"the key file {place.path} has no key that reads, and only one that has both is rotated; name it with TACHO_KEY"
            )
        if place.pending() is None and place.replaced():
            return _finish(by, place, by.opened, None, report)
        new = place.pending()
        if new is None:
            new = keys.generate(by.entropy)
            place.begin(new)
        elif new.kek is None or new.seed is None:
            raise KeyUnavailableError(f"{place.path}.next is no whole key file; look at it, and remove it if it is not yours")
        # From here on new sessions are wrapped for both.
        by.enter(
            by.entry("key_rotated", None, detail={"wrap": "keyfile", "key": new.id, "from": old.id, "verifier": new.note_verifier()}),
            reason,
        )
        _announce(by.opened, old, new)
        both = _with_both(by.opened, old, new)
        done = recipients.everything(by, both, anew=False, report=report)
        if done.failed:
            name, why = done.failed[0]
            raise KeyUnavailableError(f"the key of {name} is not wrapped for the new key file, {why}; then run tacho keys rotate again")
        place.switch(old)
        now = opening.open_store(by.opened.store, rings(new))
        return _finish(replace_opened(by, now), place, now, old, report)


def replace_opened(by: Keeper, opened: OpenStore) -> Keeper:
    """The same keeper, with the store opened anew."""
    return replace(by, opened=opened)


def _announce(opened: OpenStore, old: KeyFile, new: KeyFile) -> None:
    said = opening.statements(opened.store)
    if new.public() not in succession.forward(old.public(), said, opened.id):
        said = [one for one in said if one.old != old.note_verifier()]
        opened.store.replace(layout.VERIFIERS, succession.dump([*said, succession.statement(old, new, opened.id)]))


def _with_both(opened: OpenStore, old: KeyFile, new: KeyFile) -> OpenStore:
    """The store as the new key has it, opened with the old one. The new key signs: whoever has the old one believes those that follow it."""
    there = [one for one in opened.recipients() if one["id"] != new.id]
    if not any(one["id"] == old.id for one in there):
        raise UsageError(
            f"keys are not wrapped for the key file {old.id}, so there is nothing to rotate; tacho keys ls says for whom they are"
        )
    said = opening.statements(opened.store)
    owners = frozenset({old.public(), new.public()})
    both = OpenStore(
        opened.store, opened.id, new, opened.content_key, opened.fingerprint_key, opened.ring,
        opened.trusted | succession.trusted(new.public(), said, opened.id), owners,
    )  # fmt: skip
    at = next(n for n, one in enumerate(there) if one["id"] == old.id)
    _sign_vault(both, opened)
    recipients.write(both, [*there[: at + 1], wraps.key_file_recipient(new), *there[at + 1 :]])
    return both


def _finish(by: Keeper, place: KeyPlace, now: OpenStore, old: KeyFile | None, report: Callable[[str], None]) -> Rotated:
    kept = place.replaced()
    gone = {one.id for one in kept} - {now.key.id}
    recipients.write(now, [one for one in now.recipients() if one["id"] not in gone])
    done = recipients.everything(by, now, anew=True, report=report)
    # A session may have begun with the old key while this one was at it.
    late = recipients.everything(by, now, anew=False, report=report)
    done.changed += late.changed
    done.failed += [one for one in late.failed if one not in done.failed]
    if not done.failed:
        for one in kept:
            if one.id in gone:
                place.forget(one)
    return Rotated(old.id if old is not None else None, now.key.id, done, sorted(gone) if done.failed else [])


def _sign_vault(both: OpenStore, opened: OpenStore) -> None:
    if both.store.exists(layout.VAULT_KEY):
        public = opening.vault_key(replace_owners(opened, both))
        both.store.replace(layout.VAULT_KEY, vaultkeys.publish(public, both.id, both.key))


def replace_owners(opened: OpenStore, both: OpenStore) -> OpenStore:
    """As the old key has it, which may find what the new one has signed already."""
    return OpenStore(
        opened.store, opened.id, opened.key, opened.content_key, opened.fingerprint_key, opened.ring, opened.trusted, both.owners
    )

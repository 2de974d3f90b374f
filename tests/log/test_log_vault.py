"""The vault of a session: sealed for another key than the store's, whole up to where its writer died."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_helpers import SESSION, Clock, Entropy, draft, new_store

from fake_store import FakeStore
from tachograph.core.errors import ConflictError, FormatError, KeyUnavailableError, NotFoundError, StoreError, UsageError
from tachograph.crypto import keys, vaultkeys
from tachograph.format import layout
from tachograph.log import opening, vault
from tachograph.log.opening import OpenStore
from tachograph.log.writer import SessionWriter
from tachograph.redact.placeholder import fingerprint

KEY = vaultkeys.VaultKey(bytes(range(32)))


def fill(opened: OpenStore, values: list[str], session_id: str = SESSION) -> None:
    writer = vault.create(opened.store, session_id, KEY.public, os.urandom)
    for value in values:
        writer.keep(fingerprint(opened.fingerprint_key, value), "password", value)
    writer.flush()
    writer.sync()
    writer.close()


def values(opened: OpenStore, key: vaultkeys.VaultKey = KEY) -> list[str]:
    return [one.value for one in vault.read(opened.store, SESSION, key, opened.fingerprint_key)]


SOME = ["correct horse", 'quo"ted\n', "\ud800 lone", "x" * 5000]


def test_what_was_added_comes_back_with_kind_and_fingerprint(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    fill(opened, SOME)
    assert values(opened) == SOME
    first = vault.read(opened.store, SESSION, KEY, opened.fingerprint_key)[0]
    assert (first.kind, first.fingerprint) == ("password", fingerprint(opened.fingerprint_key, SOME[0]))
    assert SOME[0] not in repr(first)
    assert vault.count(opened.store, SESSION) == len(SOME)


def test_no_value_is_in_the_file_and_its_length_does_not_tell(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    value = secrets.token_hex(20)
    fill(opened, [value, "short"])
    data = opened.store.read(layout.vault(SESSION))
    assert value.encode() not in data
    assert value[:8].encode() not in data
    assert b"password" not in data
    lengths = {len(box) for _, box in vault._boxes(data)}
    assert len(lengths) == 1


def test_the_keys_of_the_store_open_nothing(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    fill(opened, SOME)
    for known in (opened.key.kek, opened.key.seed, opened.content_key, opened.fingerprint_key):
        with pytest.raises(KeyUnavailableError, match="is sealed for the key"):
            values(opened, vaultkeys.VaultKey(known))


@given(cut=st.integers(0, 3000))
def test_a_vault_that_was_cut_has_what_was_written_whole(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    folder = tmp_path_factory.mktemp("cut")
    opened = new_store(folder / "store")
    fill(opened, ["one", "two", "three"])
    path = folder / "store" / layout.vault(SESSION)
    data = path.read_bytes()
    path.write_bytes(data[: min(cut, len(data) - 1)])
    if not path.read_bytes():
        return
    found = values(opened)
    assert found == ["one", "two", "three"][: len(found)]
    record = (len(data) - vault.HEADER) // 3
    assert len(found) == max(0, (min(cut, len(data) - 1) - vault.HEADER)) // record


def test_records_are_bound_to_their_session_and_place(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    other = "ses_01K0000000000000000000000B"
    fill(opened, ["one", "two"], other)
    moved = opened.store.read(layout.vault(other))
    opened.store.replace(layout.vault(SESSION), moved)
    with pytest.raises(FormatError, match="a record of the vault was changed"):
        values(opened)
    boxes = [box for _, box in vault._boxes(moved)]
    swapped = moved[: vault.HEADER] + b"".join(len(box).to_bytes(4, "big") + box for box in reversed(boxes))
    opened.store.replace(layout.vault(other), swapped)
    with pytest.raises(FormatError):
        vault.read(opened.store, other, KEY, opened.fingerprint_key)


def test_a_record_that_somebody_else_has_sealed_is_refused(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    writer = vault.create(opened.store, SESSION, KEY.public, os.urandom)
    writer.keep("01234567", "password", "made up")  # without the fingerprint key nobody knows the right one
    writer.flush()
    with pytest.raises(FormatError, match="none of this store's"):
        values(opened)


def test_dropped_and_missing_vaults_are_told_apart(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    with pytest.raises(NotFoundError, match="without --vault"):
        values(opened)
    fill(opened, SOME)
    vault.drop(opened.store, SESSION)
    with pytest.raises(NotFoundError, match="was dropped"):
        values(opened)
    assert vault.session_ids(opened.store) == [SESSION]


def test_what_is_too_long_or_no_secret_is_not_kept(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    writer = vault.create(opened.store, SESSION, KEY.public, os.urandom)
    writer.keep("0" * 8, "too-deep", "0")
    writer.keep("0" * 8, "undecodable", "x" * (vault.MAX_VALUE + 1))
    writer.flush()
    assert vault.count(opened.store, SESSION) == 0


# -- with the log -------------------------------------------------------------------------------------------------------


def recorded(store: FakeStore) -> tuple[OpenStore, SessionWriter, vault.VaultWriter]:
    entropy = Entropy()
    key = keys.generate(entropy)
    opening.create(store, key, entropy)
    opened = opening.open_store(store, key)
    kept = vault.create(store, SESSION, KEY.public, os.urandom)
    data_key = opened.new_data_key(SESSION, entropy)
    return opened, SessionWriter(opened, SESSION, data_key, clock=Clock(), entropy=entropy, companion=kept), kept


def test_the_vault_is_on_the_device_before_the_line_that_has_the_placeholder() -> None:
    store = FakeStore()
    _, writer, kept = recorded(store)
    store.done.clear()
    kept.keep("0" * 8, "password", "value")
    writer.append(draft(1))
    writer.commit()
    own = f"{SESSION}.vault"
    assert store.done.index(("sync", own)) < store.done.index(("write", "events.jsonl"))
    kept.keep("1" * 8, "password", "value")
    writer.append(draft(2))
    writer.flush()
    before = [("write", own), ("sync", own), ("write", "content.pack"), ("sync", "content.pack")]
    assert store.done[-5:] == [*before, ("write", "events.jsonl")]


def test_a_vault_that_cannot_be_written_stops_the_log() -> None:
    store = FakeStore()
    _, writer, kept = recorded(store)
    kept.keep("0" * 8, "password", "value")
    writer.append(draft(1))
    store.fail = {("write", f"{SESSION}.vault")}
    with pytest.raises(StoreError):
        writer.flush()
    with pytest.raises(StoreError):
        writer.append(draft(2))


def test_a_store_has_one_vault_key_signed_by_its_own(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    with pytest.raises(UsageError, match="tacho vault init"):
        opening.vault_key(opened)
    opening.set_vault_key(opened, KEY.public)
    opening.set_vault_key(opened, KEY.public)
    assert opening.vault_key(opened) == KEY.public
    other = vaultkeys.generate(os.urandom)
    with pytest.raises(ConflictError, match="has a vault key already"):
        opening.set_vault_key(opened, other.public)
    opened.store.replace(layout.VAULT_KEY, vaultkeys.publish(other.public, opened.id, keys.generate(os.urandom)))
    with pytest.raises(FormatError, match="somebody changed it"):
        opening.vault_key(opened)


@given(st.data())
def test_a_vault_with_holes_has_what_is_before_the_first(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """A power cut leaves any pages of what was not synced, and zeros for the others; what was synced is there."""
    opened = new_store(tmp_path_factory.mktemp("holes") / "store")
    some = [f"value {number} " + "x" * data.draw(st.sampled_from([0, 1, 200, 300, 900, 5000])) for number in range(6)]
    fill(opened, some)
    path = Path(opened.store.url) / layout.vault(SESSION)
    whole = path.read_bytes()
    ends = [vault.HEADER, *(at + 4 + len(box) for at, box in vault._boxes(whole))]
    assert len(ends) == 7
    kept = data.draw(st.integers(0, 6))
    synced = ends[kept] if kept else data.draw(st.sampled_from([0, vault.HEADER]))
    size = data.draw(st.integers(synced, len(whole)))
    after, first = bytearray(whole[:size]), size
    for block in range(synced // 512 * 512, size, 512):
        if data.draw(st.booleans()):
            start, end = max(block, synced), min(block + 512, size)
            first = min(first, start) if any(whole[start:end]) else first
            after[start:end] = bytes(end - start)
    path.write_bytes(after)
    if not size:
        with pytest.raises(NotFoundError, match="dropped"):
            values(opened)
        return
    good = sum(1 for end in ends[1:] if end <= first)
    found = values(opened)
    assert found == some[: len(found)]
    assert len(found) == good
    assert vault.count(opened.store, SESSION) in (good, good + 1)  # of a few zeros it takes the key to say that they are a hole


def test_a_record_that_was_changed_to_zeros_elsewhere_is_damage(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    fill(opened, SOME)
    path = Path(opened.store.url) / layout.vault(SESSION)
    data = bytearray(path.read_bytes())
    data[vault.HEADER + 100 : vault.HEADER + 130] = bytes(30)
    path.write_bytes(data)
    with pytest.raises(FormatError, match="was changed"):
        values(opened)

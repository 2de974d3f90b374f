"""A device that fails and recovers: nothing that was committed is lost, what was not is written anew, what had no room is counted, and
no power cut afterwards brings the failed write back to life."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_helpers import SESSION, Clock, Entropy, check, draft
from page_store import PageStore

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import StoreError
from tachograph.crypto import keys, vaultkeys
from tachograph.log import lasting, opening, recover, vault
from tachograph.log.lasting import LastingWriter
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.log.writer import Companion, SessionWriter
from tachograph.redact.placeholder import fingerprint


class Steps(Clock):
    """The time that the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class Device:
    """``refuses``: which (operation, kind of file) fail at the moment."""

    def __init__(self, *, room: int = lasting.ROOM, seed: int = 1) -> None:
        self.rng = random.Random(seed)
        self.store = PageStore()
        self.refuses: set[tuple[str, str]] = set()
        self.store.refuse = lambda operation, name: (operation, name.partition(".")[2]) in self.refuses
        key = keys.generate(Entropy())
        opening.create(self.store, key, Entropy())
        self.opened: OpenStore = opening.open_store(self.store, key)
        self.data_key = self.opened.new_data_key(SESSION, self.rng.randbytes)
        self.clock = Steps()
        self.room = room
        self.with_companion(None)
        self.given: list[str] = []

    def with_companion(self, companion: Companion | None) -> None:
        """Begins the session, of which nothing is written yet."""
        if companion is not None:
            self.writer.close()
            for name in [name for name in self.store.objects if name.startswith("sessions/")]:
                self.store.remove(name)
        more = {"clock": self.clock, "entropy": self.rng.randbytes}
        writer = SessionWriter(self.opened, SESSION, self.data_key, companion=companion, **more)
        self.writer = LastingWriter(writer, self.opened, self.data_key, room=self.room, **more)

    def append(self, number: int = 0) -> None:
        self.given.append(self.writer.append(draft(number)).id)

    def end(self) -> Any:
        self.refuses.clear()
        self.clock.now += 100
        self.given.append(self.writer.append(Draft(event=events.SessionEnd())).id)
        self.writer.commit()
        self.writer.seal()
        self.writer.close()
        return check(self.opened)

    def entries(self) -> list[events.Event]:
        return [entry.event for entry in Recording(self.opened, SESSION).entries]

    def present(self) -> list[str]:
        return [event.id for event in self.entries() if not isinstance(event, (events.Gap, events.Segment))]

    def gaps(self) -> list[events.Gap]:
        return [event for event in self.entries() if isinstance(event, events.Gap)]


EACH = [(operation, kind) for operation in ("write", "sync") for kind in ("events.jsonl", "content.pack", "seals")]


@pytest.mark.parametrize("fault", [*EACH, ("create", "events.jsonl"), ("create", "content.pack")])
def test_what_was_not_committed_is_written_anew(fault: tuple[str, str]) -> None:
    device = Device()
    device.append()
    device.writer.seal()
    device.append()
    device.refuses = {fault, ("sync", "events.jsonl")}  # the latter fails in any case, so that it comes to creating
    with pytest.raises(StoreError):
        device.writer.seal()
    for number in range(5):
        device.append(number)
        with pytest.raises(StoreError):
            device.writer.commit()
        device.clock.now += 1 if number % 2 else 0
    result = device.end()
    assert (result.good, result.ended, result.sealed) == (True, True, result.events), result.to_json()
    assert device.present() == device.given
    assert [gap.reason for gap in device.gaps()] == ["write_failed"]
    assert len(list(Recording(device.opened, SESSION).expanded())) == result.events


def test_a_descriptor_that_failed_is_never_used_again() -> None:
    device = Device()
    device.append()
    device.writer.commit()
    device.append()
    device.refuses = {("sync", "events.jsonl")}
    with pytest.raises(StoreError):
        device.writer.commit()
    before = bytes(device.store.objects[f"sessions/{SESSION}/00000001.events.jsonl"])
    device.end()
    assert bytes(device.store.objects[f"sessions/{SESSION}/00000001.events.jsonl"]) == before
    # The line is in the first segment, too, where a reader must not find it, and counts once.
    assert before.count(b'"type":"note"') == 2
    assert len(device.present()) == 3


def test_memory_is_bounded_and_drops_are_counted_in_their_place() -> None:
    device = Device(room=20_000)
    device.append()
    device.refuses = {("write", "events.jsonl")}
    with pytest.raises(StoreError):
        device.writer.commit()
    for number in range(200):
        device.append(number)
    result = device.end()
    assert result.good, result.to_json()
    kept = device.present()
    assert kept[:-1] == device.given[: len(kept) - 1]
    assert kept[-1] == device.given[-1]
    (dropped,) = [gap.count for gap in device.gaps() if gap.reason == "dropped"]
    assert dropped == len(device.given) - len(kept) == device.writer.dropped > 100
    assert [event.TYPE for event in device.entries()][-2:] == ["gap", "session_end"]


def test_tries_are_rare_and_each_says_why() -> None:
    device = Device()
    device.append()
    device.refuses = {("create", "events.jsonl"), ("write", "content.pack")}
    tries = 0
    for _ in range(1000):
        device.clock.now += 0.1
        before = len(device.store.done)
        with pytest.raises(StoreError, match="told so"):
            device.writer.commit()
        tries += len(device.store.done) > before
        assert device.writer.waits <= lasting.BACK_OFF[1]
    assert tries < 15
    assert device.end().good


@given(st.integers(0, 2**32))
def test_any_faults_in_any_order_and_then_a_power_cut(seed: int) -> None:
    rng = random.Random(seed)
    device = Device(seed=seed)
    acknowledged = 0
    for _ in range(rng.randrange(1, 25)):
        device.refuses = set(rng.sample(EACH, rng.choice([0, 0, 1, 2])))
        if rng.random() < 0.2:
            device.refuses.add(("create", rng.choice(["events.jsonl", "seals", "content.pack"])))
        device.clock.now += rng.choice([0, 1, 40])
        for _ in range(rng.randrange(3)):
            device.append(rng.randrange(9))
        try:
            getattr(device.writer, rng.choice(["flush", "commit", "commit", "seal", "roll"]))()
        except StoreError:
            continue
        if device.writer.failure is None:
            try:
                device.writer.commit()
            except StoreError:
                continue
            acknowledged = len(device.given)
    if rng.random() < 0.5:
        result = device.end()
        assert (result.good, result.ended) == (True, True), result.to_json()
        assert device.present() == device.given
        acknowledged = len(device.given)
    # What the device has of a failed write nobody knows, so not even a reader's view of it may matter.
    device.refuses.clear()
    device.store.power_cut(rng.randint, page=rng.choice([512, 4096]))
    result = check(device.opened)
    assert result.verdict in ("verified", "unsealed", "torn"), result.to_json()
    assert device.present()[:acknowledged] == device.given[:acknowledged]
    writer = recover.resume(device.opened, SESSION, clock=Clock(), entropy=rng.randbytes, reason="host_lost")
    writer.seal()
    writer.close()
    result = check(device.opened)
    assert result.good, result.to_json()


@pytest.mark.parametrize("fault", [("write", "vault"), ("sync", "vault")])
def test_a_vault_whose_file_fails_is_given_up_and_the_log_says_so(fault: tuple[str, str]) -> None:
    device = Device()
    public = vaultkeys.VaultKey(bytes(range(32)))
    kept = vault.create(device.store, SESSION, public.public, device.rng.randbytes)
    device.with_companion(kept)

    def mask(value: str) -> None:
        kept.keep(fingerprint(device.opened.fingerprint_key, value), "password", value)

    mask("first")
    device.append(1)
    device.writer.commit()
    device.refuses = {fault}
    mask("second")
    device.append(2)
    with pytest.raises(StoreError):
        device.writer.commit()
    device.clock.now += 100
    device.append(3)
    mask("third")  # its redactor does not know, and need not
    device.writer.commit()  # though the vault's file is as broken as before
    assert device.writer.failure is None
    device.append(4)
    device.writer.commit()
    result = device.end()
    assert (result.verdict, result.content, result.problems) == ("verified", "opened", [])
    assert device.present() == device.given
    assert [gap.reason for gap in device.gaps()] == ["write_failed", "vault_lost"]
    read = [each.value for each in vault.read(device.store, SESSION, public, device.opened.fingerprint_key)]
    assert read[0] == "first"
    assert "third" not in read


def test_a_vault_that_is_well_goes_on_when_the_log_fails() -> None:
    device = Device()
    public = vaultkeys.VaultKey(bytes(range(32)))
    kept = vault.create(device.store, SESSION, public.public, device.rng.randbytes)
    device.with_companion(kept)
    for number in range(4):
        value = f"value {number}"
        kept.keep(fingerprint(device.opened.fingerprint_key, value), "password", value)
        device.append(number)
        device.refuses = {("sync", "events.jsonl")} if number == 1 else set()
        with contextlib.suppress(StoreError):
            device.writer.commit()
        device.clock.now += 100
    assert device.end().good
    assert [gap.reason for gap in device.gaps()] == ["write_failed"]
    read = [each.value for each in vault.read(device.store, SESSION, public, device.opened.fingerprint_key)]
    assert read == [f"value {number}" for number in range(4)]

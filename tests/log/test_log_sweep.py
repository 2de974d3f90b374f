"""Each byte of each file of a small store, cut off, zeroed to the end, or garbled: no reader crashes, nothing verifies that should not,
and what was sealed survives recovery or is told of. All of them with `make test-full`, every so many otherwise."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator

import pytest
from log_helpers import SESSION, Clock, Entropy, check, draft

from fake_store import FakeStore
from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import TachographError
from tachograph.crypto import keys, recipients, succession
from tachograph.format import layout
from tachograph.log import ledger, opening, recover
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.log.writer import SessionWriter

KEY = keys.generate(Entropy())
OTHER = "ses_01K0000000000000000000000B"


def store(*, end: bool) -> FakeStore:
    """A session of two segments, with seals, and a ledger of two entries."""
    made, entropy, clock = FakeStore(), Entropy(), Clock()
    opening.create(made, KEY, entropy)
    opened = opening.open_store(made, KEY)
    writer = SessionWriter(opened, SESSION, opened.new_data_key(SESSION, entropy), clock=clock, entropy=entropy)
    writer.append(Draft(event=events.SessionStart(name="test"), contents={"facts_uri": {"argv": ["a"]}}))
    writer.append(draft(1))
    writer.seal()
    writer.roll()
    writer.append(draft(2))
    writer.seal()
    writer.append(Draft(event=events.SessionEnd()) if end else draft(3))
    writer.seal() if end else writer.commit()
    writer.close()
    for number in range(2):
        with ledger.writing(opened, clock=clock, entropy=entropy, pause=lambda _: None) as book:
            book.append(events.LedgerEntry(action="unmasked", subject=SESSION, detail={"number": number}), reason="a reason")
    return made


def copied(original: FakeStore, name: str, data: bytes) -> FakeStore:
    made = FakeStore()
    made.objects = {each: bytearray(data if each == name else held) for each, held in original.objects.items()}
    return made


HARMS: dict[str, Callable[[bytes, int], bytes]] = {
    "cut": lambda data, at: data[:at],
    "zero": lambda data, at: data[:at] + bytes(len(data) - at),
    "garble": lambda data, at: data[:at] + random.Random(at).randbytes(64) + data[at + 64 :],
    "flip": lambda data, at: data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :],
}


def swept(step: int, *, end: bool) -> Iterator[tuple[str, str, int, FakeStore]]:
    original = store(end=end)
    for name, held in sorted(original.objects.items()):
        for harm, change in HARMS.items():
            for at in range(0, len(held), step):
                data = change(bytes(held), at)
                if data != bytes(held):
                    yield harm, name, at, copied(original, name, data)


def judged(made: FakeStore, log: str) -> tuple[OpenStore | None, bool]:
    """Whether the log is good; every reader may refuse, in its own words, and nothing else."""
    opened = None
    try:
        opened = opening.open_store(made, KEY)
        good = check(opened, log).good
        recording = Recording(opened, log)
        list(recording.expanded())
        ledger.entries(made)
    except TachographError:
        good = False
    return opened, good


def sealed_lines(made: FakeStore) -> list[bytes]:
    raw = b"".join(bytes(made.objects[layout.events(SESSION, number)]) for number in (1, 2))
    return raw.splitlines(keepends=True)


def sweep(step: int) -> int:
    count = 0
    for harm, name, at, made in swept(step, end=True):
        count += 1
        log = layout.LEDGER if name.startswith("ledger/") else SESSION
        _, good = judged(made, log)
        # A cut behind a whole seal (and of all later ones) is for the ledger to find; nothing else here may pass.
        if good and name.startswith(("sessions/", "ledger/")) and not name.endswith("/lock"):
            assert harm == "cut", (harm, name, at)
            assert name.endswith("00000001.seals"), (harm, name, at)
    return count


def sweep_recovery(step: int) -> int:
    count, original = 0, store(end=False)
    lines = sealed_lines(original)[:5]
    for harm, name, at, made in swept(step, end=False):
        if not name.startswith("sessions/"):
            continue
        count += 1
        try:
            opened = opening.open_store(made, KEY)
            writer = recover.resume(opened, SESSION, clock=Clock(), entropy=random.Random(at).randbytes, reason="host_lost")
            writer.append(Draft(event=events.SessionEnd(status="lost")))
            writer.seal()
            writer.close()
        except TachographError:
            continue  # not a log that a crash can leave: it says so, and nothing was written over it
        result = check(opened)
        if result.good:
            assert sealed_lines(made)[:4] == lines[:4], (harm, name, at)
    return count


def entered(made: FakeStore, seed: int) -> None:
    opened = opening.open_store(made, KEY)
    with ledger.writing(opened, clock=Clock(), entropy=random.Random(seed).randbytes, pause=lambda _: None) as book:
        book.append(events.LedgerEntry(action="unmasked", subject=SESSION, detail={"number": 2}))


def sweep_ledger(step: int) -> int:
    """The next writer of a ledger that was harmed either refuses or goes on from all that was sealed; it changes nothing that is there."""
    count, original = 0, store(end=True)
    names = [layout.events(layout.LEDGER, number) for number in (1, 2)]
    lines = b"".join(bytes(original.objects[name]) for name in names).splitlines(keepends=True)
    for harm, name, at, made in swept(step, end=True):
        if not name.startswith("ledger/") or name.endswith("/lock"):
            continue
        count += 1
        before = {each: bytes(data) for each, data in made.objects.items()}
        try:
            entered(made, at)
            accepted = True
        except TachographError:
            accepted = False
        assert {each: bytes(made.objects[each]) for each in before} == before, (harm, name, at)
        if not accepted:
            continue
        opened, good = judged(made, layout.LEDGER)
        if good:
            assert opened is not None
            kept = b"".join(before[each] for each in names).splitlines(keepends=True)
            assert kept[: len(lines)] == lines, (harm, name, at)  # what was sealed is there
            assert ledger.entries(made)[-1].line["detail"] == {"number": 2}, (harm, name, at)
    return count


def with_all_keys() -> FakeStore:
    """As ``store``, and with a file of each kind below ``keys/``."""
    made, other = store(end=False), keys.generate(random.Random(2).randbytes)
    opened = opening.open_store(made, KEY)
    opening.set_vault_key(opened, bytes(range(32)))
    made.put_new(layout.RECIPIENTS, recipients.dump(opened.recipients(), opened.id, KEY))
    made.put_new(layout.VERIFIERS, succession.dump([succession.statement(KEY, other, opened.id)]))
    return made


def uses(opened: OpenStore, made: FakeStore, seed: int) -> list[Callable[[], object]]:
    """All that needs keys."""
    random_bytes = random.Random(seed).randbytes
    return [
        lambda: {each: opened.data_key(each) for each in (SESSION, layout.LEDGER)},
        lambda: opening.vault_key(opened),
        lambda: opened.new_data_key(OTHER, random_bytes),
        lambda: recover.resume(opened, SESSION, clock=Clock(), entropy=random_bytes, reason="host_lost").close(),
        lambda: entered(made, seed),
    ]


def attempted(act: Callable[[], object]) -> object:
    try:
        return act()
    except TachographError:
        return None


def sweep_keys(step: int) -> int:
    """With a harmed file of keys: whoever opens the store, makes it again, goes on with a session or begins one refuses, or has the very
    same keys as before; and nobody puts other ones in their place."""
    count, original = 0, with_all_keys()
    true = opening.open_store(original, KEY)
    data_keys = {name: true.data_key(name) for name in (SESSION, layout.LEDGER)}
    for name, held in sorted(original.objects.items()):
        if not name.startswith(layout.KEYS) and name != layout.STORE:
            continue
        for harm, change in HARMS.items():
            for at in range(0, len(held), step):
                data = change(bytes(held), at)
                if data == bytes(held):
                    continue
                count += 1
                made, rng = copied(original, name, data), random.Random(at)
                with contextlib.suppress(TachographError):
                    opening.create(made, KEY, rng.randbytes)
                try:
                    opened = opening.open_store(made, KEY)
                except TachographError:
                    assert bytes(made.objects[name]) == data, (harm, name, at)
                    continue
                assert (opened.content_key, opened.fingerprint_key) == (true.content_key, true.fingerprint_key), (harm, name, at)
                said = [attempted(act) for act in uses(opened, made, at)]
                assert said[0] in (None, data_keys), (harm, name, at)
                assert said[1] in (None, bytes(range(32))), (harm, name, at)
                if said[2] is not None:
                    # Wrapped for those who were on the list, and for nobody else.
                    assert opening.open_store(made, KEY).data_key(OTHER) == said[2], (harm, name, at)
                assert bytes(made.objects[name]) == data, (harm, name, at)
    return count


def test_a_sweep() -> None:
    assert sweep(29) > 400
    assert sweep_recovery(31) > 300
    assert sweep_ledger(37) > 200
    assert sweep_keys(23) > 400


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_every_byte() -> None:
    assert sweep(1) > 20_000


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_every_byte_and_then_recovery() -> None:
    assert sweep_recovery(1) > 10_000


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_every_byte_of_the_ledger_and_then_its_next_writer() -> None:
    assert sweep_ledger(1) > 8_000


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_every_byte_of_the_keys_and_then_all_that_uses_them() -> None:
    assert sweep_keys(1) > 9_000

"""The ledger's next writer syncs the seal of the one before and nothing else: a power cut, or a kill, at any moment leaves a ledger that is
good when somebody has gone on, with each entry that was said to be made."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest
from log_helpers import SESSION, Clock
from page_store import Killed, PageStore

from tachograph.core.events import LedgerEntry
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.log import book, ledger, opening
from tachograph.log.opening import OpenStore
from tachograph.log.verify import verify


def enter(opened: OpenStore, rng: random.Random, name: str, reason: str | None) -> None:
    with ledger.writing(opened, clock=Clock(), entropy=rng.randbytes, pause=time.sleep, wait=0) as log:
        log.append(LedgerEntry(action="read", subject=SESSION, detail={"verb": name}), reason=reason)


def killed_at(operation: str, kind: str, times: int) -> Callable[[str, str], bool]:
    """The process dies when it is about to do that for the so manieth time."""

    def dies(now: str, name: str) -> bool:
        nonlocal times
        if (now, name.rpartition(".")[2]) == (operation, kind):
            times -= 1
            if not times:
                raise Killed
        return False

    return dies


def entered(opened: OpenStore) -> list[str]:
    return [book.entry_of(entry).detail["verb"] for entry in book.read(opened.store).entries]


@pytest.mark.parametrize("seed", range(250))
def test_entries_outlive_power_cuts_and_kills(seed: int) -> None:
    rng, store = random.Random(seed), PageStore()
    key = keys.generate(rng.randbytes)
    opening.create(store, key, rng.randbytes)
    opened = opening.open_store(store, key)
    said: list[str] = []
    for life in range(rng.randrange(1, 6)):
        store.budget = rng.choice([None, rng.randrange(1, 1500), rng.randrange(1, 6000)])
        if store.budget is None:
            store.refuse = killed_at(rng.choice(["sync", "write"]), rng.choice(["seals", "jsonl", "pack"]), rng.randrange(1, 4))
        try:
            for number in range(rng.randrange(1, 4)):
                name = f"{life}.{number}"
                enter(opened, rng, name, rng.choice([None, "because " * rng.randrange(1, 90)]))
                said.append(name)
        except Killed:
            pass
        store.budget, store.refuse = None, lambda operation, name: False
        store.locked.clear()
        if rng.random() < 0.5:
            store.power_cut(rng.randint, page=rng.choice([512, 4096]))
        assert set(said) <= set(entered(opened))
    enter(opened, rng, "last", None)
    found = entered(opened)
    assert [name for name in found if name in said] == said
    assert found[-1] == "last"
    result = verify(store, layout.LEDGER, public=key.public(), data_key=opened.data_key(layout.LEDGER))
    assert result.good, result.to_json()

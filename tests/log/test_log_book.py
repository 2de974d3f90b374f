"""What the ledger says of a session: holds, retention, seals, tombstones; and whether it is to be believed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from log_helpers import SESSION, Clock, Entropy, new_store

from tachograph.core.errors import TamperedError
from tachograph.core.events import LedgerEntry
from tachograph.crypto import keys
from tachograph.format import layout
from tachograph.log import book, ledger
from tachograph.log.book import Book
from tachograph.log.opening import OpenStore

OTHER = "ses_01K0000000000000000000000B"


def enter(opened: OpenStore, *what: tuple[str, str | None, dict[str, Any]]) -> Book:
    with ledger.writing(opened, clock=Clock(), entropy=Entropy(), pause=time.sleep) as writing:
        for action, subject, detail in what:
            writing.append(LedgerEntry(action=action, subject=subject, user="ada", host="here", detail=detail))
    return book.read(opened.store)


@pytest.fixture
def opened(tmp_path: Path) -> OpenStore:
    return new_store(tmp_path / "store")


def test_an_empty_book_says_nothing(opened: OpenStore) -> None:
    found = book.read(opened.store)
    assert (found.size, found.entries, found.sessions(), found.unsealed_by(opened.key.public())) == (0, [], [], None)
    assert (found.opened(SESSION), found.sealed(SESSION), found.holds(SESSION), found.retention(SESSION)) == (None, [], {}, None)
    assert not found.pins(0, found.root_at(0))


def test_holds_are_a_set_of_matters(opened: OpenStore) -> None:
    found = enter(opened, ("held", SESSION, {"matter": "a"}), ("held", SESSION, {"matter": "b"}), ("held", OTHER, {"matter": "a"}))
    assert sorted(found.holds(SESSION)) == ["a", "b"]
    found = enter(opened, ("released", SESSION, {"matter": "a"}), ("released", SESSION, {"matter": "never"}))
    assert (sorted(found.holds(SESSION)), sorted(found.holds(OTHER))) == (["b"], ["a"])
    assert sorted(enter(opened, ("held", SESSION, {"matter": "a"})).holds(SESSION)) == ["a", "b"]


def test_retention_is_what_was_in_force_at_the_opening_and_only_extended(opened: OpenStore) -> None:
    found = enter(opened, ("opened", SESSION, {}), ("retention", None, {"days": 30}), ("opened", OTHER, {}))
    assert (found.retention(SESSION), found.retention(OTHER)) == (None, 30)
    found = enter(opened, ("retention", None, {"days": 90}), ("retention", OTHER, {"days": 7}), ("retention", SESSION, {"days": 7}))
    assert (found.retention(SESSION), found.retention(OTHER)) == (7, 30)
    found = enter(
        opened, ("retention", OTHER, {"days": 183}), ("retention", SESSION, {"days": "long"}), ("retention", SESSION, {"days": -1})
    )
    assert (found.retention(SESSION), found.retention(OTHER)) == (7, 183)


def test_seals_tombstones_and_sessions(opened: OpenStore) -> None:
    found = enter(
        opened, ("opened", SESSION, {}), ("sealed", SESSION, {"size": 3, "root": "ab", "ended": False}),
        ("sealed", SESSION, {"size": 5, "root": "cd", "ended": True}), ("sealed", SESSION, {"size": "x"}), ("deleted", SESSION, {}),
        ("read", None, {"verb": "ls"}),
    )  # fmt: skip
    assert found.sealed(SESSION) == [(3, "ab", False), (5, "cd", True)]
    assert found.sessions() == [SESSION]
    assert (found.tombstone(SESSION) or pytest.fail("none")).seq == 5
    assert found.shredded(SESSION) is None
    assert [entry.seq for entry in found.about(None)] == [6]


def test_the_roots_of_all_lengths_are_those_that_writers_saw(opened: OpenStore) -> None:
    seen = []
    for _ in range(7):
        with ledger.writing(opened, clock=Clock(), entropy=Entropy(), pause=time.sleep) as writing:
            writing.append(LedgerEntry(action="read", subject=SESSION))
            seen.append((writing.size, writing.root.hex()))
    found = book.read(opened.store)
    assert all(found.pins(size, root) for size, root in seen)
    assert not found.pins(seen[0][0], seen[1][1])
    assert not found.pins(99, seen[0][1])
    assert not found.pins(True, seen[0][1])


def test_who_reads_a_book_that_the_key_did_not_seal_is_told(opened: OpenStore, tmp_path: Path) -> None:
    found = enter(opened, ("opened", SESSION, {}))
    assert found.unsealed_by(opened.key.public()) is None
    assert "no signature by the expected key" in (found.unsealed_by(keys.KeyFile(b"k" * 32, b"s" * 32).public()) or "")
    seals = tmp_path / "store" / layout.seals(layout.LEDGER, 1)
    seals.write_bytes(b"")
    assert book.read(opened.store).unsealed_by(opened.key.public()) == "it has no seal"


def test_a_book_is_read_up_to_where_the_chain_breaks(opened: OpenStore, tmp_path: Path) -> None:
    enter(opened, ("opened", SESSION, {}), ("opened", OTHER, {}), ("read", OTHER, {"verb": "cat"}))
    path = tmp_path / "store" / layout.events(layout.LEDGER, 1)
    path.write_bytes(path.read_bytes().replace(OTHER.encode(), SESSION.encode(), 1))
    with pytest.raises(TamperedError, match="tacho verify ledger"):
        book.read(opened.store)
    found = book.read(opened.store, strict=False)
    assert (found.size, found.sessions()) == (1, [SESSION])
    assert "the chain breaks" in (found.unsealed_by(opened.key.public()) or "")

"""What was heard of the ledger is the same whether it was read at once or bit by bit, and nothing is believed that has no seal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fleet_helpers import Clock, Entropy, Fleet

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.fleet.heard import Heard, listen
from tachograph.format import layout
from tachograph.log import tail
from tachograph.log.writer import SessionWriter


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path / "store")


def again(heard: Heard) -> Heard:
    """What was kept of it."""
    return Heard.from_json(json.loads(json.dumps(heard.to_json())))


def test_bit_by_bit_is_as_at_once(fleet: Fleet) -> None:
    heard = listen(fleet.store, fleet.opened.trusted)
    assert (heard.links, heard.problem) == ({}, None)
    for number in range(6):
        fleet.enter("linked", f"ses_{number % 2}", kind="ci", ref=str(number))
        if number == 3:
            fleet.enter("unlinked", "ses_0", kind="ci", ref="2")
            fleet.enter("held", "ses_1", matter="INC")
        heard = listen(fleet.store, fleet.opened.trusted, again(heard))
        whole = listen(fleet.store, fleet.opened.trusted)
        assert heard.to_json() == whole.to_json()
    assert sorted(heard.links) == [
        ("ses_0", "ci", "0"),
        ("ses_0", "ci", "4"),
        ("ses_1", "ci", "1"),
        ("ses_1", "ci", "3"),
        ("ses_1", "ci", "5"),
        ("ses_1", "hold", "INC"),
    ]
    fleet.enter("released", "ses_1", matter="INC")
    fleet.enter("deleted", "ses_0")
    heard = listen(fleet.store, fleet.opened.trusted, again(heard))
    assert ("ses_1", "hold", "INC") not in heard.links
    assert {row["session_id"] for row in heard.rows()} == {"ses_1"}


def test_nothing_is_read_twice(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        fleet.enter("linked", "ses_0", kind="ci", ref=str(number))
    heard = listen(fleet.store, fleet.opened.trusted)
    read: list[str] = []
    real = fleet.store.read
    monkeypatch.setattr(fleet.store, "read", lambda name, **more: (read.append(name), real(name, **more))[1])
    fleet.enter("linked", "ses_0", kind="ci", ref="new")
    read.clear()
    assert ("ses_0", "ci", "new") in listen(fleet.store, fleet.opened.trusted, heard).links
    assert {name for name in read if name.endswith(".events.jsonl")} == {layout.events("ledger", 5), layout.events("ledger", 6)}


def test_what_has_no_seal_is_not_believed_until_it_has_one(fleet: Fleet) -> None:
    fleet.enter("linked", "ses_0", kind="ci", ref="1")
    heard = listen(fleet.store, fleet.opened.trusted)
    left = tail.left_behind(fleet.opened)
    writer = SessionWriter(
        fleet.opened,
        layout.LEDGER,
        fleet.opened.data_key(layout.LEDGER),
        clock=Clock(),
        entropy=Entropy(),
        segment=2,
        previous=left.previous,
        tree=left.tree,
    )
    writer.append(Draft(event=events.Gap(reason="next_writer", frontier=[peak.hex() for peak in left.tree.peaks])))
    writer.append(Draft(event=events.LedgerEntry(action="linked", subject="ses_0", detail={"kind": "ci", "ref": "2"})))
    writer.commit()
    heard = listen(fleet.store, fleet.opened.trusted, again(heard))
    assert list(heard.links) == [("ses_0", "ci", "1")]
    writer.seal()
    writer.close()
    heard = listen(fleet.store, fleet.opened.trusted, again(heard))
    assert sorted(heard.links) == [("ses_0", "ci", "1"), ("ses_0", "ci", "2")]


def test_what_its_writer_never_sealed_is_void_for_the_next_one(fleet: Fleet) -> None:
    fleet.enter("linked", "ses_0", kind="ci", ref="1")
    left = tail.left_behind(fleet.opened)
    writer = SessionWriter(
        fleet.opened,
        layout.LEDGER,
        fleet.opened.data_key(layout.LEDGER),
        clock=Clock(),
        entropy=Entropy(),
        segment=2,
        previous=left.previous,
        tree=left.tree,
    )
    writer.append(Draft(event=events.Gap(reason="next_writer", frontier=[peak.hex() for peak in left.tree.peaks])))
    writer.append(Draft(event=events.LedgerEntry(action="linked", subject="ses_0", detail={"kind": "ci", "ref": "void"})))
    writer.commit()
    writer.close()
    heard = listen(fleet.store, fleet.opened.trusted)
    fleet.enter("linked", "ses_0", kind="ci", ref="3")
    for before in (None, again(heard)):
        found = listen(fleet.store, fleet.opened.trusted, before)
        assert found.problem is None
        assert sorted(found.links) == [("ses_0", "ci", "1"), ("ses_0", "ci", "3")]


def test_a_seal_by_another_key_is_none(fleet: Fleet, tmp_path: Path) -> None:
    fleet.enter("linked", "ses_0", kind="ci", ref="1")
    other = Fleet(tmp_path / "other")
    assert listen(fleet.store, frozenset({b"\x01" * 32})).links == {}
    assert listen(fleet.store, fleet.opened.trusted | other.opened.trusted).links


def test_a_ledger_that_was_changed_is_read_up_to_there_and_said_to_be(fleet: Fleet) -> None:
    for number in range(3):
        fleet.enter("linked", "ses_0", kind="ci", ref=str(number))
    heard = listen(fleet.store, fleet.opened.trusted)
    name = fleet.store._path(layout.events("ledger", 2))
    data = Path(name).read_bytes()
    Path(name).write_bytes(data.replace(b'"ref":"1"', b'"ref":"9"'))
    found = listen(fleet.store, fleet.opened.trusted)
    assert list(found.links) == [("ses_0", "ci", "0")]
    assert "the chain breaks" in str(found.problem)
    assert len(heard.links) == 3


def test_a_ledger_that_another_took_the_place_of_is_read_anew(fleet: Fleet, tmp_path: Path) -> None:
    for number in range(3):
        fleet.enter("linked", "ses_0", kind="ci", ref=str(number))
    heard = listen(fleet.store, fleet.opened.trusted)
    for name in list(fleet.store.names("ledger/")):
        if name.endswith(("2.events.jsonl", "3.events.jsonl", "2.seals", "3.seals", "2.content.pack", "3.content.pack")):
            fleet.store.remove(name)
    assert list(listen(fleet.store, fleet.opened.trusted, again(heard)).links) == [("ses_0", "ci", "0")]


@pytest.mark.parametrize(
    "kept",
    [None, 7, {}, {"links": [1]}, {"links": [], "deleted": [], "segment": 1, "offset": 0, "previous": "", "size": 3, "peaks": ["00"]}],
)
def test_a_state_of_another_kind_is_none(kept: object) -> None:
    assert Heard.from_json(kept).to_json() == Heard().to_json()

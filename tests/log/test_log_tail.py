"""The ledger's next writer reads its last segment only, and believes nothing there that the own key has not sealed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from log_helpers import SESSION, Clock, Entropy, new_store

from fake_store import FakeStore
from tachograph.core.errors import TamperedError
from tachograph.core.events import LedgerEntry
from tachograph.crypto import keys, merkle, note
from tachograph.format import layout
from tachograph.log import ledger, opening, recover, tail
from tachograph.log.opening import OpenStore
from tachograph.log.verify import verify

TAIL = layout.LEDGER


class Counting(FakeStore):
    """Also writes down what was read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[str] = []

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        self.reads.append(name)
        return super().read(name, limit=limit)


def counting() -> tuple[Counting, OpenStore]:
    entropy, store = Entropy(), Counting()
    key = keys.generate(entropy)
    opening.create(store, key, entropy)
    return store, opening.open_store(store, key)


def enter(opened: OpenStore, count: int = 1, *, reason: str | None = None) -> None:
    with ledger.writing(opened, clock=Clock(), entropy=Entropy(), pause=time.sleep, wait=0) as book:
        for _ in range(count):
            book.append(LedgerEntry(action="read", subject=SESSION), reason=reason)


def read_by(store: Counting, opened: OpenStore) -> list[str]:
    """The ledger's files that the next entry reads."""
    store.reads.clear()
    enter(opened)
    return [name for name in store.reads if name.startswith("ledger/")]


def good(opened: OpenStore) -> bool:
    return verify(opened.store, TAIL, public=opened.key.public(), data_key=opened.data_key(TAIL)).verdict == "verified"


@pytest.mark.parametrize("reason", [None, "why"])
@pytest.mark.parametrize("entries", [1, 3])
def test_the_next_writer_reads_the_last_segment_only(entries: int, reason: str | None) -> None:
    store, opened = counting()
    for _ in range(9):
        enter(opened, entries, reason=reason)
    assert {name.split("/")[1][:8] for name in read_by(store, opened)} == {"00000009"}
    assert good(opened)


def test_the_tail_is_what_the_whole_says() -> None:
    _, opened = counting()
    for number in range(1, 12):
        enter(opened, number % 3 + 1)
        quick, whole = tail.left_behind(opened), recover.left_behind(opened, TAIL)
        assert (quick.previous, quick.segments, quick.tails) == (whole.previous, whole.segments, whole.tails)
        assert (quick.tree.size, quick.tree.peaks) == (whole.tree.size, whole.tree.peaks)


@pytest.mark.parametrize("last", range(20))
def test_galloping_finds_the_last_segment(last: int) -> None:
    store = FakeStore()
    for number in range(1, last + 1):
        store.objects[layout.events(TAIL, number)] = bytearray()
    assert tail.last_segment(store) == last


def _unseal(store: FakeStore) -> None:
    store.objects[layout.seals(TAIL, 4)].clear()


def _torn(store: FakeStore) -> None:
    store.objects[layout.events(TAIL, 4)] += b'{"v":1,"seq":'


def _torn_seal(store: FakeStore) -> None:
    store.objects[layout.seals(TAIL, 4)] += "tachograph/v1/ledger\n9\nabc\n\n—".encode()[:-1]


def _torn_pack(store: FakeStore) -> None:
    store.objects[layout.content(TAIL, 4)] += b"x" * 50


def _half_made(store: FakeStore) -> None:
    store.objects[layout.events(TAIL, 5)] = bytearray()


@pytest.mark.parametrize("change", [_unseal, _torn, _torn_seal, _torn_pack, _half_made])
def test_what_a_dead_writer_left_makes_the_next_one_read_all(change: Callable[[FakeStore], None]) -> None:
    store, opened = counting()
    for _ in range(4):
        enter(opened)
    change(store)
    assert {name.split("/")[1][:8] for name in read_by(store, opened)} >= {"00000001", "00000002", "00000003", "00000004"}
    result = verify(store, TAIL, public=opened.key.public())
    assert result.good, result.problems
    assert len({name.split("/")[1][:8] for name in read_by(store, opened)}) == 1, "the next segment has a frontier again"


def _refrontier(store: FakeStore, opened: OpenStore, frontier: list[str], *, key: keys.KeyFile) -> None:
    """The last segment's first line says another frontier; chained and sealed with it, as far as that goes."""
    name = layout.events(TAIL, 4)
    lines = bytes(store.objects[name]).splitlines(keepends=True)
    before = bytes(store.objects[layout.events(TAIL, 3)]).splitlines()[-1]
    previous, made = before[-66:-2].decode(), []
    for number, raw in enumerate(lines):
        body = raw[: raw.rindex(b',"hash":"')]
        if not number:
            start, _, rest = body.partition(b'"frontier":[')
            body = start + b'"frontier":[' + ",".join(f'"{one}"' for one in frontier).encode() + rest[rest.index(b"]") :]
        data, previous = body, hashlib.sha256(previous.encode() + body).hexdigest()
        made.append(data + b',"hash":"' + previous.encode() + b'"}\n')
    store.objects[name] = bytearray(b"".join(made))
    whole = [raw for n in (1, 2, 3, 4) for raw in bytes(store.objects[layout.events(TAIL, n)]).splitlines(keepends=True)]
    tree = merkle.Frontier()
    for raw in whole:
        tree.add(merkle.leaf(raw))
    signed = note.sign(note.Checkpoint(note.origin(TAIL), tree.size, tree.root()), "tachograph/" + key.id, key.signer())
    store.objects[layout.seals(TAIL, 4)] = bytearray(signed.encode() + b"\n")


@pytest.mark.parametrize("frontier", [["00" * 32], ["00" * 32] * 2, ["zz"], []])
def test_a_frontier_that_is_not_true_is_found_and_not_believed(frontier: list[str]) -> None:
    store, opened = counting()
    for _ in range(4):
        enter(opened)
    _refrontier(store, opened, frontier, key=opened.key)
    result = verify(store, TAIL, public=opened.key.public())
    assert (result.verdict, {problem["check"] for problem in result.problems}) == ("tampered", {"frontier"})
    assert "00000001" in {name.split("/")[1][:8] for name in read_by(store, opened)}


def test_the_seal_of_another_key_is_not_believed() -> None:
    store, opened = counting()
    for _ in range(4):
        enter(opened)
    quick = tail.left_behind(opened)
    before = [bytes(store.objects[layout.events(TAIL, n)]) for n in (1, 2, 3)]
    tree = merkle.Frontier()
    for raw in b"".join(before).splitlines(keepends=True):
        tree.add(merkle.leaf(raw))
    peaks = [peak.hex() for peak in tree.peaks]
    _refrontier(store, opened, peaks, key=keys.KeyFile(b"k" * 32, b"s" * 32))
    assert "00000001" in {name.split("/")[1][:8] for name in read_by(store, opened)}
    assert quick.segments == 4


def test_a_ledger_without_its_first_segment_is_not_begun_again(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    for _ in range(3):
        enter(opened)
    for kind in (layout.events, layout.seals, layout.content):
        (tmp_path / "store" / kind(TAIL, 1)).unlink()
    with pytest.raises(TamperedError, match="first segment of the ledger is gone"):
        enter(opened)


def test_a_decision_that_enters_nothing_leaves_no_trace(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    enter(opened, 2)
    before = sorted(opened.store.names("ledger/"))
    with ledger.writing(opened, clock=Clock(), entropy=Entropy(), pause=time.sleep) as book:
        assert [entry.seq for entry in book.book().entries] == [1, 2]
        assert (book.size, book.root) == (2, book.book().root_at(2))
    assert sorted(opened.store.names("ledger/")) == before


def test_what_was_just_entered_is_in_the_book(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    enter(opened)
    with ledger.writing(opened, clock=Clock(), entropy=Entropy(), pause=time.sleep) as book:
        assert book.book().size == 1
        assert book.append(LedgerEntry(action="held", subject=SESSION, detail={"matter": "m"})) == 3
        assert list(book.book().holds(SESSION)) == ["m"]
        assert book.book().pins(book.size, book.root.hex())

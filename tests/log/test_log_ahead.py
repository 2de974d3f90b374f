"""A far store, read ahead: what it says is what the store says, by one list for each part and one request for each file."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from log_helpers import new_store, write_session

from tachograph.core.errors import NotFoundError, StoreError
from tachograph.core.ports import SegmentLimit
from tachograph.format import layout
from tachograph.log import opening
from tachograph.log.ahead import ROOM, SMALL, Ahead
from tachograph.log.opening import OpenStore
from tachograph.log.verdict import Judge
from tachograph.stores.local import LocalStore

IDS = [f"ses_01K00000000000000000000{number:03d}" for number in range(60)]


class Far(LocalStore):
    """Counts what it is asked, and by how many threads."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.segments = SegmentLimit(size=1 << 20, seconds=60)
        self.lists: Counter[str] = Counter()
        self.reads: Counter[str] = Counter()
        self.threads: set[str] = set()
        self.fails: set[str] = set()

    def names(self, prefix: str) -> Iterator[str]:
        self.lists[prefix] += 1
        return super().names(prefix)

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        self.reads[name] += 1
        self.threads.add(threading.current_thread().name)
        if name in self.fails:
            raise StoreError(f"cannot read {name}; try again")
        return super().read(name, limit=limit)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, OpenStore]:
    folder = tmp_path_factory.mktemp("far") / "store"
    opened = new_store(folder)
    for session_id in IDS:
        write_session(opened, lines=2, session_id=session_id, entered=True)
    return folder, opened


@pytest.fixture
def far(place: tuple[Path, OpenStore]) -> Far:
    return Far(str(place[0]))


def test_it_says_what_the_store_says(place: tuple[Path, OpenStore], far: Far) -> None:
    plain = LocalStore(str(place[0]))
    with Ahead(far, window=4) as ahead:
        for prefix in ("sessions/", "keys/", "ledger/", f"sessions/{IDS[7]}/", "sessions/none/"):
            assert list(ahead.names(prefix)) == list(plain.names(prefix))
        names = [name for name in plain.names("") if not name.endswith("lock")]
        for name in [*names, *reversed(names), *names[::5]]:
            assert ahead.read(name) == plain.read(name)
            assert ahead.exists(name)
        for missing in (layout.keys("ses_none"), f"sessions/{IDS[3]}/00000002.seals", "sessions/none", "keys/zzz"):
            assert not ahead.exists(missing)
            with pytest.raises(NotFoundError):
                ahead.read(missing)


def test_a_verdict_on_all_takes_a_list_for_each_part_and_each_file_once(place: tuple[Path, OpenStore], far: Far) -> None:
    opened = opening.open_store(far, place[1].key)
    far.lists.clear()
    far.reads.clear()
    results, book = Judge(far, public=opened.trusted, opened=opened).everything()
    assert book is not None
    assert {each.verdict for each in [*results, book]} == {"verified"}
    assert {each.content for each in [*results, book]} == {"opened"}
    assert len(results) == len(IDS)
    # The ledger's list is asked for again by each who reads it: it may have grown.
    assert far.lists["sessions/"] == far.lists["keys/"] == 1
    assert sum(far.lists.values()) <= 5
    assert not [prefix for prefix in far.lists if prefix.count("/") > 1]
    assert {name for name, count in far.reads.items() if count > 1} == set()
    assert len(far.threads) > 2


def test_lines_alone_are_read_without_packs(far: Far) -> None:
    with Ahead(far) as ahead:
        list(ahead.names("sessions/"))
        for session_id in IDS:
            ahead.read(layout.events(session_id, 1))
    assert set(far.reads) == {layout.events(session_id, 1) for session_id in IDS}
    assert set(far.reads.values()) == {1}


def test_what_cannot_be_read_is_told_when_it_is_asked_for_and_not_before(far: Far) -> None:
    far.fails = {layout.events(IDS[5], 1)}
    with Ahead(far) as ahead:
        list(ahead.names("sessions/"))
        for session_id in IDS[:5]:
            ahead.read(layout.events(session_id, 1))
        for _ in range(2):
            with pytest.raises(StoreError, match="try again"):
                ahead.read(layout.events(IDS[5], 1))
        far.fails.clear()
        assert ahead.read(layout.events(IDS[5], 1))
        with pytest.raises(StoreError, match="longer than 10 bytes"):
            ahead.read(layout.events(IDS[6], 1), limit=10)


def test_what_is_kept_is_bounded(tmp_path: Path) -> None:
    far = Far(str(tmp_path / "store"))
    for number in range(ROOM // SMALL + 40):
        far.put_new(f"sessions/{number:05d}/00000001.seals", b"x" * SMALL)
    with Ahead(far) as ahead:
        for name in ahead.names("sessions/"):
            ahead.read(name)
            assert ahead._size <= ROOM
            assert sum(map(len, ahead._coming.values())) <= 2 * 32


def test_a_session_that_grew_after_the_list_is_judged_as_it_is_now(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    made = new_store(folder)
    for session_id in IDS[:2]:
        write_session(made, lines=2, session_id=session_id, entered=True)

    class Growing(Far):
        grown = False

        def names(self, prefix: str) -> Iterator[str]:
            found = list(super().names(prefix))
            if prefix == "sessions/" and not self.grown:
                self.grown = True
                hidden = f"sessions/{IDS[1]}/"  # its files came right after this list was made, and the ledger tells of them
                found = [name for name in found if not name.startswith(hidden) or name.endswith(".content.pack")]
            return iter(found)

    far = Growing(str(folder))
    opened = opening.open_store(far, made.key)
    results, book = Judge(far, public=opened.trusted, opened=opened).everything()
    assert far.grown
    assert book is not None
    assert [each.verdict for each in [*results, book]] == ["verified"] * 3


def test_nothing_is_written_through_it(far: Far) -> None:
    with Ahead(far) as ahead:
        for act in (ahead.put_new, ahead.replace):
            with pytest.raises(StoreError, match="only read here"):
                act("a", b"b")
        for once in (ahead.create, ahead.remove):
            with pytest.raises(StoreError, match="only read here"):
                once("a")

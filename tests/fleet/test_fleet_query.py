"""SQL that anybody may have written reads the tables of the catalogue, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fleet_helpers import Fleet, call, tool

from tachograph.core.errors import UsageError
from tachograph.fleet.query import Query, on_this_machine


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    made = Fleet(tmp_path / "store")
    made.session([call(), tool()])
    made.update()
    return made


@pytest.fixture
def query(fleet: Fleet) -> Iterator[Query]:
    found = Query(fleet.catalogue, fleet.store.root, memory=128, seconds=2)
    yield found
    found.close()


@pytest.mark.parametrize(
    "sql",
    [
        "COPY (SELECT 1) TO '{store}/catalogue/sessions/x.parquet'", "COPY sessions TO '{tmp}/x.csv'", "CREATE TABLE t AS SELECT 1", "INSTALL httpfs", "LOAD httpfs",
        "ATTACH '{tmp}/x.db'", "SET enable_external_access = true", "DROP VIEW sessions", "EXPORT DATABASE '{tmp}/out'", "SELECT 1; SELECT 2",
        "", "   ", "-- nothing", "INSERT INTO sessions VALUES (1)", "CHECKPOINT", "CALL pragma_version()", "SELECT 1; COPY (SELECT 1) TO '{tmp}/y'", "USE memory",
    ],
)  # fmt: skip
def test_only_one_statement_that_reads(query: Query, fleet: Fleet, tmp_path: Path, sql: str) -> None:
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="one statement that reads"):
        query.ask(sql.format(store=fleet.store.root, tmp=tmp_path))
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM '/etc/passwd'", "SELECT * FROM glob('/etc/*')", "SELECT * FROM read_csv('{store}/store.json')",
        "SELECT * FROM read_text('{store}/keys/store.json')", "SELECT * FROM read_blob('{store}/sessions/*/*.events.jsonl')",
        "SELECT * FROM read_text('{store}/catalogue/sessions/../../keys/store.json')", "SELECT * FROM read_parquet('https://127.0.0.1:1/x.parquet')",
        "SELECT * FROM read_blob('{store}/catalogue/state.json')",
    ],
)  # fmt: skip
def test_no_file_but_the_tables(query: Query, fleet: Fleet, sql: str) -> None:
    with pytest.raises(UsageError, match=r"(?i)file|access|extension|permission|does not exist"):
        query.ask(sql.format(store=fleet.store.root))


def test_what_reads_is_taken(query: Query) -> None:
    assert query.ask("FROM events SELECT count(*)").rows == [(4,)]
    assert query.ask("WITH a AS (SELECT 1 AS b) SELECT * FROM a").rows == [(1,)]
    assert query.ask("DESCRIBE sessions").columns[0] == "column_name"
    assert query.ask("EXPLAIN SELECT 1").rows
    assert query.ask("SELECT ? + 1", [4]).rows == [(5,)]


def test_maps_and_times_and_wide_sums_come_back_as_what_they_are(query: Query) -> None:
    ((models, started, total),) = query.ask("SELECT models, started, sum(events) FROM sessions GROUP BY ALL").rows
    assert models == {"m-1": 1}
    assert started.isoformat() == "2026-09-21T14:13:20+00:00"
    assert int(total) == 4


def test_two_columns_of_one_name_are_two(query: Query) -> None:
    answer = query.ask("SELECT 1 AS a, 2 AS a")
    assert len(answer.columns) == 2
    assert answer.rows == [(1, 2)]


def test_a_limit_says_that_there_is_more(query: Query) -> None:
    answer = query.ask("FROM range(50000)", limit=3)
    assert (answer.rows, answer.more) == ([(0,), (1,), (2,)], True)
    assert not query.ask("FROM range(3)", limit=3).more


def test_time_is_bounded(query: Query) -> None:
    with pytest.raises(UsageError, match="no answer within 2 seconds"):
        query.ask("SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b")


def test_memory_is_bounded(query: Query) -> None:
    with pytest.raises(UsageError, match="memory"):
        query.ask("SELECT list(range) FROM range(200000000)")


def test_an_error_is_one_line_that_says_where_to_look(query: Query) -> None:
    with pytest.raises(UsageError, match="--tables") as told:
        query.ask("SELECT nothing FROM sessions")
    assert "\n" not in str(told.value)


def test_a_catalogue_of_nothing_has_its_tables(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "store")
    fleet.update()
    for name in ("sessions", "events", "contents", "links"):
        assert fleet.ask(f"SELECT count(*) FROM {name}") == [(0,)]
    assert fleet.ask("SELECT started, day FROM sessions") == []


def test_what_lies_elsewhere_is_copied_as_far_as_it_has_changed(fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Far:
        """As a bucket."""

        segments = object()
        read: list[str] = []  # noqa: RUF012 - of this test

        def __getattr__(self, name: str) -> object:
            return getattr(fleet.store, name)

    far = Far()
    real = fleet.store.read
    got: list[str] = []
    monkeypatch.setattr(far, "read", lambda name, **more: (got.append(name), real(name, **more))[1], raising=False)
    fleet.catalogue.home = far  # type: ignore[assignment]
    copies = str(tmp_path / "copies")
    for round_ in range(3):
        got.clear()
        assert on_this_machine(fleet.catalogue, copies) == copies
        fetched = [name for name in got if name.endswith(".parquet")]
        assert len(fetched) == (4, 0, 3)[round_] or (round_ == 2 and len(fetched) <= 4)
        query = Query(fleet.catalogue, copies)
        assert query.ask("SELECT count(*) FROM sessions").rows == [(1 + (round_ == 2),)]
        query.close()
        if round_ == 1:
            fleet.catalogue.home = fleet.store
            fleet.session([call()])
            fleet.update()
            fleet.catalogue.home = far  # type: ignore[assignment]
    assert set(os.listdir(copies)) == {"catalogue"}

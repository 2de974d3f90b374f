"""The catalogue says what sessions and ledger say: after any number of updates, after any death, and while sessions are being written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fleet_helpers import DAY, START, Clock, Failing, Fleet, call, tool

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import ConflictError, StoreError
from tachograph.fleet import building, catalogue, columns, parquet, rows, sessions, workers
from tachograph.fleet.catalogue import Catalogue
from tachograph.fleet.heard import listen
from tachograph.log import recover
from tachograph.log.opening import OpenStore
from tachograph.log.verdict import Judge
from tachograph.stores.local import LocalStore


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path / "store")


def busy(fleet: Fleet) -> list[str]:
    """Sessions of several days and kinds."""
    made = [
        fleet.session(
            [call(prompt={"id": "P", "version": "3"}), tool(effect="write"), call("m-2", served_model_id="m-2-exact")], day=number % 3
        )
        for number in range(5)
    ]
    made.append(fleet.session([call()], end=False))
    made.append(
        fleet.session(
            [
                Draft(event=events.Git(sha="c" * 40, action="commit")),
                Draft(event=events.Guardrail(guardrail_id="g", version="7", action="GUARDRAIL_INTERVENED")),
            ]
        )
    )
    fleet.enter("linked", made[0], kind="pr", ref="github.com/acme/shop#7")
    fleet.enter("held", made[1], matter="INC-7")
    return made


def end(fleet: Fleet, session_id: str) -> None:
    """A session that was left open gets its end, by another writer."""
    writer = recover.resume(fleet.opened, session_id, clock=Clock(), entropy=fleet.entropy, reason="host_lost")
    writer.append(Draft(event=events.SessionEnd(status="lost")))
    writer.seal()
    writer.close()


def direct(fleet: Fleet) -> list[dict[str, Any]]:
    found = sessions.of_store(fleet.store, listen(fleet.store, fleet.opened.trusted))
    return [{name: value for name, value in row.items() if name != "bytes"} for row in found]


def listed(fleet: Fleet) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "bytes"} for row in sessions.of_catalogue(fleet.catalogue)]


def test_its_sessions_are_those_of_the_store_itself(fleet: Fleet) -> None:
    made = busy(fleet)
    report = fleet.update()
    assert (report.sessions, report.read, report.dropped) == (len(made), len(made), 0)
    assert listed(fleet) == direct(fleet)
    by_id = {row["session_id"]: row for row in listed(fleet)}
    first = by_id[made[0]]
    assert (first["models"], first["prompts"], first["tools"]) == ({"m-1": 1, "m-2-exact": 1}, ["P@3"], {"read": 1})
    assert (first["input_tokens"], first["effects"], first["status"]) == (20, {"write": 1}, "ok")
    assert by_id[made[5]]["status"] == "open"
    assert (by_id[made[6]]["shas"], by_id[made[6]]["actions"]) == (["c" * 40], {"GUARDRAIL_INTERVENED": 1})
    assert fleet.ask("SELECT session_id, kind, ref, user FROM links ORDER BY kind DESC") == [
        (made[0], "pr", "github.com/acme/shop#7", "ada"), (made[1], "hold", "INC-7", "ada"),
    ]  # fmt: skip


def test_events_and_contents_are_those_of_the_lines(fleet: Fleet) -> None:
    one = fleet.session([call(params={"temperature": 0}, status=200), tool("patch", "same"), tool("patch", "same")])
    fleet.update()
    assert fleet.ask("SELECT seq, type, name, model_id, params, status FROM events ORDER BY seq") == [
        (1, "session_start", "task", None, None, None), (2, "model_call", None, "m-1", '{"temperature":0}', "200"),
        (3, "tool_call", "patch", None, None, None), (4, "tool_call", "patch", None, None, None), (5, "session_end", None, None, None, "ok"),
    ]  # fmt: skip
    same = fleet.ask("SELECT id, list(seq ORDER BY seq) FROM contents WHERE field = 'output' AND type = 'tool_call' GROUP BY id")
    assert [row[1] for row in same] == [[3, 4]]
    lines = [json.loads(line) for line in fleet.store.read(f"sessions/{one}/00000001.events.jsonl").splitlines()]
    assert lines[2]["output_uri"] == "content:" + same[0][0]


def test_only_what_has_changed_is_read_again(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    busy(fleet)
    fleet.update()
    seen: list[str] = []
    real = rows.read
    monkeypatch.setattr(
        building.rows, "read", lambda store, session_id, *more: (seen.append(session_id), real(store, session_id, *more))[1]
    )
    fleet.update()
    assert seen == []
    new = fleet.session([call()])
    fleet.update()
    assert seen == [new]


def test_a_session_that_is_being_written_is_there_as_far_as_it_is_and_once_when_it_has_ended(fleet: Fleet) -> None:
    fleet.session()
    writer = fleet.writer()
    writer.append(Draft(event=events.SessionStart(name="long")))
    writer.commit()
    for number in range(1, 4):
        fleet.update()
        assert fleet.ask("SELECT status, events FROM sessions WHERE name = 'long'") == [("open", number)]
        assert fleet.ask("SELECT count(*) FROM events WHERE session_id = ?", [writer.session_id]) == [(number,)]
        writer.append(call())
        writer.commit()
    writer.append(Draft(event=events.SessionEnd(status="error", exit_code=3)))
    writer.seal()
    writer.close()
    fleet.update()
    assert fleet.ask("SELECT status, exit_code, events FROM sessions WHERE name = 'long'") == [("error", 3, 5)]
    assert fleet.ask("SELECT count(*), count(DISTINCT seq) FROM events WHERE session_id = ?", [writer.session_id]) == [(5, 5)]


def test_half_a_line_is_no_damage(fleet: Fleet) -> None:
    one = fleet.session([call()], end=False)
    name = fleet.store._path(f"sessions/{one}/00000001.events.jsonl")
    with open(name, "ab") as file:
        file.write(b'{"v":1,"seq":3,"ts":"20')
    fleet.update()
    assert fleet.ask("SELECT status, events, problem FROM sessions") == [("open", 2, None)]


def test_a_session_that_was_changed_is_told_to_be_damaged_and_keeps_nobody_from_the_others(fleet: Fleet) -> None:
    one, other = fleet.session([call(), call()]), fleet.session()
    name = fleet.store._path(f"sessions/{one}/00000001.events.jsonl")
    data = Path(name).read_bytes()
    Path(name).write_bytes(data.replace(b'"m-1"', b'"m-9"', 1))
    fleet.update()
    ((status, problem),) = fleet.ask("SELECT status, problem FROM sessions WHERE session_id = ?", [one])
    assert status == "damaged"
    assert "the chain breaks" in problem
    assert fleet.ask("SELECT status FROM sessions WHERE session_id = ?", [other]) == [("ok",)]
    assert listed(fleet) == direct(fleet)


def test_a_line_may_hold_anything(fleet: Fleet) -> None:
    odd = events.Unknown(
        type_name="model_call",
        extra={
            "usage": [1],
            "prompt": "P",
            "guardrail": {"id": 7},
            "duration_ms": "long",
            "model_id": {"a": 1},
            "params": {"x": 1 << 80, "y": "\ud800"},
            "provider": "\ud83d",
        },
    )
    fleet.session([Draft(event=odd), Draft(event=events.Unknown(type_name="new_kind", extra={"action": True, "name": "\udcff"}))])
    fleet.update()
    assert fleet.ask("SELECT duration_ms, model_id, provider, params FROM events WHERE type = 'model_call'") == [
        (None, None, "\\ud83d", '{"x":1208925819614629174706176,"y":"\\ud800"}')
    ]
    assert fleet.ask("SELECT name, action FROM events WHERE type = 'new_kind'") == [("\\udcff", None)]


def test_a_rebuild_says_the_same(fleet: Fleet) -> None:
    busy(fleet)
    fleet.update()
    for _ in range(3):
        fleet.session([call()], day=1)
        fleet.update()
    before = fleet.everything()
    assert fleet.update(rebuild=True).read == 10
    assert fleet.everything() == before


def test_other_engines_read_the_same_files(fleet: Fleet) -> None:
    """By their folders alone, as Athena, Spark, Trino and ClickHouse do."""
    import pyarrow.dataset as ds

    busy(fleet)
    fleet.update()
    fleet.session([call()], day=2)
    fleet.update()
    for name in ("sessions", "events", "contents"):
        found = ds.dataset(f"{fleet.store.root}/catalogue/{name}", partitioning="hive", format="parquet").to_table()
        assert found.num_rows == fleet.ask(f"SELECT count(*) FROM {name}")[0][0]
        key = "id" if name == "contents" else "session_id"
        assert sorted(found.column(key).to_pylist()) == [row[0] for row in fleet.ask(f"SELECT {key} FROM {name} ORDER BY 1")]
        days = {str(day) for day in found.column("day").to_pylist()}
        assert days == {str(row[0]) for row in fleet.ask(f"SELECT DISTINCT day FROM {name}")}
        assert len(days) == 3


def test_the_files_are_sorted_as_the_reference_says(fleet: Fleet) -> None:
    busy(fleet)
    fleet.update()
    for name, key in (("sessions", "session_id"), ("events", "session_id"), ("contents", "id")):
        for file in Path(fleet.store.root, "catalogue", name).rglob("*.parquet"):
            values = parquet.load(file.read_bytes(), str(file)).column(key).to_pylist()
            assert values == sorted(values)


def test_what_was_deleted_leaves_at_the_next_update(fleet: Fleet) -> None:
    made = busy(fleet)
    fleet.update()
    fleet.remove(made[1])
    assert fleet.update().dropped == 1
    for name in ("sessions", "events", "contents", "links"):
        assert fleet.ask(f"SELECT count(*) FROM {name} WHERE session_id = ?", [made[1]]) == [(0,)]
    assert listed(fleet) == direct(fleet)


def test_what_has_a_tombstone_is_gone_though_somebody_died_over_its_files(fleet: Fleet) -> None:
    made = busy(fleet)
    fleet.update()
    fleet.enter("deleted", made[2])
    fleet.update()
    assert fleet.ask("SELECT count(*) FROM sessions WHERE session_id = ?", [made[2]]) == [(0,)]
    assert listed(fleet) == direct(fleet)


def test_no_key_of_a_session_is_asked_for(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    busy(fleet)

    def no(self: OpenStore, session_id: str) -> bytes:
        raise AssertionError(session_id)

    monkeypatch.setattr(OpenStore, "data_key", no)
    fleet.update()
    assert fleet.ask("SELECT count(*) FROM sessions") == [(7,)]


def test_nothing_of_the_contents_is_in_it(fleet: Fleet) -> None:
    planted = "a sentence that only the content holds"
    fleet.session([tool("read", planted), call(contents={"prompt_redacted_uri": planted, "output_uri": planted})])
    fleet.update()
    assert planted not in repr(fleet.everything())


def test_the_store_verifies_with_it(fleet: Fleet) -> None:
    busy(fleet)
    before = [result.to_json() for result in Judge(fleet.store, public=fleet.opened.trusted, opened=fleet.opened).everything()[0]]
    fleet.update()
    after = [result.to_json() for result in Judge(fleet.store, public=fleet.opened.trusted, opened=fleet.opened).everything()[0]]
    assert after == before


def test_files_of_one_day_are_put_together_when_they_are_many(fleet: Fleet) -> None:
    for _ in range(catalogue.MANY + 3):
        fleet.session([call()])
        fleet.update()
    files = list(Path(fleet.store.root, "catalogue", "events").rglob("*.parquet"))
    assert len(files) < catalogue.MANY
    assert listed(fleet) == direct(fleet)
    count = catalogue.MANY + 3
    assert fleet.ask("SELECT count(*), count(DISTINCT session_id || '/' || seq) FROM events") == [(3 * count, 3 * count)]
    assert fleet.update().read == 0


def test_who_dies_over_an_update_leaves_nothing_that_the_next_one_does_not_put_right(tmp_path: Path) -> None:
    at = 0
    while True:
        fleet = Fleet(tmp_path / str(at))
        made = [fleet.session([call()], day=number % 2) for number in range(3)]
        opened_one = fleet.session([call()], end=False)
        fleet.update()
        fleet.remove(made[0])
        fleet.session([call("m-3")])
        end(fleet, opened_one)
        fleet.enter("linked", made[1], kind="ci", ref="7")
        failing = Catalogue(fleet.opened, clock=fleet.clock, home=Failing(fleet.store.root, at))
        try:
            with failing.held(0):
                failing.update()
        except StoreError:
            pass
        else:
            assert at > 10
            return
        fleet.update()
        assert listed(fleet) == direct(fleet), at
        assert fleet.ask("SELECT count(*) FROM events") == fleet.ask("SELECT sum(events) FROM sessions"), at
        assert fleet.ask("SELECT kind FROM links") == [("ci",)]
        stems = [
            {file.stem for file in Path(fleet.store.root, "catalogue", name).rglob("*.parquet")}
            for name in ("sessions", "events", "contents")
        ]
        assert stems[0] == stems[1] == stems[2], at
        at += 1


def test_two_do_not_change_it_at_once(fleet: Fleet) -> None:
    with fleet.catalogue.held(0), pytest.raises(ConflictError, match="somebody else"):
        fleet.update()


def test_a_state_that_nobody_can_read_is_made_anew(fleet: Fleet) -> None:
    busy(fleet)
    fleet.update()
    before = fleet.everything()
    for broken in (b"", b"[]", b'{"schema":0}', b'{"schema":"' + columns.SCHEMA.encode() + b'","ledger":{},"files":{"a":1},"filters":{}}'):
        fleet.store.replace(catalogue.STATE, broken)
        assert fleet.update().read == 7
        assert fleet.everything() == before


def test_a_file_that_was_changed_is_made_anew(fleet: Fleet) -> None:
    busy(fleet)
    fleet.update()
    before = fleet.everything()
    for file in sorted(Path(fleet.store.root, "catalogue").rglob("*.parquet")):
        if "links" in str(file):
            continue
        file.write_bytes(file.read_bytes()[:-9])
        assert fleet.update().read > 0
        assert fleet.everything() == before


def test_it_may_lie_elsewhere(fleet: Fleet, tmp_path: Path) -> None:
    busy(fleet)
    elsewhere = Catalogue(fleet.opened, clock=fleet.clock, home=LocalStore(str(tmp_path / "elsewhere")))
    with elsewhere.held(0):
        elsewhere.update()
    assert not Path(fleet.store.root, "catalogue").exists()
    assert [row["session_id"] for row in sessions.of_catalogue(elsewhere)] == [row["session_id"] for row in direct(fleet)]


def test_many_are_read_by_several_processes_with_the_same_result(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    busy(fleet)
    monkeypatch.setattr(building, "FEW", 1)
    monkeypatch.setattr(building, "BATCH", 2)
    monkeypatch.setattr(workers, "processors", lambda: 2)
    told: list[tuple[int, int]] = []
    fleet.update(progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 7)
    assert told[-1] == (7, 7)
    assert listed(fleet) == direct(fleet)


def test_a_session_without_an_end_that_is_a_day_old_is_put_with_the_others(fleet: Fleet) -> None:
    fleet.session([call()], end=False)
    fleet.clock = fleet.catalogue._clock = Clock(START + 3 * DAY)  # type: ignore[assignment]
    fleet.update()
    (file,) = Path(fleet.store.root, "catalogue", "sessions").rglob("*.parquet")
    assert file.stem.count("-") == 2

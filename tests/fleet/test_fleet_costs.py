from __future__ import annotations

from pathlib import Path

import pytest
from fleet_helpers import Fleet, call

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.fleet import costs, prices, sessions
from tachograph.fleet.costs import Cost
from tachograph.fleet.query import Query

SONNET, HAIKU = "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"
MILLION = {"input_tokens": 1_000_000, "output_tokens": 100_000}


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path / "store")


def ask(fleet: Fleet, by: str, only: list[str] | None = None) -> dict[str | None, Cost]:
    fleet.update()
    query = Query(fleet.catalogue, fleet.store.root)
    try:
        return {cost.group: cost for cost in costs.costs(query, by, prices.load(), only)}
    finally:
        query.close()


def wire(name: str, asked_by: str) -> Draft:
    return Draft(event=events.ToolCall(name=name, source="wire", asked_by=asked_by))


def test_by_everything_the_sum_is_the_same(fleet: Fleet) -> None:
    start = events.SessionStart(agent="coder", repo_url="https://github.com/acme/shop.git")
    one = fleet.session([call(SONNET, usage=MILLION, prompt={"id": "P", "version": "2"}), call(HAIKU, usage=MILLION)], start=start)
    other = fleet.session([call("house-model", usage=MILLION, prompt={"id": "P", "version": "3"})], day=1)
    found = ask(fleet, "model")
    assert {group: (cost.money, cost.unknown) for group, cost in found.items()} == {
        SONNET: (4.5, set()), HAIKU: (1.5, set()), "house-model": (0.0, {"house-model"}),
    }  # fmt: skip
    assert {group: cost.money for group, cost in ask(fleet, "session").items()} == {one: 6.0, other: 0.0}
    assert {group: cost.money for group, cost in ask(fleet, "prompt").items()} == {"P@2": 4.5, None: 1.5, "P@3": 0.0}
    assert {group: cost.money for group, cost in ask(fleet, "repository").items()} == {"github.com/acme/shop": 6.0, None: 0.0}
    assert {group: cost.money for group, cost in ask(fleet, "agent").items()} == {"coder": 6.0, None: 0.0}
    assert {group: cost.money for group, cost in ask(fleet, "day").items()} == {"2026-09-21": 6.0, "2026-09-22": 0.0}
    for by in costs.BY:
        found = ask(fleet, by)
        assert sum(cost.money for cost in found.values()) == pytest.approx(6.0), by
        assert sum(cost.tokens.input for cost in found.values()) == 3_000_000, by
        assert sum(cost.calls for cost in found.values()) == 3, by
    assert set(ask(fleet, "session", [other])) == {other}
    assert ask(fleet, "model", []) == {}


def test_a_call_that_asked_for_several_tools_is_shared_by_them(fleet: Fleet) -> None:
    drafts = [
        call(SONNET, id="evt_1", usage=MILLION),
        wire("read", "evt_1"),
        wire("read", "evt_1"),
        wire("patch", "evt_1"),
        call(HAIKU, id="evt_2", usage=MILLION),
    ]
    fleet.session(drafts)
    fleet.session([call(SONNET, id="evt_1", usage=MILLION)])  # the same id in another session is another call
    found = ask(fleet, "tool")
    assert {group: (round(cost.money, 6), round(cost.calls, 6)) for group, cost in found.items()} == {
        "read": (3.0, round(2 / 3, 6)), "patch": (1.5, round(1 / 3, 6)), None: (6.0, 2.0),
    }  # fmt: skip


def test_a_session_costs_what_its_models_do_together_or_it_is_unknown(fleet: Fleet) -> None:
    fleet.session([call(SONNET, usage=MILLION), call("gpt-4.1", served_model_id="gpt-4.1-2025-04-14", usage=MILLION)])
    fleet.session([call(SONNET, usage=MILLION), call("house-model", usage=MILLION)])
    fleet.session()
    fleet.update()
    rows = sessions.of_catalogue(fleet.catalogue)
    assert [sessions.cost_of(row, prices.load()) for row in rows] == [pytest.approx(4.5 + 2.8), None, 0.0]

"""Prometheus: alerts from their series, metrics from a query, and an answer that is none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signals_server import NOON, Asked, Hands, serve
from tachograph.core.errors import SignalError, UsageError
from tachograph.core.signals import Missing, Signal, Window
from tachograph.signals.prometheus import Prometheus

HOUR = Window(NOON, NOON + 3_600_000)
LABELS = {"__name__": "ALERTS", "alertname": "CheckoutErrors", "alertstate": "firing", "service": "checkout"}


def points(*minutes: int, value: str = "1") -> list[list[Any]]:
    return [[NOON / 1000 + minute * 60, value] for minute in minutes]


def matrix(*series: tuple[dict[str, str], list[list[Any]]]) -> dict[str, Any]:
    return {
        "status": "success",
        "data": {"resultType": "matrix", "result": [{"metric": labels, "values": values} for labels, values in series]},
    }


def alerts(*one: dict[str, Any]) -> dict[str, Any]:
    return {"status": "success", "data": {"alerts": list(one)}}


class Monitor:
    """What a server knows; by the query that it is asked."""

    def __init__(self, ranges: dict[str, Any], now: Any = None) -> None:
        self.ranges = ranges
        self.now = alerts() if now is None else now

    def __call__(self, asked: Asked) -> Any:
        return self.now if asked.path == "/api/v1/alerts" else self.ranges.get(asked.query["query"][0], matrix())


def read(monitor: Any, query: str = "step=60s", **environment: str) -> tuple[list[Signal], list[Missing], list[Asked]]:
    with serve(monitor) as told:
        source = Prometheus(f"{told.url}?{query}", environment)
        found, missing = source.read(HOUR, Hands().budget())
        return found, missing, told.asked


def at(one: Signal) -> float:
    return (one.at - NOON) / 60_000


def test_an_alert_fires_and_resolves_where_its_series_begins_and_ends() -> None:
    found, missing, _ = read(Monitor({"ALERTS{}": matrix((LABELS, points(10, 11, 12, 20, 21)))}))
    assert missing == []
    assert [(at(one), one.state) for one in found] == [(10, "firing"), (13, "resolved"), (20, "firing"), (22, "resolved")]
    assert {one.name for one in found} == {"CheckoutErrors"}
    assert found[0].begins
    assert found[1].ends
    assert found[0].text == '{service="checkout"}'


def test_an_alert_that_goes_on_is_not_resolved_and_one_from_before_says_so() -> None:
    found, _, _ = read(Monitor({"ALERTS{}": matrix((LABELS, points(*range(61))))}))
    assert [(at(one), one.state) for one in found] == [(0, "firing")]
    assert found[0].text.startswith("It fired before the window began.")


def test_what_people_wrote_about_an_alert_comes_with_it() -> None:
    labels = {"alertname": "CheckoutErrors", "service": "checkout"}
    notes = {"summary": "Checkout fails", "description": "5 % of requests", "runbook_url": "https://wiki.example/checkout"}
    now = alerts({"labels": labels, "annotations": notes, "state": "firing", "activeAt": "2026-11-30T12:10:00.5Z"})
    found, _, _ = read(Monitor({"ALERTS{}": matrix((LABELS, points(*range(10, 61))))}, now))
    assert [one.state for one in found] == ["firing"]
    assert found[0].text == 'Checkout fails. 5 % of requests {service="checkout"}'
    assert found[0].url == "https://wiki.example/checkout"
    alone, _, _ = read(Monitor({}, now))
    assert [(at(one), one.state, one.name) for one in alone] == [(10 + 0.5 / 60, "firing", "CheckoutErrors")]


def test_a_query_gives_points_and_its_mistakes_are_by_themselves() -> None:
    ranges = {
        "rate(errors[5m])": matrix(({"service": "checkout"}, points(1, 2, value="0.5") + points(3, value="NaN"))),
        "up": matrix(({"__name__": "up", "job": "shop"}, points(4))),
        "broken": {"status": "error", "error": "x"},
    }
    found, missing, asked = read(Monitor(ranges), "query=rate(errors[5m])&query=up&query=broken&query=none&step=60s")
    assert [(one.name, at(one), one.value) for one in found] == [
        ('rate(errors[5m]) {service="checkout"}', 1, 0.5), ('rate(errors[5m]) {service="checkout"}', 2, 0.5), ('up{job="shop"}', 4, 1.0),
    ]  # fmt: skip
    assert all(one.kind == "metric" for one in found)
    assert [one.why for one in missing] == [
        "broken: the answer is none of Prometheus' HTTP API; name its address without /api/v1", "none has no points in the window; check it",
    ]  # fmt: skip
    assert asked[-1].query["start"] == ["2026-11-30T12:00:00.000Z"]
    assert asked[-1].query["step"] == ["60"]


def test_credentials_come_from_the_environment_and_from_nowhere_else() -> None:
    _, _, asked = read(Monitor({}), PROMETHEUS_TOKEN="tok-1")
    assert {one.headers["authorization"] for one in asked} == {"Bearer tok-1"}
    _, _, asked = read(Monitor({}), PROMETHEUS_USERNAME="me", PROMETHEUS_PASSWORD="pw")
    assert {one.headers["authorization"] for one in asked} == {"Basic bWU6cHc="}
    with pytest.raises(UsageError, match="is seen by all") as error:
        Prometheus("https://me:hunter2@metrics.example", {})
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "not an address"), ("metrics.example", "not an address"), ("file:///etc/passwd", "not an address"), ("http://[::1", "not an address"),
        ("https://m.example?quary=up", "knows no 'quary'"), ("https://m.example?query=", "no value for query"), ("https://m.example?query", "not name=value"),
        ("https://m.example?step=soon", "not a time"), ("https://m.example?step=1m&step=2m", "step is said 2 times"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_before_anything_is(spec: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Prometheus(spec, {})


def test_a_server_that_is_gone_is_asked_once() -> None:
    with serve(lambda _: {}) as told:
        url = told.url
    with pytest.raises(SignalError, match="cannot be reached"):
        Prometheus(f"{url}?query=up&query=down", {}).read(HOUR, Hands().budget())


def test_too_many_series_are_refused_rather_than_cut() -> None:
    many = matrix(*(({"pod": str(number)}, points(1)) for number in range(51)))
    _, missing, _ = read(Monitor({"up": many}), "query=up")
    assert missing[0].why.startswith("up: it has 51 series")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["status", "data", "alerts", "result", "metric", "values", "labels", "annotations", "activeAt", "state", "alertname"]), inner, max_size=5
    ), max_leaves=20,
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(JSON, JSON, JSON)
def test_no_answer_breaks_the_reader(labels: Any, values: Any, one: Any) -> None:
    metric = labels if isinstance(labels, dict) else {"alertname": labels, "alertstate": "firing"}
    series = {
        "status": "success",
        "data": {"result": [{"metric": metric, "values": values}, {"metric": metric, "values": [values, [NOON / 1000, one]]}]},
    }
    now = {"status": "success", "data": {"alerts": [{"labels": metric, "annotations": one, "state": "firing", "activeAt": values}, one]}}
    found, _, _ = read(Monitor({"ALERTS{}": series, "up": series}, now), "query=up")
    assert all(one.name and len(one.text) <= 2000 and HOUR.holds(one.at) for one in found)

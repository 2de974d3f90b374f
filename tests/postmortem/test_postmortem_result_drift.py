"""Results of equal calls that are of another form, unit or scale than in the last good session; and data that only changed."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.core import events
from tachograph.postmortem.analyses.contract import Finding
from tachograph.postmortem.analyses.tool_drift import ANALYSIS
from tachograph.postmortem.case import open_case


def dosed(kind: str, result: Any, deed: dict[str, Any] | None, declared: bool = True, look: str = "tank_level") -> Session:
    """A tank is looked at, then it is filled by so much, or not."""
    session = Session(kind, declared={look: "read", "fill_tank": "external"} if declared else None).user("See to tank T4.")
    session.model("", (look, {"tank": "T4"})).gives(result)
    if deed is not None:
        session.model("", ("fill_tank", {"tank": "T4", **deed})).gives("ok")
    return session.model("Seen to.")


def findings(then: Session, now: Session) -> list[Finding]:
    return list(ANALYSIS.run(open_case(now.end(), good=then.end())))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("then", "now"),
    [
        ({"tank": "T4", "level": 8.35}, {"tank": "T4", "level": 8350}),
        ({"tank": "T4", "füllstand": 83, "einheit": "prozent"}, {"tank": "T4", "füllstand": 0.79}),
        ({"tank": "T4", "level": 83, "full": 90}, {"tank": "T4", "level": {"share": 0.81}, "full": 90}),
        ({"tank": "T4", "niveau": 835, "unité": "l"}, {"tank": "T4", "niveau": 835, "unité": "gal"}),
        ({"tank": "T4", "pressure": 2.5, "unit": "bar"}, {"tank": "T4", "pressure": 250, "unit": "kPa"}),
        ({"tank": "T4", "level_m3": 8.35}, {"tank": "T4", "level": 8350}),
        ({"data": [{"tank": "T4", "seconds": 1260}]}, {"data": [{"tank": "T4", "seconds": 21}]}),
        ("Tank T4 holds 8.35, refilled on Monday.", "Tank T4 holds 8350, refilled on Monday."),
    ],
)
def test_the_tool_answers_in_another_form(kind: str, then: Any, now: Any) -> None:
    session = dosed(kind, now, {"litres": 4000}, declared=kind != "bedrock")
    (found,) = findings(dosed(kind, then, {"litres": 40}, declared=kind != "bedrock"), session)
    assert (found.cause, found.first_event) == ("tool", session.event("tank_level"))
    assert "fill_tank" in found.statement


def test_what_was_done_then_is_left_out_now() -> None:
    session = dosed("openai", {"tank": "T4", "level": 835}, None)
    (found,) = findings(dosed("openai", {"tank": "T4", "level": 8.35}, {"litres": 40}), session)
    assert "was not done" in found.statement


def test_what_was_fetched_is_the_same_and_the_code_makes_something_else_of_it() -> None:
    def read(level: float) -> Session:
        session = Session("openai").user("See to tank T4.").model("", ("tank_level", {"tank": "T4"}))
        session.tape.add(
            events.Http, method="GET", host="tank.example", status=200, lane="main", outcome="ok", duration_ms=4.0,
            request={"method": "GET", "url": "https://tank.example/T4", "headers": {}}, wire={"data": '{"tank": "T4", "level": "8.350"}'},
        )  # fmt: skip
        session.gives({"tank": "T4", "level": level}).model("", ("fill_tank", {"litres": level})).gives("ok")
        return session.model("Filled.")

    session = read(8.35)
    (found,) = findings(read(8350.0), session)
    assert (found.cause, found.first_event) == ("harness", session.event("tank_level"))


# -- healthy ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ({"tank": "T4", "level": 83}, {"tank": "T4", "level": 41}),
        ({"tank": "T4", "pieces": 5}, {"tank": "T4", "pieces": 500}),
        ({"tank": "T4", "level": 10}, {"tank": "T4", "level": 100}),
        ({"tank": "T4", "level": 83, "alarm": None}, {"tank": "T4", "level": 12, "alarm": {"since": "08:00"}}),
        ({"tank": "T4", "level": 83}, {"tank": "T4", "level": 11, "next_delivery": "2026-05-04"}),
        ({"tank": "T4", "price": 12.5, "currency": "EUR"}, {"tank": "T4", "price": 14.1, "currency": "CHF"}),
        ({"tank": "T4", "open": []}, {"tank": "T4", "open": [{"order": 7}]}),
        ({"tank": "T4", "version": 12}, {"tank": "T4", "version": 1200}),
        ({"tank": "T4", "level": 83}, {"error": "sensor does not answer"}),
        ("T4 holds 83, seen on 2026-05-04.", "T4 holds 41, seen on 2026-05-05."),
    ],
)
def test_other_data(then: Any, now: Any) -> None:
    assert findings(dosed("openai", then, {"litres": 40}), dosed("openai", now, {"litres": 90})) == []


def test_the_agent_reckons_with_the_new_unit() -> None:
    then, now = {"tank": "T4", "level": 8.35, "unit": "m3"}, {"tank": "T4", "level": 8350, "unit": "l"}
    assert findings(dosed("anthropic", then, {"litres": 40}), dosed("anthropic", now, {"litres": 40})) == []


def test_another_call_is_not_compared() -> None:
    then = dosed("openai", {"tank": "T4", "level": 8.35}, {"litres": 40}, look="tank_now")
    assert findings(then, dosed("openai", {"tank": "T4", "level": 8350}, {"litres": 90})) == []

"""One of several results of a tool that is unlike the others, and was used."""

from __future__ import annotations

import json
from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.core import events
from tachograph.postmortem.analyses.odd_result import ANALYSIS

FULL: list[dict[str, Any]] = [
    {"hafen": "Wismar", "station": "Mole Nord", "pegel_cm": 512},
    {"hafen": "Stralsund", "station": "Querkai", "pegel_cm": 498},
    {"hafen": "Barth", "station": "", "pegel_cm": 3},
]


def levels(kind: str, results: list[dict[str, Any]], deed: dict[str, Any], declared: bool = True, page: str | None = None) -> Session:
    declarations = {"pegel": "read", "set_draught": "external"} if declared else None
    session = Session(kind, declared=declarations).user("Set the lowest draught of our ports.")
    session.model("", *(("pegel", {"hafen": one["hafen"]}) for one in results))
    if page is not None:
        session.tape.add(
            events.Http, method="GET", host="pegel.example", status=200, lane="main", outcome="ok", duration_ms=4.0,
            request={"method": "GET", "url": f"https://pegel.example/{results[-1]['hafen']}", "headers": {}}, wire={"data": page},
        )  # fmt: skip
    session.gives(*(one if declared else json.dumps(one) for one in results))
    return session.model("", ("set_draught", deed)).gives("ok").model("Set.")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("declared", [True, False])
def test_a_result_without_a_name_and_far_off(kind: str, declared: bool) -> None:
    session = levels(kind, FULL, {"limit_cm": 3}, declared)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("pegel", 2))
    assert "station" in found.statement


def test_a_number_in_a_text_and_a_page_that_is_none() -> None:
    results = [{**one, "pegel_cm": f"{one['pegel_cm'] * 10:,}"} for one in FULL[:2]] + [{**FULL[2], "station": None, "pegel_cm": "0"}]
    session = levels("openai", results, {"limit_cm": 0}, False, page="<html><p>Bitte JavaScript einschalten</p></html>")
    (found,) = session.findings(ANALYSIS)
    assert "JavaScript" in found.statement


@pytest.mark.parametrize(
    ("results", "deed"),
    [
        ([*FULL[:2], {**FULL[2], "station": "Hafen"}], {"limit_cm": 3}),  # an odd number alone may be right
        ([*FULL[:2], {**FULL[2], "pegel_cm": 470}], {"limit_cm": 470}),  # a name that is missing is no harm
        (FULL, {"limit_cm": 498}),  # it was left out of account
        ([FULL[0], FULL[2]], {"limit_cm": 3}),  # who of the two is odd?
        ([FULL[0], {**FULL[1], "pegel_cm": 4}, FULL[2]], {"limit_cm": 3}),  # the others do not agree
        ([FULL[0], {**FULL[1], "station": ""}, FULL[2]], {"limit_cm": 3}),  # others have no name, either
    ],
)
def test_no_odd_one_or_nothing_came_of_it(results: list[dict[str, Any]], deed: dict[str, Any]) -> None:
    assert levels("anthropic", results, deed).findings(ANALYSIS) == []

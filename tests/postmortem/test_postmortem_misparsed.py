"""What a tool's code sent on against what it was asked with."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.core import events
from tachograph.postmortem.analyses.agent_code import ANALYSIS


def asked(kind: str, given: dict[str, Any], body: Any, result: Any = "ok") -> Session:
    session = Session(kind).user("Carry it out.").model("", ("transfer", given))
    session.tape.tick(10)
    session.tape.add(
        events.Http, method="POST", host="bank.example", status=201, lane="main", outcome="ok", duration_ms=5.0,
        request={"method": "POST", "url": "https://bank.example/transfers", "headers": {}, "body": body},
    )  # fmt: skip
    return session.gives(result).model("It is on its way.")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("given", "body"),
    [
        ({"to": "Werke Nord", "amount": "1.250,00"}, {"payee": "Werke Nord", "eur": 1.25}),
        ({"to": "Werke Nord", "amount": "1,250.00"}, {"payee": "Werke Nord", "total": 1}),
        ({"lot": "L-88", "menge": "12,50"}, {"lot": "L-88", "qty": "12"}),
        ({"lot": "L-88", "prix": "3 400,00 €"}, {"items": [{"lot": "L-88", "price": 3.0}]}),
    ],
)
def test_a_figure_that_the_tool_misread(kind: str, given: dict[str, Any], body: Any) -> None:
    session = asked(kind, given, body)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("harness", session.event("transfer"))


def test_a_result_alone_that_has_another_number() -> None:
    session = (
        Session("openai", declared={"transfer": "external"}).user("Go.").model("", ("transfer", {"to": "Werke Nord", "amount": "1.250,00"}))
    )
    session.gives({"to": "Werke Nord", "booked": 1.25}).model("Done.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("harness", session.event("transfer"))


@pytest.mark.parametrize(
    ("given", "body"),
    [
        ({"to": "Werke Nord", "amount": "1.250,00"}, {"payee": "Werke Nord", "eur": 1250.0}),
        ({"to": "Werke Nord", "amount": "1.250,00"}, {"payee": "Werke Nord", "cents": 125000}),
        ({"to": "Werke Nord", "amount": "1.250,00"}, {"payee": "Werke Nord", "eur": "1.250,00"}),
        ({"to": "Werke Nord", "amount": "1.250"}, {"payee": "Werke Nord", "eur": 1.25}),
        ({"to": "Werke Nord", "amount": "1.250,00"}, {"text": "Zahlung 1250.00 an Werke Nord", "to": "Werke Nord", "part": 1}),
        ({"lot": "L-88", "grams": "1.250,00"}, {"lot": "L-88", "kg": 1.25}),
        ({"lot": "L-88", "amount": "1.250,00", "parts": 1}, {"lot": "L-88", "parts": 1}),
        ({"lot": "L-88", "amount": "1.250,00"}, {"event": "call", "count": 1}),
    ],
)
def test_a_figure_as_it_is(given: dict[str, Any], body: Any) -> None:
    assert asked("anthropic", given, body).findings(ANALYSIS) == []

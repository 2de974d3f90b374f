"""Guardrails that said yes to what their own rule forbids."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import PROVIDERS, Call, Turn, session, tool
from test_postmortem_approvals import approve

from tachograph.core import events
from tachograph.postmortem.analyses import guardrails
from tachograph.postmortem.case import open_case

TOOLS = (tool("book_flight", "Book."), tool("set_dose", "Dose."))


def says(detail: Any, action: str = "NONE") -> Any:
    def happens(tape: Any) -> None:
        tape.add(
            events.Guardrail,
            id="evt_guard",
            guardrail_id="limits",
            version="2",
            source="declared",
            lane="main",
            action=action,
            detail=detail,
        )

    return happens


def found(name: str, given: dict[str, Any], *before: Any, **more: Any) -> list[Any]:
    turn = Turn(calls=(Call(name=name, given=given, declared="external"),), before=before)
    return list(guardrails.run(open_case(session(turn, Turn(say="Done."), tools=TOOLS, user="Go on.", **more))))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("name", "given", "detail"),
    [
        ("book_flight", {"to": "OSL", "price_eur": 940}, {"rule": "price <= 400", "field": "price", "value": None}),
        ("book_flight", {"to": "OSL", "preis_eur": 940}, {"regel": "Preis höchstens 400", "feld": "preis", "wert": None}),
        ("set_dose", {"patient": "p-9", "dosis_mg": 800}, {"max_dosis": 200, "value": None}),
        ("set_dose", {"patient": "p-9", "hours_between": 2}, {"rule": "hours >= 6", "field": "hours", "actual": None}),
        ("set_dose", {"patient": "p-9", "dose_mg": 800}, {"rule": "dose <= 200", "field": "dose"}),
    ],
)
def test_it_looked_at_nothing_and_the_rule_is_broken(name: str, given: dict[str, Any], detail: Any, provider: str) -> None:
    (one,) = found(name, given, says(detail), provider=provider)
    assert (one.cause, one.first_event) == ("policy", "evt_guard")
    assert "which breaks it" in one.statement


@pytest.mark.parametrize(
    ("given", "detail"),
    [
        ({"to": "OSL", "price_eur": 340}, {"rule": "price <= 400", "field": "price", "value": None}),
        ({"to": "OSL", "price_cents": 34000}, {"rule": "price <= 400", "field": "price", "value": 340}),
        ({"to": "OSL", "seats": 900}, {"rule": "price <= 400", "field": "price", "value": None}),
        ({"to": "OSL", "price_eur": 940}, {"rule": "price is checked by hand", "value": None}),
        ({"to": "OSL", "price_eur": 940}, {"score": 0.01, "what": "nothing"}),
    ],
)
def test_nothing_is_broken_or_it_was_looked_at(given: dict[str, Any], detail: Any) -> None:
    assert not found("book_flight", given, says(detail))


def test_somebody_approved_it_in_between() -> None:
    detail = {"rule": "price <= 400 without the director", "field": "price", "value": None}
    assert not found("book_flight", {"price_eur": 940}, says(detail), approve(scope="book_flight", shown={"price_eur": 940}))

"""Inputs whose figures contradict each other; and totals that differ for a reason."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.core import events
from tachograph.postmortem.analyses.contract import Finding
from tachograph.postmortem.analyses.damaged_input import ANALYSIS
from tachograph.postmortem.analyses.own_figures import slips


def ordered(text: str, given: dict[str, Any], *, kind: str = "openai", says: str = "", read: bool = False) -> Session:
    session = Session(kind, declared={"place_order": "external"})
    if read:
        session.user("Enter orders/o-17.csv.").model("", ("read_file", {"path": "orders/o-17.csv"})).gives(text)
    else:
        session.tape.add(events.Message, role="user", content=text)
        session.user(f"A new order:\n\n{text}")
    return session.model(says, ("place_order", given)).gives({"order": "N-1"}).model("Entered.")


def found(session: Session) -> list[Finding]:
    return [one for one in session.findings(ANALYSIS) if "contradicts itself" in one.statement]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("Item: chair oak\nUnit price: EUR 85.00\nChairs: 120\nTotal agreed: EUR 1,020.00", {"item": "chair oak", "chairs": 120}),
        ("Artikel: Fliese grau\nStückpreis: 4,50 €\nMenge: 3000\nGesamtbetrag: 1.350,00 €", {"artikel": "Fliese grau", "menge": 3000}),
        ("Article : lampe\nPrix unitaire : 31,00 EUR\nQuantité : 81\nMontant total : 558,00 EUR", {"article": "lampe", "quantite": 81}),
        ('{"item": "valve", "unit_price": 12.5, "qty": 11, "total": 1375.0}', {"item": "valve", "qty": 11}),
    ],
)  # fmt: skip
def test_the_total_is_for_another_number(kind: str, text: str, given: dict[str, Any]) -> None:
    session = ordered(text, given, kind=kind)
    (one,) = found(session)
    message = next(entry.event.id for entry in session.tape.entries if isinstance(entry.event, events.Message))
    assert (one.cause, one.first_event) == ("input", message)


def test_in_a_table_of_a_file_that_was_given() -> None:
    session = ordered(
        "item,unit_price,qty,line_total\nbolt M8,0.25,400,100.00\nnut M8,0.10,5000,50.00", {"item": "nut M8", "qty": 5000}, read=True
    )
    (one,) = found(session)
    assert one.first_event == session.event("read_file")


FORM = "Item: chair oak\nUnit price: EUR 85.00\nChairs: 120\nTotal: EUR {}{}"


@pytest.mark.parametrize(
    ("total", "more"),
    [
        ("10,200.00", ""), ("10,200", ""),
        ("12,138.00", "\nVAT 19 % included"), ("9,180.00", "\n10 % discount"), ("10,290.00", "\nShipping: 90.00"),
        ("10,199.97", ""),  # rounding
        ("9,350.00", ""),  # a discount that nobody names: 110 chairs
        ("1,020.00", "\nOf these now: 12"),  # a part of them
        ("5,000.00", ""),  # no number of chairs
    ],
)  # fmt: skip
def test_totals_that_differ_for_a_reason(total: str, more: str) -> None:
    assert found(ordered(FORM.format(total, more), {"item": "chair oak", "chairs": 120})) == []


def test_it_was_seen_or_another_number_was_used() -> None:
    text = FORM.format("1,020.00", "")
    assert found(ordered(text, {"item": "chair oak", "chairs": 12})) == []
    session = Session("anthropic").user(text).model("The total is for 12 chairs. Is it 12 or 120?").user("120, the total was wrong.")
    session.model("", ("place_order", {"chairs": 120})).gives({"order": "N-1"}).model("Entered.")
    assert found(session) == []
    assert slips(text)[0].meant == 12

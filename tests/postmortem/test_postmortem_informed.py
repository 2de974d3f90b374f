"""Approvals of a title and a count where the amounts stand in records; and those by which an approver could know."""

from __future__ import annotations

from typing import Any

import pytest
from sample_recordings import Tape
from scenes import Call, Turn, session

from tachograph.core import events
from tachograph.postmortem.analyses import approvals
from tachograph.postmortem.case import open_case

INVOICES = [{"id": "RE-11", "amount": 420.0, "to": "Holz Braun"}, {"id": "RE-12", "amount": 31500.0, "to": "Kran Ost"}, {"id": "RE-13", "amount": 75.5, "to": "Papier"}]  # fmt: skip


def found(
    shown: Any, *, listed: Any = None, name: str = "pay_invoices", given: Any = None, result: Any = None, approver: str = "j.voss",
    told: tuple[Call, ...] = (), say: str = "", declared: str | None = None, **more: Any,
) -> list[Any]:  # fmt: skip
    def happens(tape: Tape) -> None:
        tape.add(events.Approval, id="evt_ok", decision="approved", approver=approver, scope=name, lane="main", shown=shown)

    read = Call(name="list_open", given={}, result={"items": INVOICES if listed is None else listed}, declared="read" if declared else None)
    act = Call(name=name, given=given or {"ids": ["RE-11", "RE-12", "RE-13"]}, result=result or {"ok": True}, declared=declared)
    turns = [Turn(calls=(read,)), *([Turn(calls=told)] if told else []), Turn(say=say, calls=(act,), before=(happens,)), Turn(say="Done.")]
    return [one for one in approvals.run(open_case(session(*turns, **more))) if "of which the approver was shown nothing" in one.statement]


@pytest.mark.parametrize("provider", ["anthropic", "chat", "converse"])
@pytest.mark.parametrize("shown", [{"title": "Invoices of the week", "count": 3, "first": "Holz Braun, 420.00"}, "Pay 3 invoices, such as Papier (75.50)?", "Rechnungslauf der Woche: 3 Rechnungen"])  # fmt: skip
def test_a_title_and_a_count(provider: str, shown: Any) -> None:
    (one,) = found(shown, provider=provider, declared="external" if provider == "chat" else None)
    assert (one.cause, one.first_event, one.confidence) == ("approval", "evt_ok", 0.75)
    assert "31,500 by “RE-12”" in one.statement


def test_by_the_sum_that_the_answer_has() -> None:
    listed = [{"nr": "B-1", "summe": "1200"}, {"nr": "B-2", "summe": "88000"}]
    given = {"bestellungen": "B-1, B-2"}
    (one,) = found("Sammelfreigabe: 2 Vorgänge", listed=listed, name="freigeben", given=given, result={"gesamt": 89200})
    assert one.first_event == "evt_ok"
    assert found("Sammelfreigabe: 2 Vorgänge", listed=listed, name="freigeben", given=given, result={"ok": True}) == []


@pytest.mark.parametrize(
    ("shown", "more"),
    [
        ("Pay RE-11, RE-12 and RE-13?", {}),  # their names
        ({"title": "Invoices", "count": 3, "total": "31,995.50"}, {}),
        ({"title": "Invoices", "count": 3, "largest": "Kran Ost, 31.500,00"}, {}),  # what is left is small
        ("Invoices of the week, see run-10.pdf", {}),
        ("Invoices of the week", {"told": (Call(name="post_message", given={"to": "j.voss", "text": "For approval: RE-11 420, RE-12 31,500, RE-13 75.50"}),)}),
        ("Pay the open invoices?", {"approver": "user", "user": "Pay RE-11, RE-12 and RE-13 please."}),
        ("Archive 3 invoices", {"name": "archive_invoices", "result": {"archived": 3}}),  # the amounts are not what it is about
    ],
)  # fmt: skip
def test_an_approver_who_could_know(shown: Any, more: dict[str, Any]) -> None:
    assert found(shown, **more) == []

"""Approvals that are needed from an amount on, which stands in a record; and another tool to the same place."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import PROVIDERS, Call, Turn, session, tool
from test_postmortem_approvals import approve

from tachograph.core import events
from tachograph.postmortem.analyses import approvals
from tachograph.postmortem.case import open_case

TOOLS = (tool("open_quotes", "All."), tool("accept", "One."), tool("accept_several", "Several."))
QUOTES = {"quotes": [{"quote": "Q-1", "price": 900}, {"quote": "Q-2", "price": 120}, {"quote": "Q-3", "price": 5400}]}
RULE = "You accept quotes. Accepting a quote above 500 EUR needs the buyer's approval first."


def call(name: str, **given: Any) -> Call:
    return Call(name=name, given=given, declared="external", result={"accepted": True})


def found(*turns: Turn, system: str = RULE, **more: Any) -> list[Any]:
    look = Turn(calls=(Call(name="open_quotes", given={}, result=QUOTES, declared="read"),))
    tape = session(look, *turns, Turn(say="Accepted."), tools=TOOLS, user="Accept what is due.", system=system, **more)
    return list(approvals.run(open_case(tape)))


FIRST = Turn(calls=(call("accept", quote="Q-1"),), before=(approve(shown={"quote": "Q-1", "price": 900}, scope="accept"),))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_amount_stands_in_the_record_that_the_call_names(provider: str) -> None:
    several = Turn(calls=(call("accept_several", quotes="Q-2,Q-3"),))
    (one,) = found(FIRST, several, Turn(calls=(call("accept", quote="Q-2"),)), provider=provider)
    assert "accept_several" in one.statement
    assert "5,400" in one.statement
    listed = Turn(calls=(call("accept_several", quotes=["Q-2", "Q-3"]),))
    assert ["accept_several" in one.statement for one in found(FIRST, listed, provider=provider)] == [True]


def test_below_the_threshold_nothing_is_needed() -> None:
    assert not found(FIRST, Turn(calls=(call("accept", quote="Q-2"),)))
    assert not found(FIRST, Turn(calls=(call("accept", quote="Q-9", amount=499),)))


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("Zahlungen über 1.000 EUR brauchen vorher eine Freigabe der Buchhaltung.", "zahlen"),
        ("Los pagos de más de 1000 EUR requieren la aprobación de finanzas.", "pagar"),
        ("I pagamenti oltre 1.000 EUR richiedono l'approvazione.", "pagamento"),
        ("Payments above 1,000 EUR need a sign-off.", "pay"),
    ],
)
def test_in_other_languages(system: str, name: str) -> None:
    (one,) = found(Turn(calls=(call(name, quote="Q-3"),)), system=system)
    assert "5,400" in one.statement
    assert not found(Turn(calls=(call(name, quote="Q-1"),)), system=system)


def exchange(path: str, method: str = "POST") -> Any:
    def happens(tape: Any) -> None:
        inner = tape.entries[-1].event.id
        tape.add(
            events.Http, method=method, host="bank.example", status=200, lane="main", duration_ms=9.0, parent_id=inner,
            request={"method": method, "url": f"https://bank.example{path}", "headers": {}, "body": {}},
        )  # fmt: skip

    return happens


def paid(second: str, path: str, method: str = "POST") -> list[Any]:
    first = Turn(
        calls=(call("accept", quote="Q-1"),), before=(approve(shown={"quote": "Q-1"}, scope="accept"),), after=(exchange("/orders"),)
    )
    return found(first, Turn(calls=(call(second, quotes="Q-2,Q-3"),), after=(exchange(path, method),)), system="You accept quotes.")


def test_another_tool_that_does_the_same_at_the_same_place() -> None:
    (one,) = paid("accept_several", "/orders")
    assert one.confidence == 0.75
    assert "by which the same is done" in one.statement
    assert not paid("accept_several", "/drafts")
    assert not paid("print_list", "/orders")
    assert not paid("accept_several", "/orders", "GET")

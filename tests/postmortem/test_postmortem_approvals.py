"""Effects and their approvals."""

from __future__ import annotations

from typing import Any

import pytest
from sample_recordings import Tape, ask, start, text, use
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.core import events
from tachograph.postmortem.analyses import approvals, gates
from tachograph.postmortem.case import open_case

TOOLS = (tool("wire_money", "Move money."), tool("look_up", "Find an account."), tool("request_approval", "Ask a person."))


def wire(to: str = "DE-77", amount: float = 40.0, **more: Any) -> Call:
    return Call(name="wire_money", given={"to": to, "amount": amount}, **more)


def approve(
    decision: str = "approved",
    shown: Any = "wire_money to DE-77, 40.00",
    approver: str = "mira",
    scope: str = "wire_money",
    event: str = "evt_ok",
    **more: Any,
) -> Any:
    def happens(tape: Tape) -> None:
        content = {"shown": shown} if shown is not None else {}
        tape.add(events.Approval, id=event, decision=decision, approver=approver, scope=scope, lane="main", **content, **more)

    return happens


def found(*turns: Turn, good: Tape | None = None, links: tuple[str, ...] = (), **more: Any) -> list[Any]:
    tape = session(*turns, **{"tools": TOOLS, "user": "Pay the invoice.", **more})
    return list(approvals.run(open_case(tape, good=good, links=links)))


DONE = Turn(say="Paid.")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_refused_and_done_anyway(provider: str) -> None:
    (one,) = found(Turn(calls=(wire(),), before=(approve("refused"),)), DONE, provider=provider)
    assert (one.cause, one.first_event, one.confidence) == ("approval", "evt_ok", 0.95)
    (one,) = found(Turn(calls=(wire(declared="external"),), before=(approve("denied"),)), DONE, provider=provider)
    assert one.first_event == "evt_ok"


@pytest.mark.parametrize("word", ["pending", "timed_out", "expired", "no answer"])
def test_nobody_had_answered(word: str) -> None:
    (one,) = found(Turn(calls=(wire(),), before=(approve(word),)), DONE)
    assert "nobody had approved it" in one.statement


def test_approved_when_it_had_been_done() -> None:
    (one,) = found(Turn(calls=(wire(declared="external"),), after=(approve(),)), DONE)
    assert (one.first_event, "only when it had been done" in one.statement) == ("evt_ok", True)
    (one,) = found(Turn(calls=(wire(),)), Turn(say="Paid.", before=(approve(),)))
    assert one.first_event == "evt_ok"


@pytest.mark.parametrize(
    ("shown", "sure"),
    [
        ("wire_money to DE-77, 4.00", 0.87), ("wire_money to FR-12, 40.00", 0.87), ({"to": "DE-77", "amount": 4}, 0.87), ("wire_money to DE-77 …", 0.75),
        ("Pay the supplier?", 0.52),
    ],
)  # fmt: skip
def test_the_approver_was_shown_something_else_or_less(shown: Any, sure: float) -> None:
    (one,) = found(Turn(calls=(wire(),), before=(approve(shown=shown),)), DONE)
    assert (one.cause, one.first_event, round(one.confidence, 2)) == ("approval", "evt_ok", sure)


def test_another_place_than_was_shown() -> None:
    call = Call(name="deploy", given={"service": "web", "environment": "production"})
    (one,) = found(Turn(calls=(call,), before=(approve(shown="deploy web to staging", scope="deploy"),)), DONE)
    assert "production" in one.statement
    assert not found(Turn(calls=(call,), before=(approve(shown="deploy web to prod", scope="deploy"),)), DONE)


def test_one_of_several_has_none() -> None:
    (one,) = found(Turn(calls=(wire(),), before=(approve(),)), Turn(calls=(wire("FR-12", 900),)), DONE)
    assert one.cause == "approval"
    assert "FR-12" in one.statement
    assert "1 other call of this tool had here" in one.statement


def test_one_that_was_of_nearly_the_same_is_used_again() -> None:
    def grant(zone: str) -> Call:
        return Call(name="grant_access", given={"person": "u-17", "role": "reader", "zone": zone})

    shown = {"person": "u-17", "role": "reader", "zone": "lab"}
    (one,) = found(Turn(calls=(grant("lab"),), before=(approve(shown=shown, scope="grant_access"),)), Turn(calls=(grant("vault"),)), DONE)
    assert (one.first_event, "of something else" in one.statement) == ("evt_ok", True)


def test_the_last_good_session_had_one() -> None:
    good = session(Turn(calls=(wire(),), before=(approve(),)), DONE, tools=TOOLS, user="Pay the invoice.")
    (one,) = found(Turn(calls=(wire("FR-12", 900),)), DONE, good=good)
    assert "in the last good session" in one.statement


@pytest.mark.parametrize(
    ("system", "amount", "expected"),
    [
        ("Always get approval before you wire money.", 5, 1), ("Money above 100 may be wired only with a manager's approval.", 900, 1),
        ("Money above 100 may be wired only with a manager's approval.", 50, 0), ("Wire money without asking for approval.", 900, 0),
        ("Ask the user for confirmation before deleting a file.", 900, 0),
    ],
)  # fmt: skip
def test_the_prompt_asks_for_one(system: str, amount: float, expected: int) -> None:
    assert len(found(Turn(calls=(wire(amount=amount),)), DONE, system=system)) == expected


def test_the_tools_description_asks_for_one() -> None:
    tools = (tool("wire_money", "Move money. Requires approval by the treasurer."), tool("send_note", "Send a note."))
    (one,) = found(Turn(calls=(wire(), Call(name="send_note", given={"text": "hi"}))), DONE, tools=tools)
    assert "wire_money" in one.statement


def test_a_person_who_says_yes_in_the_conversation_has_approved() -> None:
    system = "Ask the user for confirmation before you wire money."
    assert not found(Turn(say="Shall I wire 40 to DE-77?"), Turn(user="Yes, go ahead.", calls=(wire(),)), DONE, system=system)
    assert found(Turn(say="Shall I wire 40 to DE-77?"), Turn(user="Which account is it?", calls=(wire(),)), DONE, system=system)


@pytest.mark.parametrize(("answer", "expected"), [("approved by mira", 0), ("denied: too much", 1), ("pending", 1)])
def test_a_tool_by_which_a_person_is_asked(answer: str, expected: int) -> None:
    ask = Call(name="request_approval", given={"action": "wire_money", "to": "DE-77", "amount": 40.0}, result=answer)
    assert len(found(Turn(calls=(ask,)), Turn(calls=(wire(),)), DONE)) == expected


def test_one_approval_of_several_calls() -> None:
    shown = "wire_money to DE-77, 40.0 and to FR-12, 900"
    assert not found(Turn(calls=(wire(), wire("FR-12", 900)), before=(approve(shown=shown),)), DONE)
    (one,) = found(Turn(calls=(wire(), wire("FR-12", 900), wire("IT-1", 7)), before=(approve(shown=shown),)), DONE)
    assert "IT-1" in one.statement
    deploys = tuple(Call(name="deploy", given={"service": name}) for name in ("web", "mail"))
    assert not found(Turn(calls=deploys, before=(approve(shown="deploy both services", scope="deploy"),)), DONE)


def test_the_agent_approves_for_itself() -> None:
    (one,) = found(Turn(calls=(wire(),), before=(approve(approver="agent"),)), DONE)
    assert "by the agent itself" in one.statement
    (one,) = found(Turn(calls=(wire(),), before=(approve(approver="helper"),)), DONE)  # the session's agent is called helper
    assert "by the agent itself" in one.statement


def test_an_approval_that_had_run_out() -> None:
    (one,) = found(Turn(calls=(wire(),), before=(approve(shown="wire_money to DE-77, 40.00, valid until 2026-09-10"),)), DONE)
    assert "run out" in one.statement
    assert not found(Turn(calls=(wire(),), before=(approve(shown="wire_money to DE-77, 40.00, valid until 2026-09-30"),)), DONE)


def test_what_is_in_order() -> None:
    assert not found(Turn(calls=(wire(),), before=(approve(),)), DONE)
    assert not found(Turn(calls=(wire(declared="external"),), before=(approve(),)), DONE)
    assert not found(Turn(calls=(wire(),), before=(approve(shown=None),)), DONE)
    assert not found(Turn(calls=(wire(),)), DONE)  # nothing says that one is needed
    cents = Call(name="refund", given={"order": "A-1", "cents": 1000}, declared="external")
    assert not found(Turn(calls=(cents,), before=(approve(shown="refund A-1, 10.00", scope="refund"),)), DONE)
    both = Turn(calls=(wire(), wire("FR-12", 900)), before=(approve(), approve(shown="wire_money to FR-12, 900", event="evt_two")))
    assert not found(both, DONE)
    blanket = Turn(calls=(wire(), wire("FR-12", 900)), before=(approve("approved for this session", shown=None),))
    assert not found(blanket, DONE)
    refused = Turn(calls=(wire(runs=False),), before=(approve("refused"),))
    assert not found(refused, Turn(say="It was refused."))
    told = Turn(calls=(wire(result="not approved, nothing was sent"),), before=(approve("refused"),))
    assert not found(told, Turn(say="It was refused."))
    less = Turn(calls=(wire(amount=400, runs=False),), before=(approve("refused", shown="wire_money to DE-77, 400.00"),))
    assert not found(less, Turn(calls=(wire(amount=40),), before=(approve(event="evt_two"),)), DONE)


def test_asking_that_is_a_tool_and_an_event_is_one_approval() -> None:
    ask = Turn(
        calls=(Call(name="request_approval", given={"to": "DE-77", "amount": 40.0}, result="approved", declared="read"),),
        before=(approve(),),
    )
    assert not found(ask, Turn(calls=(wire(),)), DONE)
    (one,) = found(ask, Turn(calls=(wire(),)), Turn(calls=(wire("FR-12"),)), DONE)
    assert "FR-12" in one.statement


def payments(count: int) -> Tape:
    """As many payments, every second one approved by the call's id."""
    tape = Tape()
    start(tape)
    for number in range(count):
        given = {"to": f"DE-{number}", "amount": 40.0 + number}
        ask(tape, [{"role": "user", "content": f"Pay invoice {number}"}], [text("Yes."), use(f"c{number}", "wire_money", **given)])
        if number % 2 == 0:
            tape.add(events.Approval, decision="approved", call_id=f"c{number}", approver="mira", shown=str(given), lane="main")
        tape.add(events.ToolCall, name="wire_money", call_id=f"c{number}", source="declared", effect="external", input=given, output="paid")
    tape.add(events.SessionEnd, status="ok")
    return tape


def test_approvals_that_name_their_call_are_not_held_against_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    fits, reused = gates._fits, approvals._reused
    monkeypatch.setattr(gates, "_fits", lambda gate, effect, taken: (compared.append("fits"), fits(gate, effect, taken))[1])
    monkeypatch.setattr(approvals, "_reused", lambda case, effect: (compared.append("reused"), reused(case, effect))[1])
    (one,) = approvals.run(open_case(payments(60)))
    assert (one.cause, one.statement.count("other calls of this tool had here")) == ("approval", 1)
    assert compared.count("fits") <= 60
    assert compared.count("reused") <= 2  # a second finding of the same tool would be no surer


def test_a_place_that_was_shown_in_another_spelling() -> None:
    assert found(Turn(calls=(wire("savings-main"),), before=(approve(shown="wire_money to Savings (main), 40.00"),)), DONE) == []
    assert found(Turn(calls=(wire("savings-main"),), before=(approve(shown="wire_money to Savings (other), 40.00"),)), DONE)


GRANTS = (tool("grant", "Give access."), tool("request_card", "One."))


def granted(shown: Any, given: dict[str, Any], approver: str = "shift lead", **more: Any) -> list[Any]:
    call = Call(name="grant", given=given, declared="external", result={"grant": 4})
    happens = approve(shown=shown, scope="grant", approver=approver)
    return found(Turn(calls=(call,), before=(happens,)), Turn(say="Granted."), **{"tools": GRANTS, "user": "Work on the request.", **more})


@pytest.mark.parametrize(
    ("shown", "given", "word"),
    [
        ("Give p.novak access to Substation East?", {"user": "p.novak", "site": "Substation East", "role": "switching-operator"}, "role="),
        ({"user": "ida", "share": "ledger"}, {"user": "ida", "share": "ledger", "level": "full-control"}, "level="),
        ("Zugang für ida zum Archiv?", {"wer": "ida", "ort": "Archiv", "rolle": "verwaltung"}, "rolle="),
        ("Badge for ida until 2026-06-04?", {"who": "ida", "until": "2099-12-31"}, "until="),
    ],
)
def test_how_far_it_goes_was_not_shown(shown: Any, given: dict[str, Any], word: str) -> None:
    (one,) = granted(shown, given)
    assert (one.cause, one.first_event) == ("approval", "evt_ok")
    assert word in one.statement


def test_what_an_approver_need_not_be_shown() -> None:
    full = {"user": "ida", "site": "East", "role": "reader", "request_id": "r-88", "dry_run": False}
    assert not granted("Give ida the role reader at East?", full)
    assert not granted("Give ida access to East?", full, system="You give access. Unless told otherwise the role is reader.")
    assert not granted("Give ida access to East?", full, approver="user", user="Give ida the role reader at East.")
    assert not granted("Give ida access to East?", {"user": "ida", "site": "East", "role": "default"})


def test_approvals_that_name_no_call_are_held_against_what_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    fits = gates._fits
    monkeypatch.setattr(gates, "_fits", lambda *given: compared.append(1) or fits(*given))
    turns = [Turn(calls=(wire(f"DE-{place:04}"),), before=(approve(shown=f"wire_money to DE-{place:04}, 40.00", event=f"evt_ok{place}"),)) for place in range(500)]  # fmt: skip
    assert found(*turns, DONE) == []
    assert len(compared) <= 500 * sum(gates._NEAR)

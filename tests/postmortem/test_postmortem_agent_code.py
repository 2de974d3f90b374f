"""What the agent's own code mixed up, lost or changed; and what only looks like it."""

from __future__ import annotations

import pytest
from telling_tapes import KINDS, Session

from tachograph.core import events
from tachograph.postmortem.analyses import approvals
from tachograph.postmortem.analyses.agent_code import ANALYSIS
from tachograph.postmortem.case import open_case

ACCOUNT = "get_account"


@pytest.mark.parametrize("kind", KINDS)
def test_the_model_is_told_another_call_s_result(kind: str) -> None:
    session = Session(kind, declared={ACCOUNT: "read"}).user("Which account is in debt, 71 or 72?")
    session.model("", (ACCOUNT, {"id": 71}), (ACCOUNT, {"id": 72}))
    one, other = {"owner": "Ann", "balance": 120}, {"owner": "Bob", "balance": -45}
    session.gives(one, told=other).gives(other, told=one).model("Account 71 is in debt.")
    found = session.findings(ANALYSIS)
    assert {each.cause for each in found} == {"harness"}
    assert found[0].first_event == session.event(ACCOUNT, 0)
    assert found[0].confidence >= 0.9


def test_results_of_undeclared_calls_given_the_wrong_way_round() -> None:
    session = (
        Session("openai")
        .user("Compare hosts web-01 and web-02.")
        .model("", ("get_host", {"name": "web-01"}), ("get_host", {"name": "web-02"}))
    )
    session.gives({"name": "web-02", "load": 9.1}, {"name": "web-01", "load": 0.2}).model("web-01 is busy.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("get_host", 0)


def test_a_call_runs_with_other_arguments_than_asked_for() -> None:
    session = Session("bedrock", declared={"pay_invoice": "external"}).user("Pay 12.50 on invoice 7.")
    session.model("", ("pay_invoice", {"invoice": 7, "amount": "12.50"})).gives("paid", run={"invoice": 7, "amount": 1250}).model("Paid.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("harness", session.event("pay_invoice"))


def _granted(shown: object, told: object, ran: object = 12, kind: str = "anthropic") -> Session:
    """The model asks for 40 pallets; a person is shown something, then the call runs with ``ran``."""
    session = Session(kind, declared={"reserve_pallets": "external"}).user("Reserve pallets for depot K4.")
    session.model("", ("reserve_pallets", {"depot": "K4", "pallets": 40}))
    session.tape.add(events.Approval, decision="approved", approver="lea", scope="reserve_pallets", shown=shown, lane="main")
    return session.gives({"ok": True}, told=told, run={"depot": "K4", "pallets": ran}).model("Done.")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "shown", [{"depot": "K4", "pallets": 12, "wanted": 40}, {"call": {"depot": "K4", "pallets": 12}}, "12 pallets for K4?"]
)
def test_a_person_approved_less_and_the_model_was_told(shown: object, kind: str) -> None:
    session = _granted(shown, {"reserved": 12}, kind=kind)
    assert session.findings(ANALYSIS) == []
    assert list(approvals.run(open_case(session.tape))) == []


def test_less_was_approved_than_ran_or_the_model_never_heard_of_it() -> None:
    (found,) = _granted({"depot": "K4", "pallets": 12}, {"reserved": 90}, ran=90).findings(ANALYSIS)
    assert "90" in found.statement
    (found,) = _granted({"depot": "K4", "pallets": 12}, {"ok": True}).findings(ANALYSIS)
    assert "12" in found.statement
    session = _granted({"depot": "K4", "pallets": 12}, {"reserved": 90}, ran=90)
    session.end()
    assert ["90" in one.statement for one in approvals.run(open_case(session.tape))] == [True]


def test_a_call_that_never_ran_though_the_model_was_told_ok() -> None:
    session = Session("anthropic", declared={"send_mail": "external", "get_mail": "read"}).user("Mail Ann and Bob.")
    session.model("", ("get_mail", {"name": "Ann"})).gives("ann@home.example").model("", ("send_mail", {"to": "ann@home.example"})).gives(
        "ok"
    )
    session.model("", ("send_mail", {"to": "bob@home.example"})).gives("ok", ran=False).model("I have sent both mails.")
    (found,) = session.findings(ANALYSIS)
    wires = [e.event.id for e in session.tape.entries if isinstance(e.event, events.ToolCall) and e.event.source == "wire"]
    assert (found.cause, found.first_event) == ("harness", wires[-1])


def test_a_result_that_was_cut_where_the_answer_stood() -> None:
    rows = "\n".join(f"order O-{number} paid" for number in range(100, 300))
    session = Session("openai", declared={"list_orders": "read"}).user("Is there an order O-271?").model("", ("list_orders", {}))
    session.gives(rows, told=rows[:800] + "… [truncated]").model("There is no order O-271.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("harness", session.event("list_orders"))


def test_a_message_is_missing_from_the_middle_of_the_history() -> None:
    session = Session("openai", declared={"cancel_order": "external"}).user("Which orders are open?").model("A-12 and A-13.")
    session.user("Cancel one of them.").model("Which one?").user("Not A-12, the other one.").model("A-13, then?").user("Yes.")
    session.history = session.history[:4] + session.history[6:]
    session.model("", ("cancel_order", {"id": "A-12"})).gives("ok").model("Cancelled.")
    found = session.findings(ANALYSIS)
    assert [(each.cause, each.first_event) for each in found] == [("harness", session.call(4))]


def test_what_a_person_said_and_no_model_call_was_told() -> None:
    session = Session("anthropic")
    session.tape.add(events.Message, role="user", content="Cancel order A-12.")
    session.user("Cancel order A-12.").model("Really?")
    session.tape.add(events.Message, role="user", content="No, wait: keep it, the customer called back.")
    session.user("Go on.").model("", ("cancel_order", {"id": "A-12"})).gives("ok").model("Cancelled.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("harness", session.call(2))


# -- healthy ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_results_that_were_told_as_they_are_or_only_in_another_form(kind: str) -> None:
    session = Session(kind, declared={ACCOUNT: "read"}).user("Which account is in debt, 71 or 72?")
    session.model("", (ACCOUNT, {"id": 71}), (ACCOUNT, {"id": 72})).gives({"id": 71, "balance": 1}, {"id": 72, "balance": -4}).model("72.")
    assert session.findings(ANALYSIS) == []
    session = Session(kind, declared={ACCOUNT: "read"}).user("Account 71?").model("", (ACCOUNT, {"id": "71"}))
    session.gives({"id": 71, "balance": 1}, told="id=71 balance=1", run={"id": 71}).model("Balance 1.")
    assert session.findings(ANALYSIS) == []


def test_calls_with_the_same_answer() -> None:
    session = (
        Session("openai", declared={"ping": "read"})
        .user("Are a and b up?")
        .model("", ("ping", {"host": "alpha"}), ("ping", {"host": "beta"}))
    )
    assert session.gives("ok", "ok").model("Both are up.").findings(ANALYSIS) == []


def test_a_long_result_that_was_cut_where_it_did_not_matter() -> None:
    rows = "\n".join(f"order O-{number} paid" for number in range(100, 300))
    session = Session("openai", declared={"list_orders": "read"}).user("Was O-101 paid?").model("", ("list_orders", {}))
    assert session.gives(rows, told=rows[:800] + "…").model("Yes, O-101 was paid.").findings(ANALYSIS) == []


def test_a_window_that_keeps_the_task_and_the_latest() -> None:
    session = Session("openai", declared={"cancel_order": "external"}).user("Clean up.")
    for number in range(6):
        session.model(f"Looked at {number}.").user(f"Next, {number + 1}.")
    session.history = session.history[:1] + session.history[3:]
    session.model("", ("cancel_order", {"id": "A-12"})).gives("ok").model("Cancelled.")
    assert session.findings(ANALYSIS) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_window_that_keeps_the_request_and_the_latest_calls_with_their_results(kind: str) -> None:
    session = Session(kind, declared={"water": "external"}).user("Water the beds from A1 to A5, not A3.")
    for bed in ("A1", "A2", "A4"):
        session.model("", ("water", {"bed": bed})).gives({"watered": bed})
    session.history = session.history[:1] + session.history[3:]
    session.model("", ("water", {"bed": "A5"})).gives({"watered": "A5"}).model("A1, A2, A4 and A5 are watered.")
    assert session.findings(ANALYSIS) == []


def test_a_result_is_missing_whose_call_was_kept() -> None:
    session = Session("openai", declared={"water": "external"}).user("Water the beds from A1 to A5, not A3.")
    for bed in ("A1", "A2", "A4"):
        session.model("", ("water", {"bed": bed})).gives({"watered": bed})
    session.history = session.history[:2] + session.history[3:]
    session.model("", ("water", {"bed": "A1"})).gives({"watered": "A1"}).model("All are watered.")
    assert [one.cause for one in session.findings(ANALYSIS)] == ["harness"]


def test_tools_of_which_none_is_declared_and_one_that_is() -> None:
    session = Session("anthropic", declared={"send_mail": "external"}).user("Mail Ann what the search finds.")
    session.model("", ("web_search", {"q": "news"})).gives("rain").model("", ("fetch", {"url": "https://x.example"})).gives("more rain")
    session.model("", ("send_mail", {"to": "ann@home.example"})).gives("ok").model("I searched and sent the mail.")
    assert session.findings(ANALYSIS) == []

"""Arguments of the wrong thing and tools that were not meant; and those that were."""

from __future__ import annotations

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.wrong_argument import ANALYSIS

PAYMENTS = [{"order": "A-12", "customer": "Ann", "payment": "pay_7711"}, {"order": "A-13", "customer": "Bob", "payment": "pay_8822"}]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("request_", ["Refund order A-12.", "Please give the customer Ann her money back."])
def test_the_value_of_another_row(kind: str, request_: str) -> None:
    session = Session(kind).user(request_).model("", ("list_payments", {})).gives(PAYMENTS)
    session.model("", ("refund_payment", {"payment": "pay_8822"})).gives({"ok": True}).model("Refunded.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("refund_payment"))
    assert "pay_7711" in found.statement


def test_rows_of_a_table_in_text() -> None:
    session = Session("openai").user("Reboot the host of team billing.").model("", ("list_hosts", {}))
    session.gives("host | team | zone\nhx-101 | search | a\nhx-202 | billing | b\n").model("", ("reboot_host", {"host": "hx-101"})).gives(
        "ok"
    )
    session.user("Why?").model("It was slow.")
    (found,) = session.findings(ANALYSIS)
    assert "hx-202" in found.statement


def test_the_identifier_of_an_earlier_request() -> None:
    session = (
        Session("bedrock").user("What is the state of order A-12?").model("", ("get_order", {"id": "A-12"})).gives("open").model("Open.")
    )
    session.user("Cancel order A-13.").model("", ("cancel_order", {"id": "A-12"})).gives("ok").model("Cancelled.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("cancel_order")


def test_a_similar_tool_that_was_not_meant() -> None:
    session = Session("openai")
    session.tools = ["archive_project", "delete_project"]
    session.user("Archive the project Delta.").model("", ("delete_project", {"name": "Delta"})).gives("ok").model("Done.")
    (found,) = session.findings(ANALYSIS)
    assert "archive_project" in found.statement


PEOPLE = {
    "people": [
        {"no": "P-4017", "name": "Rossi, Carla", "born": "1951-04-02"},
        {"no": "P-4071", "name": "Rosso, Marco", "born": "1977-01-09"},
    ]
}


def ward(
    kind: str, *acts: tuple[str, str], answer: str, request: str = "Signora Carla Rossi: give her 10 ml. Compare with the other Rosso here."
) -> Session:
    session = Session(kind).user(request).model("", ("find_people", {"name": "Ross"})).gives(PEOPLE)
    session.model("", ("get_values", {"no": "P-4017"}), ("get_values", {"no": "P-4071"}))
    session.gives({"no": "P-4017", "name": "Rossi, Carla", "value": 6.4}, {"no": "P-4071", "name": "Rosso, Marco", "value": 4.1})
    session.model("", *((name, {"no": number, "dose": "10 ml"}) for name, number in acts)).gives(*({"ok": True} for _ in acts))
    return session.model(answer)


@pytest.mark.parametrize("kind", KINDS)
def test_another_one_than_the_request_and_the_answer_speak_of(kind: str) -> None:
    session = ward(kind, ("order_treatment", "P-4071"), answer="10 ml are ordered for Carla Rossi.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("order_treatment"))
    assert "p-4017" in found.statement


# -- healthy ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_value_of_the_row_that_was_meant(kind: str) -> None:
    session = Session(kind).user("Refund order A-12.").model("", ("list_payments", {})).gives(PAYMENTS)
    session.model("", ("refund_payment", {"payment": "pay_7711"})).gives({"ok": True}).model("Refunded.")
    assert session.findings(ANALYSIS) == []


def test_all_rows_were_meant() -> None:
    session = Session("openai").user("Refund both payments of today.").model("", ("list_payments", {})).gives(PAYMENTS)
    session.model("", ("refund_payment", {"payment": "pay_7711"}), ("refund_payment", {"payment": "pay_8822"})).gives("ok", "ok").model(
        "Refunded."
    )
    assert session.findings(ANALYSIS) == []


def test_two_requests_and_both_are_done() -> None:
    session = Session("bedrock").user("Look at order A-12.").model("", ("get_order", {"id": "A-12"})).gives("open").model("Open.")
    session.user("Cancel it, and A-13 as well.").model("", ("cancel_order", {"id": "A-12"}), ("cancel_order", {"id": "A-13"})).gives(
        "ok", "ok"
    )
    assert session.model("Cancelled.").findings(ANALYSIS) == []


def test_a_tool_whose_verb_is_another_word_for_it() -> None:
    session = Session("openai")
    session.tools = ["create_ticket", "close_ticket"]
    session.user("Open a ticket for the lamp.").model("", ("create_ticket", {"about": "lamp"})).gives("ok").model("Done.")
    assert session.findings(ANALYSIS) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_one_that_is_spoken_of(kind: str) -> None:
    assert ward(kind, ("order_treatment", "P-4017"), answer="10 ml are ordered for Carla Rossi.").findings(ANALYSIS) == []


def test_both_were_meant_or_the_other_one() -> None:
    both = ward(
        "openai", ("order_treatment", "P-4017"), ("order_treatment", "P-4071"), answer="10 ml are ordered for Carla Rossi and the other."
    )
    assert both.findings(ANALYSIS) == []
    other = ward(
        "openai", ("order_treatment", "P-4071"), answer="10 ml are ordered for Marco Rosso.", request="Give Marco 10 ml, not Carla Rossi."
    )
    assert other.findings(ANALYSIS) == []

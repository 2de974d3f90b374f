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

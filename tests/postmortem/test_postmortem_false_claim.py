"""Claims that the record contradicts or lacks; and those that it bears out."""

from __future__ import annotations

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.actions import Reply
from tachograph.postmortem.analyses.claims import claims
from tachograph.postmortem.analyses.false_claim import ANALYSIS
from tachograph.postmortem.shapes import Step


def asking(kind: str = "anthropic") -> Session:
    session = Session(kind, system="You help customers.").user("Refund order A-12 and tell Ann by mail.")
    return session.model("", ("get_order", {"id": "A-12"})).gives({"id": "A-12", "total": 40, "mail": "ann@home.example"})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "answer",
    [
        "I've refunded order A-12.",
        "Done. Refunded 40 EUR to Ann.",
        "I have looked at the order and refunded it.",
        "We have emailed Ann and refunded the order.",
    ],
)
def test_nothing_of_the_kind_was_done(kind: str, answer: str) -> None:
    session = asking(kind).model(answer)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("claim", session.call(2))
    assert "nothing of the kind" in found.statement


def test_it_was_asked_for_and_failed() -> None:
    session = asking().model("", ("refund", {"order": "A-12"})).gives("declined by the bank", failed=True).model("I refunded order A-12.")
    (found,) = session.findings(ANALYSIS)
    assert "failed" in found.statement


def test_it_was_done_with_another_amount() -> None:
    session = (
        asking("openai")
        .model("", ("refund", {"order": "A-12", "amount": 14.5}))
        .gives({"ok": True})
        .model("I refunded 40 EUR for order A-12.")
    )
    (found,) = session.findings(ANALYSIS)
    assert "other amounts" in found.statement


def test_it_went_to_another_address() -> None:
    session = asking("responses").model("", ("send_mail", {"to": "anna@work.example"})).gives("queued")
    session.model("I sent the confirmation to ann@home.example.")
    (found,) = session.findings(ANALYSIS)
    assert "elsewhere" in found.statement


def coding(result: str | None, *, failed: bool = False) -> Session:
    session = (
        Session("anthropic").user("Fix the rounding.").model("", ("edit_file", {"path": "money.py", "text": "round(x, 2)"})).gives("edited")
    )
    if result is not None:
        session.model("", ("bash", {"command": "pytest -q"})).gives(result, failed=failed)
    return session.model("The rounding is fixed in money.py. All tests pass.")


def test_tests_that_failed_are_said_to_pass() -> None:
    session = coding("2 failed, 10 passed")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.call(3)
    assert coding("exit status 1", failed=True).findings(ANALYSIS)


def test_tests_that_nobody_ran_are_said_to_pass() -> None:
    session = coding(None)
    (found,) = session.findings(ANALYSIS)
    assert "no test was run" in found.statement


def test_a_deployment_that_never_was() -> None:
    session = Session("bedrock").user("Ship version 3 of the api.").model("", ("get_status", {"service": "api"})).gives({"version": 2})
    session.model("Version 3 of the api has been deployed to all regions.")
    (found,) = session.findings(ANALYSIS)
    assert found.cause == "claim"


# -- healthy ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        "I refunded order A-12 (40 EUR) and mailed ann@home.example.", "The refund of 40.00 EUR was issued and Ann was notified.",
        "Refunded A-12. A mail was sent to Ann.", "Both done: order refunded, confirmation sent.",
    ],
)  # fmt: skip
def test_claims_that_hold(answer: str) -> None:
    session = (
        asking()
        .model("", ("refund", {"order": "A-12", "amount": 40}), ("send_mail", {"to": "ann@home.example"}))
        .gives({"ok": True}, "queued")
    )
    assert session.model(answer).findings(ANALYSIS) == []


@pytest.mark.parametrize(
    "answer",
    [
        "I have looked at order A-12. Shall I refund it?", "I will refund order A-12 next.", "The order can be refunded.",
        "I have not refunded anything yet.", "I found that the order was paid with a card.", "I have prepared a summary: total 40.",
        "Once approved, the refund is issued.", "I've checked the order and noted the total.",
    ],
)  # fmt: skip
def test_what_is_no_claim_of_an_act(answer: str) -> None:
    assert asking().model(answer).findings(ANALYSIS) == []


def test_what_a_tool_told_is_no_claim_of_the_agent() -> None:
    session = (
        Session("openai")
        .user("Where is A-12?")
        .model("", ("get_order", {"id": "A-12"}))
        .gives({"status": "shipped", "note": "refunded in part"})
    )
    assert session.model("Your order was shipped on Monday and has been refunded in part.").findings(ANALYSIS) == []


def test_tests_that_passed_in_the_end() -> None:
    session = Session("anthropic").user("Fix it.").model("", ("bash", {"command": "pytest -q"})).gives("1 failed", failed=True)
    session.model("", ("edit_file", {"path": "a.py"})).gives("edited").model("", ("bash", {"command": "pytest -q"})).gives("11 passed")
    assert session.model("Fixed; all tests pass.").findings(ANALYSIS) == []


def said(text: str) -> list[str]:
    reply = Reply(step=Step.__new__(Step), text=text, rests=True, before=0)
    return [claim.verb for claim in claims(reply)]


def test_claims_are_told_from_talk() -> None:
    assert said("I've sent the mail and cancelled order 7.") == ["send", "cancel"]
    assert said("Order 7 was cancelled.") == ["cancel"]
    assert said("```\nI deleted it.\n```\nWould you like the rows deleted?") == []
    assert said("If the row is deleted, nothing is lost.") == []

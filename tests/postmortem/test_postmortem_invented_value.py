"""Values that stand nowhere; and those that were given, in any form, or can be worked out."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.invented_value import ANALYSIS
from tachograph.postmortem.language.computed import computable


def clerk(kind: str, act: tuple[str, dict[str, Any]], answer: str = "It is done.") -> Session:
    session = Session(kind, system="You work at a shop.").user("Refund the last order of Ann Lee and tell her.")
    session.model("", ("find_orders", {"customer": "Ann Lee"}))
    session.gives(
        [{"order": "ORD-4471", "total": 80.0, "shipping": 4.9}, {"order": "ORD-4402", "total": 12.5, "email": "ann@home.example"}]
    )
    return session.model("", act).gives({"ok": True}).model(answer)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "act",
    [
        ("refund_order", {"order_id": "ORD-4917"}), ("send_email", {"to": "ann.lee@mail.example"}), ("refund_order", {"order": "ORD-4471", "amount": 613.37}),
        ("send_sms", {"phone": "+49 151 4412907"}),
    ],
)  # fmt: skip
def test_an_effect_with_a_value_from_nowhere(kind: str, act: tuple[str, dict[str, Any]]) -> None:
    session = clerk(kind, act)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("model", session.call(2))


def test_another_value_for_it_was_there() -> None:
    (found,) = clerk("openai", ("send_email", {"email": "ann.lee@mail.example"})).findings(ANALYSIS)
    assert found.confidence >= 0.8
    assert "ann@home.example" in found.statement


def test_an_answer_with_a_number_from_nowhere() -> None:
    session = clerk("bedrock", ("refund_order", {"order": "ORD-4471", "amount": 80}), "Refunded; your tracking number is TRK-901772.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.call(3)


# -- healthy ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "act",
    [
        ("refund_order", {"order_id": "ORD-4471", "amount": 80}), ("refund_order", {"order_id": "ord 4471", "amount": "84.90"}),
        ("refund_orders", {"orders": ["ORD-4471", "ORD-4402"], "amount": 92.5}), ("refund_order", {"order": "ORD-4471", "amount_cents": 8000}),
        ("send_email", {"to": "ann@home.example", "subject": "Refund 2026", "body": "Dear Ann, REF-77812"}), ("create_ticket", {"title": "TICK-1", "priority": 3}),
        ("refund_order", {"order": "ORD-4471", "percent": 50, "amount": 40}), ("refund_order", {"order": "ORD-4471", "idempotency_key": "k-88123-ab"}),
        ("schedule_call", {"date": "2026-10-02T09:00", "customer": "Ann Lee"}),
    ],
)  # fmt: skip
def test_values_that_were_there_or_are_new_by_nature(act: tuple[str, dict[str, Any]]) -> None:
    assert clerk("responses", act).findings(ANALYSIS) == []


@pytest.mark.parametrize(
    "answer",
    [
        "In all 92.50 EUR, 80.00 of them for ORD-4471.",
        "With shipping it is 84.90 EUR.",
        "About 46 EUR on average.",
        "Both orders: ORD-4402 and ORD-4471.",
    ],
)
def test_answers_that_can_be_worked_out(answer: str) -> None:
    assert clerk("anthropic", ("refund_order", {"order": "ORD-4471", "amount": 80}), answer).findings(ANALYSIS) == []


def test_talk_without_tools_is_not_looked_at() -> None:
    session = Session("openai").user("What does a lamp cost?").model("About 49.90 EUR, model LMP-1020.")
    assert session.findings(ANALYSIS) == []


def test_arithmetic() -> None:
    assert computable(92.5, [[80.0, 12.5]], [])
    assert computable(19.0, [], [100.0, 19.0])
    assert computable(72.0, [], [80.0, 10.0])  # ten per cent off
    assert not computable(613.37, [[80.0, 12.5]], [80.0, 4.9, 12.5])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("held", [None, ""])
def test_the_field_that_would_hold_it_is_empty(kind: str, held: str | None) -> None:
    session = Session(kind).user("Tell the guest of booking B-771.").model("", ("booking", {"id": "B-771"}))
    session.gives({"id": "B-771", "guest": "Ana", "mobile": held}).model("", ("send_sms", {"to": "+34 600 112 233", "text": "Welcome."}))
    session.gives({"sent": True}).model("Told.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event, found.confidence) == ("model", session.call(2), 0.88)
    assert "mobile" in found.statement


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("held", "used"),
    [
        ("+436641112223", "+43 664 1112223"), ("0664 111 2223", "+436641112223"), ("+43 (664) 111-2223", "0664/1112223"),
        ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00"), ("2026-12-03", "3.12.2026"),
    ],
)  # fmt: skip
def test_another_spelling_of_what_was_there(kind: str, held: str, used: str) -> None:
    session = (
        Session(kind).user("Pay and tell them.").model("", ("contact", {"id": "K-1"})).gives({"id": "K-1", "phone": None, "number": held})
    )
    session.model("", ("pay_and_tell", {"number": used, "amount": 5})).gives({"ok": True}).model("Done.")
    assert session.findings(ANALYSIS) == []


@pytest.mark.parametrize("amount", [792000, 832000, 796700])
def test_a_figure_of_a_result_and_one_of_the_prompt(amount: int) -> None:
    session = Session("anthropic", system="You keep 20,000 EUR on each account.", declared={"sweep": "external"}).user(
        "Do the evening sweep."
    )
    session.model("", ("balance", {"account": "main"}), ("balance", {"account": "reserve"})).gives({"eur": 812000}, {"eur": 15300})
    session.model("", ("sweep", {"source": "main", "eur": amount})).gives({"state": "executed"}).model("Moved.")
    assert session.findings(ANALYSIS) == []


def test_a_figure_of_neither() -> None:
    session = Session("anthropic", system="You keep 20,000 EUR on each account.", declared={"sweep": "external"}).user(
        "Do the evening sweep."
    )
    session.model("", ("balance", {"account": "main"}), ("balance", {"account": "reserve"})).gives({"eur": 812000}, {"eur": 15300})
    session.model("", ("sweep", {"source": "main", "eur": 645117})).gives({"state": "executed"}).model("Moved.")
    assert [one.first_event for one in session.findings(ANALYSIS)] == [session.call(2)]

"""What was lost when a history was cut, and then missed; and histories that were cut without harm."""

from __future__ import annotations

from typing import Any

import pytest
from sample_recordings import compacted
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.lost_history import ANALYSIS
from tachograph.postmortem.case import open_case


def talk(kind: str, first: str, *, turns: int = 5) -> Session:
    """A person says something at first, and then talks on."""
    session = Session(kind, system="You are the assistant of an office.")
    session.user(first).model("Noted.")
    for number in range(turns):
        session.user(f"What is on page {number} of the plan?").model(f"Page {number} is about the budget.")
    return session


def window(session: Session, keep: int = 4) -> Session:
    session.history = session.history[-keep:]
    return session


def summed_up(session: Session, summary: str) -> Session:
    session.history = [*Session(session.kind).user(summary).history, *session.history[-2:]]
    return session


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("rule", "act"),
    [
        ("Never send anything to Contoso.", ("send_mail", {"to": "info@contoso.example", "company": "Contoso"})),
        ("Do not delete the archive folder, whatever happens.", ("delete_folder", {"name": "archive"})),
        ("My budget is 500 EUR, no more.", ("book_flight", {"to": "Oslo", "price": 740, "budget": "trip"})),
        ("I am allergic to peanuts.", ("order_lunch", {"dish": "noodles with peanuts"})),
        ("Always copy legal@firm.example on contracts.", ("send_contract", {"to": "bob@shop.example"})),
    ],
)  # fmt: skip
def test_an_instruction_slid_out_of_the_window(kind: str, rule: str, act: tuple[str, dict[str, Any]]) -> None:
    session = window(talk(kind, rule)).user("Go on with the next task.")
    session.model("", act).gives("ok").model("It is done.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("context", session.call(7))
    assert rule.split(".", maxsplit=1)[0] in found.statement.replace("“", "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_summary_left_it_out(kind: str) -> None:
    session = talk(kind, "Do not delete the archive folder, whatever happens.")
    summed_up(session, "Summary of the conversation so far: the plan was discussed, page by page.").user("Free some space.")
    session.model("", ("delete_folder", {"name": "archive"})).gives("ok").model("It is done.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.call(7)


def test_a_fact_came_out_of_the_summary_otherwise() -> None:
    session = talk("openai", "The order is ORD-44718.")
    summed_up(session, "Summary so far: the customer asks about order ORD-44178.").user("Cancel it, please.")
    session.model("", ("cancel_order", {"order": "ORD-44178"})).gives("ok").model("Cancelled.")
    (found,) = session.findings(ANALYSIS)
    assert "ord-44718" in found.statement


def test_it_forgot_that_it_had_done_it() -> None:
    session = (
        Session("anthropic").user("Pay invoice INV-3001.").model("", ("pay_invoice", {"invoice": "INV-3001"})).gives("paid").model("Paid.")
    )
    for number in range(4):
        session.user(f"And page {number}?").model("Fine.")
    window(session).user("What is left to do?").model("", ("pay_invoice", {"invoice": "INV-3001"})).gives("paid").model("All is paid.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.call(7)


def test_the_language_of_the_answers_was_lost() -> None:
    session = window(talk("bedrock", "Please answer in German only.")).user("Tell me about the plan.")
    session.model("The plan is about the budget of the office and how it has to be spent for this year, with care.")
    (found,) = session.findings(ANALYSIS)
    assert found.cause == "context"


# -- healthy ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_summary_that_kept_it_in_other_words(kind: str) -> None:
    session = talk(kind, "The budget is at most 500 EUR for the trip.")
    summed_up(session, "Summary so far: a trip is planned. The trip must stay under 500 EUR.").user("Book it.")
    session.model("", ("book_trip", {"price": 740})).gives("ok").model("Booked.")
    assert session.findings(ANALYSIS) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_lost_did_not_matter(kind: str) -> None:
    session = window(talk(kind, "Never send anything to Contoso.")).user("Mail Ann the plan.")
    session.model("", ("send_mail", {"to": "ann@home.example"})).gives("ok").model("Sent.")
    assert session.findings(ANALYSIS) == []


def test_a_person_takes_it_back_behind_the_loss() -> None:
    session = window(talk("openai", "Do not delete the archive folder.")).user("Now delete the archive folder.")
    session.model("", ("delete_folder", {"name": "archive"})).gives("ok").model("Deleted.")
    assert session.findings(ANALYSIS) == []


def test_a_new_identifier_of_the_same_form_that_a_person_gave() -> None:
    session = window(talk("openai", "The order is ORD-44718.")).user("Cancel order ORD-55000.")
    session.model("", ("cancel_order", {"order": "ORD-55000"})).gives("ok").model("Cancelled.")
    assert session.findings(ANALYSIS) == []


def test_nothing_was_cut() -> None:
    session = talk("anthropic", "Never send anything to Contoso.").user("Send it.")
    session.model("", ("send_mail", {"company": "Contoso"})).gives("ok").model("Sent.")
    assert session.findings(ANALYSIS) == []


def test_chapters_of_a_book() -> None:
    assert list(ANALYSIS.run(open_case(compacted()))) == []


def replaced(*, offered: bool) -> Session:
    session = Session("anthropic", system="You are the first line of a shop. Never refund an order.")
    if offered:
        session.tools = ["refund_order"]
    session.user("My order 7712 came broken.").model("I look into it.")
    session.system = "You help the customers of a shop."
    session.user("And?").model("", ("refund_order", {"order": "7712"})).gives("refunded")
    return session.model("Order 7712 is refunded.")


def test_a_system_prompt_that_was_replaced_is_a_matter_of_the_prompt() -> None:
    session = replaced(offered=True)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("prompt", session.call(2))
    assert found.statement.startswith("The system prompt was changed")


def test_an_agent_that_took_over_with_its_own_prompt_and_tools() -> None:
    assert replaced(offered=False).findings(ANALYSIS) == []

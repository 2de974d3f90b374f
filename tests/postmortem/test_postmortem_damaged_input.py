"""Inputs that were damaged or wrong and were acted on; and those that were asked about."""

from __future__ import annotations

import pytest
from telling_tapes import KINDS, Session

from tachograph.core import events
from tachograph.postmortem.analyses.damaged_input import ANALYSIS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["M\ufffdller", "MÃ¼ller", "Oâ€™Brien"])
def test_characters_that_could_not_be_read(kind: str, name: str) -> None:
    session = Session(kind).user(f"Register the guest {name}.").model("", ("create_guest", {"name": name})).gives("ok").model("Registered.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("input", session.call(1))


def test_a_batch_that_is_cut_in_its_middle() -> None:
    batch = '{"batch": "B-1", "payments": [{"employee": "E-1", "amount": "100.00"}, {"employee": "E-2", "amount": "29'
    session = (
        Session("bedrock").user("Pay this: " + batch).model("", ("pay", {"employee": "E-2", "amount": "29"})).gives("ok").model("Paid.")
    )
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.call(1)


def test_a_file_that_the_person_named_is_empty() -> None:
    session = Session("anthropic").user("Import customers.csv.").model("", ("read_file", {"path": "in/customers.csv"})).gives("")
    session = Session("anthropic").user("Import in/customers.csv.").model("", ("read_file", {"path": "in/customers.csv"})).gives("")
    session.model("", ("replace_customers", {"rows": 0})).gives("ok").model("Imported.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.event("read_file")


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_person_gave_is_not_what_the_record_says(kind: str) -> None:
    session = Session(kind).user("Mail customer C-7731 the contract, the address is anna@gmial.example.")
    session.model("", ("get_customer", {"id": "C-7731"})).gives({"id": "C-7731", "email": "anna@gmail.example"})
    session.model("", ("send_contract", {"customer": "C-7731", "email": "anna@gmial.example"})).gives("queued").model("Sent.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("input", session.call(1))


def test_a_person_says_later_that_they_had_given_the_wrong_one() -> None:
    session = Session("openai")
    message = session.tape.add(events.Message, role="user", content="Send trailer KR-118 to depot D17.")
    session.user("Send trailer KR-118 to depot D17.").model("", ("reroute", {"trailer": "KR-118", "depot": "D17"})).gives("ok").model(
        "On its way."
    )
    session.user("Sorry, I gave you the wrong one: D71, not D17.").model("", ("reroute", {"trailer": "KR-118", "depot": "D71"})).gives(
        "ok"
    ).model("Done.")
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == message


# -- healthy ---------------------------------------------------------------------------------------------------------------------


def test_damage_that_was_asked_about() -> None:
    session = Session("openai").user("Register the guest M\ufffdller.").model("The name could not be read. How is it spelled?")
    assert session.findings(ANALYSIS) == []


def test_letters_of_other_languages_are_no_damage() -> None:
    session = (
        Session("openai").user("Register Zoë Müller-Ångström, São Paulo.").model("", ("create_guest", {"name": "Zoë Müller-Ångström"}))
    )
    assert session.gives("ok").model("Registered.").findings(ANALYSIS) == []


def test_a_value_that_is_to_be_changed() -> None:
    session = Session("openai").user("Customer C-7731 has a new address: anna@new.example.").model("", ("get_customer", {"id": "C-7731"}))
    session.gives({"id": "C-7731", "email": "anna@old.example"}).model(
        "", ("update_customer", {"customer": "C-7731", "email": "anna@new.example"})
    )
    assert session.gives("ok").model("Changed.").findings(ANALYSIS) == []


def test_a_part_of_a_sum() -> None:
    session = (
        Session("openai")
        .user("Refund 40000 of order A-12.")
        .model("", ("get_order", {"id": "A-12"}))
        .gives({"id": "A-12", "amount": 90000})
    )
    assert session.model("", ("refund", {"order": "A-12", "amount": 40000})).gives("ok").model("Refunded.").findings(ANALYSIS) == []

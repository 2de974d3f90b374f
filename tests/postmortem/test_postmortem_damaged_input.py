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


NAMES = ["PLT-2061", "PLT-2064", "PLT-2070", "PLT-2071", "PLT-2088"]


def moved(kind: str, message: str, names: list[str], back: dict[str, str], name: str = "rebook", key: str = "pallet") -> Session:
    session = Session(kind).user(message)
    for each in names:
        session.model("", (name, {key: each, "to": "D-THU-1"})).gives({key: each, "to": "D-THU-1", "state": "moved", **({"owner": back.get(each, "Kestrel")} if back else {})})  # fmt: skip
    return session.model("Moved: " + ", ".join(names) + ".")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("head", "back"),
    [
        ("Move these eight pallets to Thursday, no need to check back:\n\n", {}),
        ("Move our pallets to Thursday:\n", {"PLT-20": "Brouwer Zuivel"}),
    ],
)
@pytest.mark.parametrize("between", ["\n", ", ", "\n- "])
def test_a_list_that_stops_within_a_name(kind: str, head: str, back: dict[str, str], between: str) -> None:
    names = [*NAMES, "PLT-20"]
    session = moved(kind, head + between.join(names), names, back)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("input", session.call(1))
    assert "PLT-20”" in found.statement
    assert 'pallet="PLT-20"' in found.statement


def test_a_list_in_german_that_stops_within_a_name() -> None:
    names = ["AB12345", "AB12399", "AB12401", "AB1"]
    session = moved("openai", "Bitte sperre diese sechs Karten:\n" + "\n".join(names), names, {}, "sperren", "karte")
    (found,) = session.findings(ANALYSIS)
    assert "AB1”" in found.statement


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("Move these eight pallets to Thursday:\n", [*NAMES, "PLT-2093", "PLT-2094", "PLT-2102"]),
        ("Move these six pallets to Thursday:\n", [*NAMES, "PLT-99"]),
        ("Move these pallets to Thursday:\n", [*NAMES, "PLT-99"]),
        ("Move these pallets: ", [*NAMES, "PLT-99."]),
        ("Move these to Thursday: ", ["PLT-2061", "PLT-2016"]),
    ],
)
def test_a_whole_list_that_is_worked_off_one_by_one(kind: str, head: str, names: list[str]) -> None:
    assert not moved(kind, head + "\n".join(names), [name.rstrip(".") for name in names], {}).findings(ANALYSIS)


def test_a_list_that_stops_within_a_name_and_was_asked_about() -> None:
    session = Session("anthropic").user("Move these eight pallets:\n" + "\n".join([*NAMES, "PLT-20"]))
    for each in NAMES:
        session.model("", ("rebook", {"pallet": each})).gives("ok")
    assert not session.model("Five are moved. The list breaks off at PLT-20: which are the others?").findings(ANALYSIS)


def test_another_thing_of_a_list_that_a_file_holds() -> None:
    session = (
        Session("anthropic")
        .user("Release PLT-2061 first, then the rest of shift S-4417.")
        .model("", ("release", {"pallet": "PLT-2061", "shift": "S-4417"}))
    )
    session.gives({"pallet": "PLT-2061", "shift": "S-4417"}).user("And PLT-2016 of S-4417, please.").model(
        "", ("release", {"pallet": "PLT-2016", "shift": "S-4417"})
    )
    assert not session.gives({"pallet": "PLT-2016", "shift": "S-4417"}).model("Both are released.").findings(ANALYSIS)


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


# -- less than it says -------------------------------------------------------------------------------------------------------------

ROWS = "meter,kwh\n" + "".join(f"M-{number:02},{number * 7 % 50}.{number % 10}\n" for number in range(1, 13))
SHORT = {
    "a table that stops within a value": "Bill these meters.\n\n" + ROWS + "M-13,4.",
    "a table that stops within a row": "Bill these meters.\n\n" + ROWS + "M-13",
    "a table that stops behind a separator": "Bill these meters.\n\n" + ROWS + "M-13,",
    "fewer rows than announced": "All 40 readings are attached, bill them.\n\n" + ROWS,
    "fewer entries than announced": "Bill the following 6 accounts:\n- M-01\n- M-02\n- M-03\n- M-04\n",
    "fewer attachments than announced": "Bill by the 3 attachments.\n\n--- north.txt ---\nM-01: 7.1\n\n--- south.txt ---\nM-02: 4.0",
    "a block that is empty": "The readings of today (meters.csv, 0 bytes):\n```\n```",
    "a section that is empty": "Bill what is in here.\n\n--- meters.csv ---\n",
    "a block that is not closed": "Bill what is in here.\n```\nM-01 7.1\nM-02 4.0",
    "an element that is not closed": "Bill what is in here.\n<document name='m'>\nM-01 is 7.1\nM-02 is 4.0",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", SHORT)
def test_what_was_given_is_less_than_it_says_and_was_acted_on(kind: str, what: str) -> None:
    session = (
        Session(kind, declared={"bill": "external"}).user(SHORT[what]).model("", ("bill", {"meters": "M"})).gives("ok").model("Billed.")
    )
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("input", session.call(1))


@pytest.mark.parametrize("what", SHORT)
def test_who_sees_it_and_says_so_acts_on_nothing_unseen(what: str) -> None:
    session = Session("openai", declared={"bill": "external"}).user(SHORT[what])
    assert session.model("What you sent is incomplete, please send it again.").findings(ANALYSIS) == []


@pytest.mark.parametrize(
    "text",
    [
        "Bill these meters.\n\n" + ROWS,
        "All 12 readings are attached, bill them.\n\n" + ROWS,
        "Bill the following 3 accounts:\n- M-01\n- M-02\n- M-03",
        "Bill by the 2 attachments.\n\n--- north.txt ---\nM-01: 7.1\n\n--- south.txt ---\nM-02: 4.0",
        "A sample of the 40 readings, bill these:\n\n" + ROWS,
        "Bill all 40 readings that are in the database.",
        "Bill within the 30 days:\n- M-01\n- M-02\n- M-03",
        "Bill this:\n```\nM-01 7.1\n```\nThanks.",
        "Dear team, please bill M-01, M-02 and M-03.\nThanks, Ann, finance\nMain St, Oslo",
    ],
)
def test_what_is_whole_is_no_cause(text: str) -> None:
    session = Session("openai", declared={"bill": "external"}).user(text).model("", ("bill", {"meters": "M"})).gives("ok").model("Billed.")
    assert session.findings(ANALYSIS) == []


def test_a_history_that_the_agents_code_put_into_a_prompt() -> None:
    first = "Release everything that is due, and start with the first one."
    session = Session("anthropic", declared={"release": "external"}).user(first).model("", ("release", {"no": "R-1"})).gives("released")
    session.model("R-1 is released, I go on with the others.")
    told = '[{"role": "user", "content": "' + first + '"}, {"role": "assistant", "content": [{"text": "R-1 is released'
    session.user("Condense this:\n" + told).model("R-1 is released.").model("", ("release", {"no": "R-2"})).gives("released")
    assert session.model("R-2 is released.").findings(ANALYSIS) == []

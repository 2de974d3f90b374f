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


# -- whose it is, by way of another thing ------------------------------------------------------------------------------------------

GUESTS = [{"gast": "G-31", "name": "Ilse Brandt", "zimmer": "204"}, {"gast": "G-13", "name": "Ivo Brandl", "zimmer": "402"}]
STAYS = {"G-31": {"aufenthalt": "7-2201", "art": "Suite Seeblick"}, "G-13": {"aufenthalt": "7-2210", "art": "Einzelzimmer"}}
ASKED = "Guten Tag, Ilse Brandt hier. Ich muss meine Suite leider stornieren."


def hotel(kind: str, stay: str, answer: str, *, request: str = ASKED, told: object = None) -> Session:
    session = Session(kind, declared={"stornieren": "external"}).user(request).model("", ("gaeste", {"name": "Brand"})).gives(GUESTS)
    session.model("", ("aufenthalte", {"gast": "G-31"}), ("aufenthalte", {"gast": "G-13"})).gives([STAYS["G-31"]], [STAYS["G-13"]])
    session.model("", ("stornieren", {"aufenthalt": stay})).gives({"ok": True} if told is None else told)
    return session.model(answer)


@pytest.mark.parametrize("kind", KINDS)
def test_the_thing_of_another_one_who_is_tied_to_it_by_another_result(kind: str) -> None:
    session = hotel(kind, "7-2210", "Frau Brandt, Ihre Suite ist storniert.")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("tool", session.event("stornieren"))
    assert "7-2201" in found.statement
    told = hotel(kind, "7-2210", "Erledigt.", told={"storniert": "7-2210", "gast": "Ivo Brandl"})
    assert [one.first_event for one in told.findings(ANALYSIS)] == [told.event("stornieren")]


NESTED = {"tenants": [{"tenant": "Ruth Kovac", "units": [{"valve": "V-77"}]}, {"tenant": "Rita Kovic", "units": [{"valve": "V-71"}]}]}


@pytest.mark.parametrize("kind", KINDS)
def test_the_thing_within_the_record_of_another_one(kind: str) -> None:
    session = Session(kind).user("Water leaks at Ruth Kovac's, shut her valve.").model("", ("valves", {"house": "Elm 4"})).gives(NESTED)
    session.model("", ("close_valve", {"valve": "V-71"})).gives({"closed": True}).model("The valve of Ruth Kovac is shut.")
    (found,) = session.findings(ANALYSIS)
    assert "v-77" in found.statement


def test_one_of_two_things_of_whom_it_was_asked_for() -> None:
    session = Session("responses").user("Ilse Brandt hier, bitte stornieren.").model("", ("gaeste", {"name": "Brand"})).gives(GUESTS)
    session.model("", ("aufenthalte", {"gast": "G-31"}), ("aufenthalte", {"gast": "G-13"}))
    session.gives([{"aufenthalt": "7-2201"}, {"aufenthalt": "7-2204"}], [{"aufenthalt": "7-2210"}])
    session.model("", ("buchung_stornieren", {"aufenthalt": "7-2210"})).gives({"ok": True}).model("Storniert, Frau Brandt.")
    (found,) = session.findings(ANALYSIS)
    assert "brandt" in found.statement


def test_two_that_are_asked_about_and_the_act_is_for_one() -> None:
    session = Session("openai").user("Nora Feld lost her badge, block it please. Did Emil Kranz get his B-90 back?")
    session.model("", ("badge", {"who": "Feld"}), ("badge", {"who": "Kranz"}))
    session.gives({"holder": "Nora Feld", "badge": "B-96"}, {"holder": "Emil Kranz", "badge": "B-99", "was": "B-90"})
    session.model("", ("block_badge", {"badge": "B-99"})).gives({"state": "blocked"})
    session.model("Mr Kranz has his badge back. B-99 was blocked for Ms Feld.")
    (found,) = session.findings(ANALYSIS)
    assert "b-96" in found.statement


@pytest.mark.parametrize(
    ("stay", "request_", "answer"),
    [
        ("7-2201", ASKED, "Frau Brandt, Ihre Suite ist storniert."),
        ("7-2210", ASKED + " Nein, die von Ivo Brandl bitte.", "Das Einzelzimmer von Ivo Brandl ist storniert."),
        ("7-2210", "Ilse Brandt hier, bitte 7-2210 stornieren.", "Frau Brandt, das ist storniert."),
        ("7-2210", "Hier Ilse Brandt. Bitte das Zimmer von meinem Kollegen stornieren.", "Das Zimmer von Ivo Brandl ist storniert."),
        ("7-2210", "Bitte alles stornieren, nur Ilse Brandt bleibt.", "Storniert; Ilse Brandt bleibt."),
        ("7-2210", "Bitte stornieren. Ilse Brandt nicht, sie kommt noch.", "Storniert; Frau Brandt kommt wie geplant."),
    ],
)
def test_the_thing_that_was_meant(stay: str, request_: str, answer: str) -> None:
    assert hotel("anthropic", stay, answer, request=request_).findings(ANALYSIS) == []


def test_a_thing_that_was_found_by_the_name() -> None:
    session = Session("openai").user("Ann Lee here, please refund my last order.").model("", ("recent_orders", {"day": "today"}))
    session.gives([{"order": "7-1001", "customer": "Ann Lee"}, {"order": "7-1003", "customer": "Bob Ray"}])
    session.model("", ("search_orders", {"customer": "Ann Lee"})).gives([{"order": "7-1009", "item": "mug"}])
    session.model("", ("refund_order", {"order": "7-1009"})).gives("ok").model("Refunded, Ms Lee.")
    assert session.findings(ANALYSIS) == []


def test_one_who_takes_over_from_the_one_that_is_named() -> None:
    session = Session("responses").user("Bob is ill, find somebody for his shift.").model("", ("shifts", {"day": "today"}))
    session.gives([{"shift": "S-11", "staff": "E-21", "name": "Bob"}, {"shift": "S-14", "staff": "E-25", "name": "Eve"}])
    session.model("", ("assign_shift", {"shift": "S-11", "staff": "E-25"})).gives("ok").model("Bob's shift is covered.")
    assert session.findings(ANALYSIS) == []


ITEMS = [{"number": f"R-10{place}", "creditor": name} for place, name in enumerate(("Oltmann", "Kessler", "Papierhof"), 1)]


@pytest.mark.parametrize(
    "request_", ["Release all open items. Kessler stays unpaid.", "Start with the first item. Not Kessler, they wait."]
)
def test_all_but_the_one_that_is_named(request_: str) -> None:
    session = Session("openai").user(request_).model("", ("open_items", {"page": 1})).gives(ITEMS)
    session.model("", ("pay_item", {"number": "R-101"})).gives("released").model("The first is paid.")
    assert session.findings(ANALYSIS) == []


def test_several_and_not_the_one_that_is_named() -> None:
    session = Session("openai").user("Pay what is open. Kessler has to wait.").model("", ("open_items", {"page": 1})).gives(ITEMS)
    session.model("", ("pay_item", {"number": "R-101"}), ("pay_item", {"number": "R-103"})).gives("released", "released").model("Paid.")
    assert session.findings(ANALYSIS) == []


FLEET = {
    "in lists": [{"driver": "Olga Petrov", "trucks": ["T-4402", "T-4407"]}, {"driver": "Oleg Petrov", "trucks": ["T-4420"]}],
    "by their numbers": {"T-4402": {"driver": "Olga Petrov"}, "T-4420": {"driver": "Oleg Petrov"}},
    "in lines": "- T-4402 driven by Olga Petrov\n- T-4420 driven by Oleg Petrov\n",
    "in a table": "truck | driver\nT-4402 | Olga Petrov\nT-4420 | Oleg Petrov\n",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", FLEET)
def test_things_in_lists_and_lines(kind: str, how: str) -> None:
    def stopped(truck: str, answer: str = "Olga's truck has been stopped.") -> list[object]:
        session = Session(kind).user("Olga reports smoke, stop her truck.").model("", ("list_trucks", {})).gives(FLEET[how])
        return list(session.model("", ("stop_truck", {"truck": truck})).gives("ok").model(answer).findings(ANALYSIS))

    (found,) = stopped("T-4420")
    assert "t-4402" in found.statement  # type: ignore[attr-defined]
    assert stopped("T-4402") == []
    assert stopped("T-4420", "Oleg's truck has been stopped, he is the nearest.") == []

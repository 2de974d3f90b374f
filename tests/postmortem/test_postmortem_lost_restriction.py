"""Exceptions and wishes that were lost with the history, in any language, and broken by what was chosen; and those that were kept, or met."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.lost_history import ANALYSIS
from tachograph.postmortem.analyses.lost_restriction import clauses

ROOMS = [
    {"room": "ZA-4", "guest": "Lindqvist", "floor": 2},
    {"room": "ZB-7", "guest": "Okafor", "floor": 3},
    {"room": "ZC-9", "guest": "Marchetti", "floor": 3},
]
SHORT = "Rooms ZA-4 (Lindqvist), ZB-7 (Okafor) and ZC-9 (Marchetti) are to be checked out; nothing has been done so far with any of them. Go on."


def checked_out(
    kind: str, user: str, *rooms: str, short: str = SHORT, then: str | None = None, system: str = "You work at the desk of a hotel."
) -> Session:
    session = Session(kind, system=system, declared={"rooms": "read", "check_out": "external"})
    session.user(user).model("", ("rooms", {"day": "today"})).gives(ROOMS).model("There are three.")
    history = list(session.history)
    session.history, before = [], session.system
    session.system = "You sum up."
    session.user("Sum up: " + str(history)).model(short)
    session.history, session.system = [], before
    session.user("Where we are:\n" + short)
    if then is not None:
        session.user(then)
    session.model("", *(("check_out", {"room": room}) for room in rooms)).gives(*["ok"] * len(rooms))
    return session.model("Done.")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "user",
    [
        "Check out all rooms, except that Okafor stays.",
        "Bitte alle Zimmer auschecken, nur Okafor nicht.",
        "Faites le départ de toutes les chambres sauf Okafor.",
        "Da salida a todas las habitaciones, menos la de Okafor.",
        "Check out all rooms. Okafor stays until I have spoken to her.",
    ],
)
def test_a_summary_without_the_exception(kind: str, user: str) -> None:
    session = checked_out(kind, user, "ZA-4", "ZB-7", "ZC-9")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("context", session.call(4))
    assert "Okafor" in found.statement
    assert found.evidence[-1].event_id == session.event("check_out", 1)


def test_another_agent_goes_on_with_what_was_summed_up() -> None:
    session = checked_out("anthropic", "Check out all rooms but leave Okafor alone.", "ZB-7", system="You are the night desk.")
    session.system = "You sum up."
    assert [one.first_event for one in session.findings(ANALYSIS)] == [session.call(4)]


@pytest.mark.parametrize(
    ("user", "rooms", "short", "then"),
    [
        ("Check out all rooms, except that Okafor stays.", ("ZA-4", "ZC-9"), SHORT, None),  # lost, and not broken
        ("Check out all rooms, except that Okafor stays.", ("ZA-4", "ZB-7"), SHORT + " Not Okafor.", None),  # kept: the model broke it by itself
        ("Check out all rooms, except that Okafor stays.", ("ZA-4", "ZB-7"), SHORT, "Okafor can go by now as well."),
        ("Check out all rooms, Okafor first.", ("ZA-4", "ZB-7"), SHORT, None),
        ("Check out all rooms. Okafor has not paid the bar yet, so look at that.", ("ZB-7",), SHORT, None),
        ("Check out all rooms. Do not phone Okafor.", ("ZB-7",), SHORT, None),  # another kind of doing
    ],
)  # fmt: skip
def test_what_was_kept_or_allowed_or_is_no_exception(user: str, rooms: tuple[str, ...], short: str, then: str | None) -> None:
    assert checked_out("openai", user, *rooms, short=short, then=then).findings(ANALYSIS) == []


CARS = [{"car": "K-11", "seats": 5, "drive": "electric", "day": 48}, {"car": "K-19", "seats": 5, "drive": "diesel", "day": 39}]


def window(
    kind: str, first: str, car: str, later: str = "Now the cheapest car, please book it.", cars: list[dict[str, Any]] = CARS
) -> Session:
    session = Session(kind, system="You rent out cars.", declared={"cars": "read", "book_car": "external"})
    session.user(first).model("What dates?")
    for number in range(4):
        session.user(f"And what about day {number}?").model("That is possible.")
    session.history = session.history[-4:]
    session.user(later).model("", ("cars", {"from": "2026-12-01"})).gives(cars).model("", ("book_car", {"car": car})).gives("ok")
    return session.model("It is booked.")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "first",
    [
        "Only electric cars for us.",
        "Für uns nur electric.",
        "No diesel please, we need a car.",
        "Pas de diesel, s'il vous plaît.",
        "Bitte nichts mit Diesel.",
    ],
)
def test_a_wish_that_slid_out_of_the_window(kind: str, first: str) -> None:
    session = window(kind, first, "K-19")
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("context", session.call(6))
    assert "K-19" in found.statement


@pytest.mark.parametrize(
    ("first", "car", "later"),
    [
        ("Only electric cars for us.", "K-11", "Now the cheapest car, please book it."),
        ("Only electric cars for us.", "K-19", "A diesel will do, we changed our minds about electric. Book it."),
        ("We like electric cars.", "K-19", "Now the cheapest car, please book it."),
        ("No day above 40 please.", "K-19", "Now the cheapest car, please book it."),
    ],
)
def test_a_wish_that_was_met_or_taken_back(first: str, car: str, later: str) -> None:
    assert window("responses", first, car, later).findings(ANALYSIS) == []


def test_clauses_that_tell_of_what_was_are_left_out() -> None:
    assert clauses("Kessler has not been paid yet. Nicht vor der Prüfung, wenn Kessler anruft.") == ()
    (one,) = clauses("Kessler Bau stays unpaid, their defects are still with our lawyers and have been for weeks.")
    assert "kessler" in one.words
    assert not one.only


def test_a_thing_that_was_to_wait_and_was_looked_at_in_between() -> None:
    session = Session(
        "openai", system="You work at the desk of a hotel.", declared={"rooms": "read", "bill": "read", "check_out": "external"}
    )
    session.user("Check out all rooms. Okafor not before her bill is paid.").model("", ("rooms", {"day": "today"})).gives(ROOMS).model(
        "There are three."
    )
    for number in range(3):
        session.user(f"And line {number}?").model("Noted.")
    session.history = session.history[-4:]
    session.user("Go on with the rooms.").model("", ("rooms", {"day": "today"}), ("bill", {"room": "ZB-7"})).gives(
        ROOMS, {"room": "ZB-7", "open": 0}
    )
    session.model("", ("check_out", {"room": "ZB-7"})).gives("ok").model("Done.")
    assert session.findings(ANALYSIS) == []


@pytest.mark.parametrize(
    "text",
    [
        "Keep a table with a sea view for us.", "We leave from Bilbao.", "Lass uns das Zimmer in Lissabon nehmen.", "Wir bleiben drei Nächte im Ribeira.",
        "Book a stay with breakfast, so that we are early.", "Im Mai nach Porto.", "Le reste pour Marchetti.",
    ],
)  # fmt: skip
def test_words_that_exclude_only_together(text: str) -> None:
    assert clauses(text) == ()


@pytest.mark.parametrize(
    "text", ["Leave Okafor out of it.", "Lass Okafor bitte weg.", "Okafor bleibt.", "Deja a Okafor fuera.", "Okafor stays as she is."]
)
def test_words_that_exclude_together(text: str) -> None:
    assert any("okafor" in one.words for one in clauses(text))


TALLY = "All five flats of the house were looked at: 1 owes 640, 2 owes 310, 3 owes 905, 4 owes 120 and 5 owes 88. No letter was sent so far. Go on with it."


def letters(kind: str, user: str, flats: tuple[Any, ...], *, short: str = TALLY, then: str | None = None) -> Session:
    session = Session(kind, system="You look after flats.", declared={"account": "read", "send_letter": "external"}).user(user)
    for flat in range(1, 6):
        session.model("", ("account", {"unit": flat})).gives({"unit": flat, "owes": 100 * flat})
    history = list(session.history)
    session.history, before = [], session.system
    session.system = "Condense the transcript."
    session.user("<transcript>" + str(history) + "</transcript>").model(short)
    session.history, session.system = [], before
    session.user("So far:\n" + short)
    if then is not None:
        session.user(then)
    for flat in flats:
        session.model("", ("send_letter", {"unit": flat, "text": "You owe rent."})).gives("ok")
    return session.model("Done.")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "user",
    [
        "Write to everyone who owes rent in flats 1 to 5. Leave flat 2 out whatever its account says, we have agreed on instalments.",
        "Go through the five flats and write to those who owe. Never send a letter to flat 2.",
        "Bitte alle fünf mahnen. Wohnung 2 und 9 bitte auslassen.",
        "Écrivez à tous ceux qui doivent, sauf au logement 2.",
        "Escribe a todos los que deben, excepto al piso 2.",
        "Scrivi a tutti, tranne agli appartamenti 2 e 8.",
    ],
)
def test_a_number_that_was_to_be_left_out(kind: str, user: str) -> None:
    session = letters(kind, user, (1, 2, 3))
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("context", session.call(7))
    assert found.evidence[-1].event_id == session.event("send_letter", 1)


@pytest.mark.parametrize(
    ("user", "flats", "more"),
    [
        ("Write to all, but leave flat 2 out.", (1, 3), {}),
        ("Write to all, but leave flat 2 out.", (1, 2), {"then": "Flat 2 may be written to as well now."}),
        ("Write to all, but leave flat 2 out.", (1, 2), {"short": TALLY.replace("2 owes 310", "2 is excluded (instalments)")}),
        ("Never send a letter of more than 2 pages, please.", (1, 2), {}),
        ("Never call flat 2, send them a letter.", (2,), {}),
        ("Bitte alle mahnen, Wohnung 2 bitte nicht vergessen.", (1, 2), {}),
        ("Écrivez à tous, n'oubliez pas le logement 2.", (1, 2), {}),
        ("Write to all five. Flat 2 has not paid since May.", (1, 2), {}),
    ],
)
def test_a_number_that_was_kept_out_or_allowed(user: str, flats: tuple[int, ...], more: dict[str, Any]) -> None:
    assert letters("openai", user, flats, **more).findings(ANALYSIS) == []

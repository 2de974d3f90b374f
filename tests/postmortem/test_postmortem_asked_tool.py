"""The tool that a request asks for by its name and that was not called; and reasons for which another one was."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import Call, Turn, tool
from scenes import session as scene
from telling_tapes import Session

from tachograph.postmortem.analyses.asked_tool import is_form
from tachograph.postmortem.analyses.contract import Finding
from tachograph.postmortem.analyses.wrong_argument import ANALYSIS
from tachograph.postmortem.case import open_case


def wrong(session: Session) -> list[Finding]:
    return [one for one in session.findings(ANALYSIS) if "request asks for what" in one.statement]


def acted(
    asked: str, meant: str, called: str, *, kind: str = "openai", system: str = "", told: str = "Done.", read: Any = None, given: Any = None
) -> Session:
    session = Session(kind, system=system, declared={called: "external"})
    session.tools = [meant, called]
    session.user(asked)
    if read is not None:
        session.model("", ("get_item", {"id": "C-88"})).gives(read)
    return session.model("", (called, given or {"id": "C-88"})).gives({"ok": True}).model(told)


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
@pytest.mark.parametrize(
    ("asked", "meant", "called"),
    [
        ("Please snooze alarm C-88.", "snooze_alarm", "clear_alarm"),
        ("Could you mothball the turbine C-88 until May?", "mothball_turbine", "scrap_turbine"),
        ("Wir warten auf Teile. Pausiere den Auftrag C-88.", "auftrag_pausieren", "auftrag_beenden"),
        ("Suspends le contrat C-88, s'il te plaît.", "suspendre_contrat", "resilier_contrat"),
        ("Congele la cuenta C-88 hasta el lunes.", "congelar_cuenta", "cerrar_cuenta"),
        ("Sospendi l'abbonamento C-88.", "sospendi_abbonamento", "termina_abbonamento"),
    ],
)  # fmt: skip
def test_the_request_orders_what_another_tool_is_for(kind: str, asked: str, meant: str, called: str) -> None:
    session = acted(asked, meant, called, kind=kind)
    (found,) = wrong(session)
    assert (found.cause, found.first_event) == ("tool", session.event(called))
    assert meant in found.statement


@pytest.mark.parametrize(
    "session",
    [
        acted("The snooze of alarm C-88 is over, silence it.", "snooze_alarm", "clear_alarm"),  # a noun
        acted("Alarm C-88 was snoozed twice; get rid of it.", "snooze_alarm", "clear_alarm"),  # done before
        acted("Snooze alarm C-88, or clear it.", "snooze_alarm", "clear_alarm"),  # either
        acted("If alarm C-88 is old, don't snooze it. Wipe it.", "snooze_alarm", "clear_alarm"),
        acted("Snooze alarm C-88.", "snooze_alarm", "clear_alarm", system="An alarm of class 3 we never snooze; they are cleared."),
        acted("Snooze alarm C-88.", "snooze_alarm", "clear_alarm", read={"id": "C-88", "can_snooze": False}),
        acted("Snooze alarm C-88.", "snooze_alarm", "clear_alarm", told="C-88 could not be snoozed, so I cleared it."),
        acted("Snooze alarm C-88. And C-90 is to go.", "snooze_alarm", "clear_alarm", given={"id": "C-90"}),
        acted("Book room C-88.", "book_room", "reserve_room", told="C-88 is reserved; you can book it from Monday on."),
        acted("Approve claim C-88 if it is complete.", "approve_claim", "reject_claim"),
        acted("Check C-88 and drop it when it is old.", "check_alarm", "clear_alarm"),  # a look-up
        acted("Snooze C-88.", "snooze", "clear"),  # nothing says that the two are of one kind
    ],
)  # fmt: skip
def test_another_one_was_called_with_reason(session: Session) -> None:
    assert wrong(session) == []


def test_the_one_that_was_asked_for_was_called_as_well() -> None:
    session = (
        Session("anthropic")
        .user("Move meeting C-88 to Friday.")
        .model("", ("move_meeting", {"id": "C-88", "day": "Friday"}))
        .gives("room is taken", failed=True)
    )
    session.model("", ("cancel_meeting", {"id": "C-88"})).gives({"ok": True})
    assert wrong(session.model("C-88 could not be moved.")) == []


def test_a_step_of_what_was_asked_for() -> None:
    session = Session("anthropic", declared={"undock_patient": "external", "dock_patient": "external"})
    session.tools = ["transplant_patient", "undock_patient", "dock_patient"]
    session.user("Transplant patient C-88 to bay 4.").model("", ("undock_patient", {"id": "C-88"})).gives({"ok": True})
    session.model("", ("dock_patient", {"id": "C-88", "bay": 4})).gives({"ok": True})
    assert wrong(session.model("C-88 is in bay 4.")) == []


def test_the_person_was_asked_first() -> None:
    session = Session("anthropic")
    session.tools = ["snooze_alarm", "clear_alarm"]
    session.user("Snooze alarm C-88.").model("Class 3 has no snooze. Shall I clear it?").user("Yes, go on.")
    session.model("", ("clear_alarm", {"id": "C-88"})).gives({"ok": True})
    assert wrong(session.model("C-88 is cleared.")) == []


@pytest.mark.parametrize(
    ("word", "of", "same"),
    [
        ("pause", "pause", True), ("archivez", "archiver", True), ("Pausiere", "pausieren", True), ("paused", "pause", False), ("archivé", "archiver", False),
        ("holding", "hold", False), ("house", "hold", False), ("feed", "feed", True), ("congelado", "congelar", False),
    ],
)  # fmt: skip
def test_forms_that_order_something(word: str, of: str, same: bool) -> None:
    assert is_form(word, of) is same


@pytest.mark.parametrize(
    ("asked", "meant", "called", "told"),
    [
        ("Snooze alarm C-88, I don't need it tonight.", "snooze_alarm", "clear_alarm", "Alarm C-88 is cleared for good; it was not snoozed."),
        ("Pausiere den Auftrag C-88, wir brauchen ihn gerade nicht.", "auftrag_pausieren", "auftrag_beenden", "C-88 ist beendet und wurde nicht pausiert."),
    ],
)  # fmt: skip
def test_a_reason_with_not_is_no_ban_and_owning_up_no_excuse(asked: str, meant: str, called: str, told: str) -> None:
    session = Session("anthropic", declared={called: "external"})
    session.tools = [meant, called]
    session.user(asked).model("", (called, {"lot": "C-88"})).gives({"ok": True}).model(told)
    assert len(wrong(session)) == 1


@pytest.mark.parametrize(
    "told",
    [
        "C-88 can't be snoozed, so I cleared it.",
        "Alarms of this kind are not snoozed here; snoozing is impossible for class 3.",
        "C-88 is cleared. Shall I not snooze it as well?",
    ],
)
def test_a_reason_that_is_told(told: str) -> None:
    assert wrong(acted("Snooze alarm C-88, I don't need it tonight.", "snooze_alarm", "clear_alarm", told=told)) == []


def test_a_clause_that_forbids_it() -> None:
    assert wrong(acted("Alarm C-88 is a nuisance, don't snooze alarm C-88, get rid of it.", "snooze_alarm", "clear_alarm")) == []


@pytest.mark.parametrize(
    ("asked", "meant", "called", "said"),
    [
        ("Range la liste de 2019 aux archives, on ne s'en sert plus.", "archiver", "purger", "La liste est purgée. Elle n'est donc pas aux archives."),
        ("Pausiere die Liste von 2019, sie wird gerade nicht gebraucht.", "pausieren", "verwerfen", "Die Liste ist verworfen."),
    ],
)  # fmt: skip
def test_names_that_are_the_deed_alone(asked: str, meant: str, called: str, said: str) -> None:
    tools = (tool(meant, liste={"type": "string"}), tool(called, liste={"type": "string"}))
    turns = [Turn(calls=(Call(name=called, given={"liste": "l-2019"}, declared="external"),)), Turn(say=said)]
    found = list(ANALYSIS.run(open_case(scene(*turns, user=asked, tools=tools))))
    assert [one for one in found if "request asks for what" in one.statement]

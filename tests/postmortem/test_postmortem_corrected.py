"""Values that a person replaces behind the effect and takes the blame for; a change of mind, a correction in time, and what was mended."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.contract import Finding
from tachograph.postmortem.analyses.corrected import blames
from tachograph.postmortem.analyses.damaged_input import ANALYSIS
from tachograph.postmortem.language.dates import days


def acted(first: str, given: dict[str, Any], then: str, *, kind: str = "openai", again: dict[str, Any] | None = None) -> Session:
    session = (
        Session(kind, declared={"act": "external"}).user(first).model("", ("act", given)).gives({"ok": True}).model("Done.").user(then)
    )
    if again is not None:
        session.model("", ("act", again)).gives({"ok": True})
    return session.model("It went out so. Shall I change it?")


def told(session: Session) -> Finding:
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("input", session.call(1))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("first", "given", "then", "wrong"),
    [
        ("Deliver 40 pallets to Ghent on 3 May 2026.", {"date": "2026-05-03", "pallets": 40}, "My fault: it should have been 5 May, not 3 May.", "3 May"),
        ("Stell den Container am 12. März 2026 ab.", {"tag": "2026-03-12"}, "Da habe ich mich verlesen, es ist der 21. März.", "12. März"),
        ("Réserve la salle le 4 juin à 14h30.", {"quand": "2026-06-04 14:30"}, "Erreur de ma part : à 15h30, pas 14h30.", "14h30"),
        ("Cita con Ruiz el 4 de junio.", {"dia": "2026-06-04"}, "Me equivoqué: es el 6, no el 4.", "4 de junio"),
        ("Spedisci a Rossini, via Po 3.", {"a": "Rossini"}, "Colpa mia: è Rossetti, non Rossini.", "Rossini"),
        ("Encomenda 300 sacos para a obra.", {"sacos": 300}, "Erro meu, são 350 sacos.", "300"),
        ("Zet de levering op 7-8-2026." .replace("7-8-2026", "2026-08-07"), {"datum": "2026-08-07"}, "Mijn fout, het is 2026-08-17.", "2026-08-07"),
        ("Ship it to dock DK-204.", {"dock": "DK-204"}, "I misread the sheet, it's DK-240.", "DK-204"),
        ("Pay the deposit into account NL88-4410.", {"account": "NL88-4410"}, "I'm afraid I gave you the wrong account.", "NL88-4410"),
        ("Drill at 4.2210, 51.0940.", {"at": "4.2210, 51.0940"}, "Ich habe die Koordinaten vertauscht.", "4.2210, 51.0940"),
        ("Oops-free: send it on Tuesday.", {"day": "Tuesday"}, "Sorry, Thursday, not Tuesday.", "Tuesday"),
    ],
)  # fmt: skip
def test_a_value_that_was_replaced_with_the_blame(kind: str, first: str, given: dict[str, Any], then: str, wrong: str) -> None:
    found = told(acted(first, given, then, kind=kind))
    assert f"({wrong})" in found.statement


FIRST, GIVEN = "Deliver 40 pallets to Ghent on 3 May 2026.", {"date": "2026-05-03", "pallets": 40}


@pytest.mark.parametrize(
    ("then", "again"),
    [
        ("Actually 5 May would be better, the dock is closed on the 3rd.", None),
        ("Sorry, can we make it 5 May, not 3 May? The dock is closed now.", None),
        ("Could you move it to 5 May instead of 3 May?", None),
        ("My mistake, it should have been 5 May, not 3 May.", {"date": "2026-05-05", "pallets": 40}),  # mended
        ("My mistake, I forgot to say that Ann has to sign as well, by 9 May.", None),
        ("You made a mistake with the invoice: it has 45 crates.", None),
        ("My bad, I was late today.", None),
        ("My mistake, thanks! Next, book the train for 12 August.", None),
        ("Thanks! On 5 May we meet Ann, not on 6 May.", None),
    ],
)  # fmt: skip
def test_a_change_of_mind_or_nothing_to_do_with_it(then: str, again: dict[str, Any] | None) -> None:
    assert acted(FIRST, GIVEN, then, again=again).findings(ANALYSIS) == []


def test_the_person_wants_two_values_changed_over() -> None:
    session = acted("Drill at 4.2210, 51.0940.", {"at": "4.2210, 51.0940"}, "Could I have the two switched on the plan?")
    assert session.findings(ANALYSIS) == []


def test_the_person_corrects_before_anything_was_done() -> None:
    session = Session("openai", declared={"act": "external"}).user(FIRST).model("Shall I?").user("My mistake: 5 May, not 3 May. Go on.")
    session.model("", ("act", {"date": "2026-05-05", "pallets": 40})).gives({"ok": True})
    assert session.model("Done for 5 May.").findings(ANALYSIS) == []


def test_the_model_took_another_day_than_the_person_gave() -> None:
    session = acted(FIRST, {"date": "2026-05-13", "pallets": 40}, "Wrong date: it should have been 3 May, not 13 May.")
    assert session.findings(ANALYSIS) == []


# -- what the effect's own answer tells --------------------------------------------------------------------------------------------


def bored(result: Any, last: str, *, first: str = "Drill here:\nW1;4.2210;51.0940\nW2;4.2250;51.0950") -> Session:
    session = Session("anthropic", declared={"drill": "external"}).user(first)
    return session.model("", ("drill", {"points": "4.2210,51.0940 4.2250,51.0950"})).gives(result).model(last)


def test_the_answer_has_the_figures_the_other_way_round() -> None:
    session = bored({"job": "J-77", "status": "aborted", "reason": "rig at 51.09 N, 4.22 E is 6000 km off"}, "J-77 was aborted.")
    assert "4.221, 51.094" in told(session).statement


def test_the_model_finds_the_fault_in_what_the_person_gave() -> None:
    session = (
        Session("openai", declared={"pay": "external"}).user("Pay 40 to NL88-4410.").model("", ("pay", {"to": "NL88-4410", "eur": 40}))
    )
    session.gives({"payment": "P-9981", "status": "returned"})
    told(session.model("P-9981 came back: the number NL88-4410 that you gave me is wrong, there is no such account."))


@pytest.mark.parametrize(
    "session",
    [
        bored({"job": "J-77", "status": "running", "start": "4.2210, 51.0940"}, "J-77 runs."),
        bored({"status": "rejected", "reason": "51.09 N, 4.22 E is our site"}, "Rejected: your points look swapped."),  # nothing came of it
        bored({"job": "J-77", "status": "aborted", "reason": "storm"}, "J-77 was aborted because of a storm."),
        bored({"job": "J-77", "status": "aborted", "reason": "51.09, 4.22"}, "J-77 was aborted.", first="Drill the two wells."),
    ],
)  # fmt: skip
def test_nothing_wrong_with_what_the_person_gave(session: Session) -> None:
    assert session.findings(ANALYSIS) == []


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Mea culpa.", True), ("c'est moi qui me suis trompée", True), ("Mi sono sbagliata", True), ("Dat is mijn fout", True), ("Foi erro meu", True),
        ("You made a mistake.", False), ("The supplier is wrong.", False), ("Das ist falsch.", False), ("I changed my mind.", False),
    ],
)  # fmt: skip
def test_who_takes_the_blame(text: str, own: bool) -> None:
    assert blames(text) is own


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("le 7 juillet, pas le 9", [(7, 7), (0, 9)]), ("am 9. März 2026", [(3, 9)]), ("July 9th and 2026-08-01", [(7, 9), (8, 1)]),
        ("10.5 kg at 8:04, le 10 euros, version 1.2", []), ("3 out of 5 set", []),
    ],
)  # fmt: skip
def test_days_in_texts(text: str, expected: list[tuple[int, int]]) -> None:
    assert [min(day.of) for day in days(text)] == expected

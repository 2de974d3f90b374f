"""What a person had said is not to be done, gone with a window or left out of a note, and done; and what was lost without harm."""

from __future__ import annotations

from typing import Any

import pytest
from telling_tapes import KINDS, Session

from tachograph.postmortem.analyses.lost_history import ANALYSIS


def window(kind: str, user: str, *turns: tuple[str, dict[str, Any], Any], keep: int = 4, declared: dict[str, str] | None = None) -> Session:
    """An agent that sends its latest messages only: each turn is a call with what it gives."""
    session = Session(kind, system="You do what is next in the book.", declared=declared).user(user)
    whole: list[Any] = list(session.history)
    for name, given, result in turns:
        session.model("", (name, given)).gives(result)
        whole += session.history[-2:]
        session.history = whole[-keep:]
    return session.model("Done.")


def hall(user: str, slot: str, kind: str = "openai") -> Session:
    days = [("2026-06-01", "mo-1"), ("2026-06-02", "di-1"), ("2026-06-04", "do-1")]
    turns: list[tuple[str, dict[str, Any], Any]] = [("free_days", {}, {"free": [day for day, _ in days]})]
    turns += [("reserve", {"club": "Chess", "day": "2026-06-01"}, "ok"), ("reserve", {"club": "Choir", "day": "2026-06-02"}, "ok")]
    return window(kind, user, *turns, ("reserve", {"club": "Judo", "day": slot}, "ok"))


@pytest.mark.parametrize("kind", ["openai", "anthropic", "bedrock"])
@pytest.mark.parametrize(
    "user",
    [
        "Give each club the next free day. The hall stays empty on Thursday.",
        "Gib jedem Verein den nächsten freien Tag. Am Donnerstag bleibt die Halle leer.",
        "Donnez à chaque club le prochain jour. Le jeudi, la salle reste fermée, jeudi on ne réserve rien.",
    ],
)
def test_a_day_that_was_to_be_kept_free_told_by_its_date(kind: str, user: str) -> None:
    session = hall(user, "2026-06-04", kind)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("context", session.call(3))
    assert found.evidence[-1].event_id == session.event("reserve", 2)


def test_another_day_than_that() -> None:
    assert hall("Give each club the next free day. The hall stays empty on Thursday.", "2026-06-05").findings(ANALYSIS) == []


def shops(user: str, *, named: bool = True) -> Session:
    listing = {"shops": [{"city": "mad" if named else "x", "ids": ["mad-01"]}, {"city": "lis" if named else "y", "ids": ["lis-02"]}]}
    return window(
        "openai", user, ("shops", {}, listing), ("close_till", {"shop": "mad-01"}, "closed"), ("next", {}, {"shop": "lis-02"}), ("close_till", {"shop": "lis-02"}, "closed"),
    )  # fmt: skip


@pytest.mark.parametrize(
    "user", ["Close the tills, one shop after the other. Skip Lisbon.", "Cierra las cajas una tras otra, menos Lisbon."]
)
def test_a_thing_that_was_left_out_told_by_the_beginning_of_its_name(user: str) -> None:
    (found,) = shops(user).findings(ANALYSIS)
    assert "lis-02" in found.statement


def test_three_letters_that_stand_for_nothing() -> None:
    assert shops("Close the tills, one shop after the other. Skip listed buildings.", named=False).findings(ANALYSIS) == []


def test_names_that_all_begin_alike() -> None:
    session = window(
        "openai", "Extend the contracts one after the other, but no contracts of Meyer.", ("next", {}, {"contract": "contract-11"}),
        ("extend", {"contract": "contract-11"}, "ok"), ("next", {}, {"contract": "contract-12"}), ("extend", {"contract": "contract-12"}, "ok"),
    )  # fmt: skip
    assert session.findings(ANALYSIS) == []


LOTS = "Release the lots as they come. Not L-204, it is held until the inspector has signed."


def lots(user: str, *more: tuple[str, dict[str, Any], Any], kind: str = "openai") -> Session:
    return window(
        kind, user, ("next_lot", {}, {"lot": "L-201"}), ("release_lot", {"lot": "L-201"}, "released"), ("next_lot", {}, {"lot": "L-204"}),
        *more, ("release_lot", {"lot": "L-204"}, "released"),
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["openai", "anthropic", "bedrock"])
@pytest.mark.parametrize(
    "user",
    [LOTS, "Libérez les lots un par un. Pas L-204, il est bloqué jusqu'à la signature de l'inspecteur.", "Gib die Chargen frei. Nicht L-204, die ist gesperrt, bis der Prüfer unterschrieben hat."],
)  # fmt: skip
def test_one_that_was_held_until_something_is(kind: str, user: str) -> None:
    session = lots(user, kind=kind)
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.call(3)
    assert "L-204" in found.statement


def test_one_that_was_held_until_what_has_come() -> None:
    assert lots(LOTS, ("journal", {"of": "L-204"}, "The inspector has signed for it.")).findings(ANALYSIS) == []


NOTE = "Note for the workshop. Car HB-71, owner Castellani. Wish: service and new tyres. A friendly customer of many years."


class Described(Session):
    """``does``: what the definition of each tool says."""

    does = ""

    def _anthropic(self, text: str, calls: list[Any]) -> tuple[Any, Any, list[Any]]:
        request, output, echo = super()._anthropic(text, calls)
        return {**request, "tools": [{**tool, "description": self.does} for tool in request["tools"]]}, output, echo


BILLED = {"done": True, "billed_eur": 610.0}


def note(
    user: str, handed: str, *, kind: str = "anthropic", then: str | None = None, result: Any = BILLED, does: str = "Do the work on a car."
) -> Session:
    session = Described(kind, system="You are at the counter. Write a note for the workshop.", declared={"do_work": "external"})
    session.user(user)
    if then is not None:
        session.model("I see to it that you hear of it in time.").user(then)
    session.model(handed)
    session.history, session.system, session.does = [], "You are the workshop. Do what the note says.", does
    session.user(handed).model("", ("do_work", {"car": "HB-71", "what": "service, tyres"})).gives(result)
    return session.model("The work is done.")


BAN = "Castellani here, car HB-71. Service and new tyres, please. Do not bill anything before the end of the month."


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "user", [BAN, "Castellani, HB-71. Service and tyres. Please bill nothing before 30 April, the account is empty.", "Castellani, HB-71: service and tyres. No bills before May, please."]
)  # fmt: skip
def test_a_note_that_leaves_out_what_is_not_to_be_done(kind: str, user: str) -> None:
    session = note(user, NOTE, kind=kind)
    (found,) = session.findings(ANALYSIS)
    assert (found.cause, found.first_event) == ("context", session.call(2))
    assert found.evidence[-1].event_id == session.event("do_work")


def test_told_by_what_the_definition_says() -> None:
    found = note(BAN, NOTE, does="Do the work on a car and bill its owner.", result="booked").findings(ANALYSIS)
    assert len(found) == 1


@pytest.mark.parametrize(
    ("handed", "more"),
    [
        (NOTE + " Nothing is to be billed before the end of the month.", {}),
        (NOTE + " Bill at the end of the month.", {}),
        (NOTE, {"then": "I was paid today: go ahead, bill it at once."}),
        (NOTE, {"result": {"done": True, "billed_eur": 0}}),
    ],
)
def test_a_note_that_says_so_or_needs_not(handed: str, more: dict[str, Any]) -> None:
    assert note(BAN, handed, **more).findings(ANALYSIS) == []


def test_another_agent_that_is_told_by_a_tool() -> None:
    task = "Move Castellani's appointment to the next free morning."
    session = Session(
        "openai", system="You run the desk. Others do the work.", declared={"delegate": "read", "move_appointment": "external"}
    )
    session.user("Castellani cannot come tomorrow. Find another morning, but nothing on Friday.").model("", ("delegate", {"task": task}))
    session.history, session.system = [], "You keep the appointments."
    waiting, session._waiting = session._waiting, []
    session.user(task).model("", ("free", {"week": 23})).gives([{"slot": "wed-0800", "day": "wed"}, {"slot": "fri-0800", "day": "fri"}])
    session.model("", ("move_appointment", {"who": "Okafor", "slot": "wed-0800"})).gives("ok")
    session.model("", ("move_appointment", {"who": "Castellani", "slot": "fri-0800"})).gives("ok").model("Moved.")
    session._waiting = waiting
    (found,) = session.findings(ANALYSIS)
    assert found.first_event == session.call(2)
    assert "fri-0800" in found.statement


@pytest.mark.parametrize(
    "user",
    [
        "Go through the pages one by one. No changes needed on page 3.",
        "Go through the pages one by one. I did not change anything so far.",
        "Go through the pages one by one. Why don't you change the title?",
        "Go through the pages one by one. No change was made last week.",
    ],
)
def test_what_is_no_ban_of_what_was_done(user: str) -> None:
    session = window(
        "openai", user, ("next_page", {}, {"page": 7}), ("note", {"page": 7}, "noted"), ("next_page", {}, {"page": 8}),
        ("change_page", {"page": 8, "title": "Opening hours"}, {"changed": True}),
    )  # fmt: skip
    assert session.findings(ANALYSIS) == []

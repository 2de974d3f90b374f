"""What a session shows of itself having gone wrong, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest
from sample_recordings import Tape, coding_agent, on_call, parallel
from scenes import Call, Turn, session, tool

from tachograph.core import events
from tachograph.postmortem.case import open_case
from tachograph.postmortem.meaning.instructions import read
from tachograph.postmortem.meaning.symptoms import hard, symptoms

TOOLS = (tool("cancel_trip", "Cancel."), tool("refund", "Refund."))


def kinds(tape: Tape, *, links: tuple[str, ...] = ()) -> list[str]:
    return [one.kind for one in hard(open_case(tape, links=links))]


def trip(*turns: Turn, **more: Any) -> Tape:
    return session(*turns, **{"tools": TOOLS, "user": "My trip is off.", **more})


CANCEL = Turn(calls=(Call(name="cancel_trip", given={"trip": "T-9"}),))


def test_the_exit_code_a_check_and_an_incident_leave_no_doubt() -> None:
    assert kinds(trip(Turn(say="Sorry."), end={"exit_code": 2, "status": "error"})) == ["exit"]
    assert kinds(trip(Turn(say="Fine.")), links=("incident=INC-9", "pr=7")) == ["incident"]
    assert kinds(coding_agent()) == ["check"]
    assert kinds(on_call()) == ["exit"]
    assert kinds(parallel()) == []


def test_a_check_that_passed_in_the_end_is_none() -> None:
    tape = Tape()
    for code in (1, 0):
        tape.tick(10)
        tape.add(events.Process, program="pytest", exit_code=code, request={"shell": "pytest -q"}, output={"stdout": ""}, lane="main")
    assert not symptoms(open_case(tape))


def test_a_person_who_complains() -> None:
    assert kinds(trip(CANCEL, Turn(say="Cancelled."), Turn(user="That is wrong, I only asked for the price.", say="Sorry."))) == [
        "complaint"
    ]
    assert kinds(trip(CANCEL, Turn(say="Cancelled."), Turn(user="Thanks. What does the next one cost?", say="40."))) == []
    assert kinds(trip(Turn(say="Which one?"), user="You sent the wrong ticket.")) == []  # what it came with, not what came of it


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("Never cancel a trip.", ["forbidden"]), ("You must not cancel trips yourself.", ["forbidden"]), ("Never cancel a hotel.", []),
        ("Never cancel a trip without asking.", []), ("Cancel trips when asked.", []), ("Never refund a trip.", []),
    ],
)  # fmt: skip
def test_an_effect_that_the_prompt_forbids(system: str, expected: list[str]) -> None:
    assert kinds(trip(CANCEL, Turn(say="Cancelled."), system=system)) == expected


@pytest.mark.parametrize(("amount", "expected"), [(80, ["forbidden"]), (50, []), (20, [])])
@pytest.mark.parametrize("system", ["Never refund more than 50 euros.", "Refunds of at most 50 euros are fine."])
def test_an_amount_above_what_the_prompt_names(system: str, amount: int, expected: list[str]) -> None:
    assert (
        kinds(trip(Turn(calls=(Call(name="refund", given={"trip": "T-9", "amount": amount}),)), Turn(say="Done."), system=system))
        == expected
    )


def test_what_happens_in_good_sessions_too_is_no_proof() -> None:
    def verdict(tape: Tape) -> None:
        tape.add(events.Guardrail, guardrail_id="g", action="BLOCKED", lane="main")

    failed = Turn(calls=(Call(name="refund", given={"trip": "T-9"}, outcome="error", result="no such trip"),), before=(verdict,))
    case = open_case(trip(failed, Turn(say="It did not work.")))
    assert [one.kind for one in symptoms(case)] == ["guardrail", "failed"]
    assert not hard(case)


def test_a_sentence_is_read_by_its_words() -> None:
    one = read("Never transfer more than $1,500 without approval.")
    assert (one.tone, one.beyond, one.bound, one.verbs) == ("forbids", 1500.0, True, {"transfer"})
    assert read("You may give up to 20 percent.").at_most == 20.0
    assert read("Make sure to greet.").tone == "asks"
    assert read("The shop is in Graz.").tone == "tells"

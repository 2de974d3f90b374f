"""The same question, and another decision."""

from __future__ import annotations

from typing import Any

import pytest
from sample_recordings import Tape
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.core import events
from tachograph.postmortem.analyses import chance, changed
from tachograph.postmortem.case import open_case

TOOLS = (tool("triage", "Sort."), tool("discharge_patient", "Send home."), tool("admit_patient", "Keep."))
HOME, KEEP = (Call(name=name, given={"patient": "P-311"}) for name in ("discharge_patient", "admit_patient"))


def ward(call: Call, provider: str = "anthropic", **more: Any) -> Tape:
    return session(
        Turn(calls=(call,)),
        Turn(say="Done."),
        **{"tools": TOOLS, "user": "P-311 has a fever.", "system": "Decide.", "provider": provider, **more},
    )


def again(call: Call | None, number: int = 1, **origin: Any) -> Tape:
    """One answer of ``tacho reask``."""
    found = {"session_id": "ses_01K4V8Q2M6ZC3X7Y5T1R9W0B2D", "step": number, "changed": [], "by": "reask", **origin}
    return session(
        Turn(calls=(call,) if call else (), say="" if call else "I wait."),
        start={"forked_from": found},
        user="P-311 has a fever.",
        tools=TOOLS,
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_asked_again_it_decides_otherwise(provider: str) -> None:
    case = open_case(ward(HOME, provider), forks=[*(again(KEEP) for _ in range(8)), again(HOME), again(HOME)])
    (one,) = chance.run(case)
    assert (one.cause, one.first_event) == ("nondeterminism", "evt_0001")
    assert one.confidence > 0.8
    assert "decides otherwise in 8 of them" in one.statement


@pytest.mark.parametrize(
    "forks",
    [
        [again(HOME) for _ in range(9)] + [again(KEEP)], [again(KEEP, changed=["system"]) for _ in range(9)], [again(KEEP, session_id="ses_x") for _ in range(9)],
        [again(KEEP, number=7) for _ in range(9)], [],
    ],
)  # fmt: skip
def test_asked_again_it_decides_the_same_or_was_asked_something_else(forks: list[Tape]) -> None:
    assert not list(chance.run(open_case(ward(HOME), forks=forks)))


def test_what_nothing_follows_from_is_no_cause() -> None:
    look = Call(name="look_up", given={"patient": "P-311"})
    assert not list(chance.run(open_case(ward(look), forks=[again(Call(name="list_all", given={})) for _ in range(9)])))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_last_good_session_was_asked_the_very_same(provider: str) -> None:
    case = open_case(ward(HOME, provider), good=ward(KEEP, provider))
    (one,) = chance.run(case)
    assert (one.cause, one.first_event, one.confidence) == ("nondeterminism", "evt_0001", 0.9)
    assert not list(changed.run(case))


def test_another_question_or_another_model_is_no_chance() -> None:
    good = ward(KEEP)
    assert not list(chance.run(open_case(ward(HOME, system="Decide quickly."), good=good)))
    assert not list(chance.run(open_case(ward(HOME, served_model_id="other-1"), good=good)))
    assert not list(chance.run(open_case(ward(HOME, params={"temperature": 1}), good=good)))
    assert not list(chance.run(open_case(ward(HOME), good=ward(HOME))))


def test_another_order_of_looking_is_no_chance_that_matters() -> None:
    def look(*names: str) -> Tape:
        return session(
            *(Turn(calls=(Call(name=name, given={"patient": "P-311"}),)) for name in names),
            Turn(calls=(KEEP,)),
            Turn(say="Kept."),
            tools=TOOLS,
            user="P-311?",
        )

    assert not list(chance.run(open_case(look("get_chart", "list_labs"), good=look("list_labs", "get_chart"))))


def test_a_replay_that_departs_by_what_the_agent_drew() -> None:
    divergence = {"event_id": "evt_0001", "cause": "entropy", "path": "input.messages[0].content"}
    (one,) = chance.run(open_case(ward(HOME), replay={"verdict": "diverged", "divergence": divergence}))
    assert (one.cause, one.first_event) == ("nondeterminism", "evt_0001")
    for report in ({"verdict": "identical", "divergence": None}, {"verdict": "diverged", "divergence": {**divergence, "cause": "code"}}):
        assert not list(chance.run(open_case(ward(HOME), replay=report)))


def test_an_agent_that_draws_and_does_something_else_by_itself() -> None:
    def lottery(winner: str) -> Tape:
        tape = Tape()
        tape.add(events.SessionStart, recorder="tachograph 0.1.0", agent="lottery")
        tape.add(events.Message, content="Draw a winner.", lane="main")
        tape.add(
            events.Ambient,
            id="evt_drawn",
            kind="reads",
            size=1,
            content={"reads": [["main", "entropy", "agent.py:3", [7]]], "marks": []},
            lane="main",
        )
        tape.add(events.ToolCall, name="award_prize", source="declared", effect="external", input={"to": winner}, output="ok", lane="main")
        tape.add(events.SessionEnd, status="ok", exit_code=0)
        return tape

    assert not list(chance.run(open_case(lottery("ana"), good=lottery("ana"))))

"""Answers that name something as done with which nothing was done."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.postmortem.analyses import left_out
from tachograph.postmortem.case import open_case

TOOLS = (tool("list_permits", "All."), tool("renew_permit", "Renew one."))
LIST = Call(name="list_permits", given={}, result={"permits": ["PX-101", "PX-102", "PX-103", "PX-104"]})


def found(say: str, *renewed: str, **more: Any) -> list[Any]:
    calls = tuple(Call(name="renew_permit", given={"permit": one}) for one in renewed)
    tape = session(Turn(calls=(LIST,)), Turn(calls=calls), Turn(say=say), user="Renew all permits.", tools=TOOLS, **more)
    return list(left_out.run(open_case(tape)))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_one_of_a_list_that_no_call_ever_had(provider: str) -> None:
    (one,) = found("I renewed PX-101, PX-102, PX-103 and PX-104.", "PX-101", "PX-102", "PX-104", provider=provider)
    assert (one.cause, one.confidence) == ("claim", 0.8)
    assert "“px-103”" in one.statement
    assert one.first_event == one.evidence[0].event_id


@pytest.mark.parametrize(
    "say",
    [
        "I renewed PX-101, PX-102 and PX-104. PX-103 could not be renewed.",
        "I renewed PX-101, PX-102 and PX-104, but not PX-103.",
        "I renewed PX-101, PX-102 and PX-104; PX-103 is still open.",
        "Done.",
        "I renewed PX-101, PX-102 and PX-104 for the customer of order 88-103.",
    ],
)
def test_what_the_answer_says_is_left_is_told(say: str) -> None:
    assert not found(say, "PX-101", "PX-102", "PX-104")


def test_all_of_them_done_is_what_it_says() -> None:
    assert not found("I renewed PX-101, PX-102, PX-103 and PX-104.", "PX-101", "PX-102", "PX-103", "PX-104")

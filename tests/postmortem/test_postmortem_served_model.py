"""Answers of another model than was asked for."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.postmortem.analyses import served_model
from tachograph.postmortem.case import open_case

TOOLS = (tool("read_exam", "Read an exam."), tool("enter_mark", "Enter a mark."))
READ = Call(name="read_exam", given={"pupil": "Mina"}, result="17 of 20 right")
MARK = Call(name="enter_mark", given={"pupil": "Mina", "mark": 5})


def found(served: tuple[str, str, str], asked: str, provider: str = "chat", calls: tuple[Call, ...] = (MARK,), **more: Any) -> list[Any]:
    first, second, third = served
    tape = session(
        Turn(calls=(READ,), more={"served_model_id": first}), Turn(calls=calls, more={"served_model_id": second}),
        Turn(say="Done.", more={"served_model_id": third}), provider=provider, user="Mark Mina's exam.", tools=TOOLS, model_id=asked, **more,
    )  # fmt: skip
    return list(served_model.run(open_case(tape)))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_another_model_decided_what_was_done(provider: str) -> None:
    (one,) = found(("gpt-4.1-2025-04-14", "gpt-3.5-turbo-0125", "gpt-4.1-2025-04-14"), "gpt-4.1", provider)
    assert (one.cause, one.first_event, one.confidence) == ("model", "evt_0002", 0.65)
    assert "“gpt-4.1” was asked for and “gpt-3.5-turbo-0125” answered; other calls of the session had the model" in one.statement


def test_of_an_alias_only_where_it_has_another_model_at_other_times() -> None:
    assert not found(("gpt-4.1", "gpt-4.1", "gpt-4.1"), "prod-chat")
    assert not found(("gpt-3.5-turbo", "gpt-4.1", "gpt-4.1"), "prod-chat")
    (one,) = found(("claude-haiku-4-5", "claude-haiku-4-5", "claude-haiku-4-5"), "claude-opus-4-1")
    assert "other calls" not in one.statement


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("gpt-4.1", "gpt-4.1-2025-04-14"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "anthropic.claude-sonnet-4-20250514-v1:0"),
        ("gpt-4.1", None),
    ],
)
def test_a_release_or_a_route_is_the_same_model(asked: str, served: str) -> None:
    assert not found((served, served, served), asked)


def test_what_only_looks_decides_nothing() -> None:
    assert not found(("gpt-4.1", "gpt-3.5-turbo", "gpt-4.1"), "gpt-4.1", calls=(READ,))


def test_a_session_that_went_wrong_makes_it_surer() -> None:
    (one,) = found(("gpt-4.1", "gpt-3.5-turbo", "gpt-4.1"), "gpt-4.1", end={"status": "error", "exit_code": 1})
    assert one.confidence == 0.8

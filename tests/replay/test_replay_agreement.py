"""Decisions, intervals, and the verdict between chance and cause."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph import providers
from tachograph.replay import agreement
from tachograph.replay.agreement import Answer


def doing(*names: str, text: str = "") -> Answer:
    return Answer(actions=tuple((name, {"x": 1}) for name in names), text=text)


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    # Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_is_as_published(hits: int, of: int, low: float, high: float) -> None:
    assert agreement.wilson(hits, of) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 500), st.integers(1, 500))
def test_an_interval_holds_its_share_and_is_symmetric(hits: int, of: int) -> None:
    hits = min(hits, of)
    low, high = agreement.wilson(hits, of)
    assert 0 <= low <= hits / of <= high <= 1
    other = agreement.wilson(of - hits, of)
    assert math.isclose(low, 1 - other[1], abs_tol=1e-12)
    assert math.isclose(high, 1 - other[0], abs_tol=1e-12)


def test_nothing_is_known_of_nothing() -> None:
    assert agreement.wilson(0, 0) == (0.0, 1.0)
    assert agreement.compare(doing("a"), [])["verdict"] == "nothing"
    assert agreement.compare(doing("a"), [Answer(failed="no")])["verdict"] == "nothing"


@pytest.mark.parametrize(
    ("same", "other", "verdict"), [(10, 0, "cause"), (0, 10, "chance"), (6, 4, "open"), (2, 0, "open"), (9, 1, "cause"), (1, 9, "chance")]
)
def test_verdicts(same: int, other: int, verdict: str) -> None:
    found = agreement.compare(doing("a"), [doing("a")] * same + [doing("b")] * other)
    assert found["verdict"] == verdict
    assert found["actions"]["same"] == same


def test_actions_are_compared_with_their_arguments_and_texts_without_white_space() -> None:
    recorded = Answer(actions=(("look", {"a": 1, "b": 2}),), text="Let me  look.\n")
    asked = [
        Answer(actions=(("look", {"b": 2, "a": 1}),), text="Let me look."),
        Answer(actions=(("look", {"a": 1, "b": 3}),), text="Let me look there."),
        Answer(failed="Overloaded"),
    ]
    found = agreement.compare(recorded, asked)
    assert (found["asked"], found["answered"], found["failed"]) == (3, 2, ["Overloaded"])
    assert (found["actions"]["same"], found["text"]["same"]) == (1, 1)
    assert 0.5 < found["text"]["alike"] < 1
    assert [(one["count"], one["recorded"]) for one in found["decisions"]].count((1, True)) == 1
    assert {one["told"] for one in found["decisions"]} == {"look(b=2, a=1)", "look(a=1, b=3)"}


def test_no_tool_call_is_a_decision() -> None:
    found = agreement.compare(Answer(text="I stop."), [Answer(text="No."), doing("look")])
    assert found["actions"]["same"] == 1
    assert {one["told"] for one in found["decisions"]} == {"no tool call", "look(x=1)"}


def test_of_a_wire_answer() -> None:
    body = b'{"type":"message","role":"assistant","content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"t","name":"look","input":{"p":1}}]}'
    found = agreement.answer(
        providers.decode(providers.Exchange(method="POST", url="https://h/v1/messages", request={"messages": []}, status=200, answer=body))
    )
    assert found == Answer(actions=(("look", {"p": 1}),), text="Let me look.")
    refused = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
    found = agreement.answer(
        providers.decode(
            providers.Exchange(method="POST", url="https://h/v1/messages", request={"messages": []}, status=529, answer=refused)
        )
    )
    assert found.failed == "Overloaded"
    assert agreement.answer(None).failed

"""Answers that were cut: used as whole, or not."""

from __future__ import annotations

from typing import Any

import pytest
from sample_recordings import Tape
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.core import events
from tachograph.postmortem.analyses import truncated
from tachograph.postmortem.analyses.truncated import unfinished
from tachograph.postmortem.case import open_case

REASON = {"anthropic": "max_tokens", "chat": "length", "responses": "max_output_tokens", "converse": "max_tokens"}
CUT = "The lease ends on the last day of June. The tenant has to give notice in writing at least three"


def found(*turns: Turn, **more: Any) -> list[Any]:
    return list(truncated.run(open_case(session(*turns, **more))))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_cut_text_that_an_effect_is_given(provider: str) -> None:
    cut = Turn(say=CUT, finish=REASON[provider], after=(publish,))
    (one,) = found(cut, provider=provider, user="Sum the lease up.")
    assert (one.cause, one.first_event, one.confidence) == ("parameters", "evt_0001", 0.95)
    assert "was cut" in one.statement


def publish(tape: Tape) -> None:
    tape.add(
        events.Http, method="POST", host="cms.example", status=201, lane="main", duration_ms=5.0,
        request={"method": "POST", "url": "https://cms.example/pages", "headers": {}, "body": {"text": CUT + "\n"}},
    )  # fmt: skip


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_cut_text_that_is_the_last_answer(provider: str) -> None:
    (one,) = found(Turn(say=CUT, finish=REASON[provider]), provider=provider)
    assert "stands as the last answer" in one.statement
    assert not found(Turn(say=CUT + " months before."), provider=provider)


def test_a_tool_call_that_was_cut_and_ran() -> None:
    half = Call(name="write_file", given={"$invalid": '{"path": "a.py", "text": "def f('}, declared="write")
    (one,) = found(Turn(calls=(half,), finish="length"), Turn(say="Written."), provider="chat", tools=(tool("write_file"),))
    assert one.confidence == 0.95
    refused = Call(name="write_file", given={"$invalid": '{"path": '}, outcome="error", result="the arguments are no JSON")
    assert not found(Turn(calls=(refused,), finish="length"), Turn(say="I try again."), provider="chat", tools=(tool("write_file"),))


def test_a_cut_text_that_another_call_is_given() -> None:
    def stages(handed_on: str) -> list[Any]:
        tape = session(Turn(say=CUT, finish="max_tokens"), user="Sum the lease up.")
        other = session(Turn(say="All is well."), user=f"Check this summary:\n{handed_on}")
        tape.entries.pop()
        (call,) = [entry for entry in other.entries if isinstance(entry.event, events.ModelCall)]
        tape.contents.update(other.contents)
        fields = {name: getattr(call.event, name) for name in call.event.__struct_fields__ if name != "id"}
        tape.add(events.ModelCall, **fields)
        tape.add(events.SessionEnd, status="ok", exit_code=0)
        return list(truncated.run(open_case(tape)))

    (one,) = stages(CUT)
    assert "step 2 was given it" in one.statement


@pytest.mark.parametrize(
    "then",
    [
        Turn(user="Please continue where you stopped.", say=" months before."),
        Turn(user="Your answer was cut off. Try again, shorter.", say="Three months."),
    ],
)
def test_the_rest_was_asked_for(then: Turn) -> None:
    assert not found(Turn(say=CUT, finish="max_tokens"), then)


def test_the_same_was_asked_again() -> None:
    tape = session(Turn(say=CUT, finish="max_tokens"), user="Sum up.")
    again = session(Turn(say="Three months' notice."), user="Sum up.")
    tape.entries.pop()
    (call,) = [entry for entry in again.entries if isinstance(entry.event, events.ModelCall)]
    tape.contents.update(again.contents)
    tape.add(events.ModelCall, **{name: getattr(call.event, name) for name in call.event.__struct_fields__ if name != "id"})
    tape.add(events.SessionEnd, status="ok", exit_code=0)
    assert not list(truncated.run(open_case(tape)))


def test_a_stop_sequence_in_the_midst() -> None:
    stops = {"params": {"stop_sequences": ["\n\n"]}}
    (one,) = found(Turn(say='{"items": [{"name": "bolt"},', finish="stop_sequence", more=stops))
    assert "the stop sequence" in one.statement
    assert not found(Turn(say='{"items": []}', finish="stop_sequence", more=stops))
    assert not found(
        Turn(say="Thought: I look.\nAction: search", finish="stop_sequence", more={"params": {"stop_sequences": ["Observation:"]}})
    )


def test_what_ends_in_the_midst() -> None:
    assert all(map(unfinished, ['{"a": 1', "```py\nx = 1", "The steps are:", '[{"a": "]"}']))
    assert not any(map(unfinished, ['{"a": "}"}', "```py\nx\n```", "Done.", "", 'He said "yes".', '{"a": "\\""}']))


def test_a_stop_sequence_before_the_last_of_what_was_asked_for() -> None:
    user = "List the crates for the northern stall: apples, pears, plums. For the southern stall: carrots, leeks, beets, onions."
    short, whole = "apples\npears\nplums\nnorthern stall", "northern stall: apples, pears, plums\nsouthern: carrots, leeks, beets, onions"
    for text, count in ((short, 1), (whole, 0)):
        tape = session(
            Turn(say=text, finish="stop_sequence"), user=user, params={"max_tokens": 800, "stop_sequences": ["\n\n"]},
        )  # fmt: skip
        assert len(list(truncated.run(open_case(tape)))) == count

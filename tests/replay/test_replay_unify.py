"""Lenient matching: one to one over the whole session, or not at all."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tachograph.core import events
from tachograph.replay import match, unify
from tachograph.replay.tape import Piece, Tape, TapeCall
from tachograph.replay.unify import Lenient


def call(
    number: int, request: dict[str, Any], answer: Any = None, *, kind: str = "tool", name: str = "look_up", lane: str = "main"
) -> TapeCall:
    event = events.ToolCall(id=f"evt_{number}", name=name) if kind == "tool" else events.Http(id=f"evt_{number}", method="POST")
    header = {"m": "result", "result": {"value": answer}} if kind == "tool" else {"m": "end", "state": "eof"}
    return TapeCall(
        event=event, kind=kind, name=name, lane=lane, request=request, pieces=[Piece(number, header)],
        key=match.key(lane, kind, name, request), seq=number,
    )  # fmt: skip


def session(*requests: Any, answers: list[Any] | None = None) -> Tape:
    said = answers or [None] * len(requests)
    tape = Tape(calls=[call(number, {"input": request}, said[number]) for number, request in enumerate(requests)])
    tape.index()
    return tape


def ask(matcher: Lenient, request: Any, lane: str = "main") -> TapeCall | None:
    return matcher.take("tool", lane, "look_up", {"input": request})


def answer(matcher: Lenient, found: TapeCall | None) -> Any:
    assert found is not None
    return matcher.piece(found, found.pieces[0]).header["result"]["value"]


A, B, C, D = "3f2a9c1b", "77aa01cc", "0b1e55ed", "dead10cc"


def test_a_renaming_is_remembered() -> None:
    matcher = Lenient(session({"id": A}, {"of": A}, {"of": A}))
    assert ask(matcher, {"id": B}) is not None
    assert ask(matcher, {"of": B}) is not None
    assert ask(matcher, {"of": C}) is None
    assert matcher.clash is not None
    assert (matcher.clash.kind, matcher.clash.recorded, matcher.clash.live, matcher.clash.other) == ("hex", A, C, B)
    assert str(matcher.clash) == f"hex {A} was recorded in #2 input.of and is {C} now, but {unify.BOUND_RECORDED} ({B})"
    assert matcher.unified() == [{"kind": "hex", "recorded": A, "live": B, "where": "#0 input.id", "count": 2}]


def test_two_recorded_values_are_not_one_live_value() -> None:
    matcher = Lenient(session({"id": A}, {"id": B}))
    assert ask(matcher, {"id": C}) is not None
    assert ask(matcher, {"id": C}) is None
    assert matcher.clash is not None
    assert matcher.clash.why == unify.BOUND_LIVE


def test_within_one_request_as_well() -> None:
    assert ask(Lenient(session({"ids": [A, B]})), {"ids": [C, C]}) is None
    assert ask(Lenient(session({"ids": [A, A]})), {"ids": [B, C]}) is None
    assert ask(Lenient(session({"ids": [A, A]})), {"ids": [B, B]}) is not None


def test_nothing_is_entered_by_what_does_not_fit() -> None:
    matcher = Lenient(session({"ids": [A, B], "of": "x"}, {"id": A}))
    assert ask(matcher, {"ids": [C, C], "of": "x"}) is None
    assert ask(matcher, {"id": D}) is not None


def test_a_value_of_the_recording_stands_for_itself() -> None:
    # An agent that takes another one of the things that it was given does something else.
    matcher = Lenient(session({"id": A}, {"id": B}))
    found = ask(matcher, {"id": B})
    assert found is not None
    assert found.seq == 1
    matcher = Lenient(session({"id": A}, {"ids": [A, B]}))
    assert ask(matcher, {"id": C}) is not None
    assert ask(matcher, {"ids": [C, A]}) is None
    assert matcher.clash is not None
    assert matcher.clash.why == unify.OF_THE_TAPE


def test_a_value_that_an_answer_gave_stands_for_itself() -> None:
    matcher = Lenient(session("list", {"id": A}, answers=[[A, C], None]))
    assert answer(matcher, ask(matcher, "list")) == [A, C]
    assert ask(matcher, {"id": C}) is None
    assert ask(matcher, {"id": B}) is None
    assert matcher.clash is not None
    assert matcher.clash.why == unify.WAS_GIVEN
    assert ask(matcher, {"id": A}) is not None


def test_answers_are_given_with_the_live_values() -> None:
    said = {"made": f"job {A} at 2026-11-30", "list": [A, B], "n": 1764460800}
    matcher = Lenient(session({"id": A, "now": 1764460800}, answers=[said]))
    found = ask(matcher, {"id": C, "now": 1764461111})
    assert answer(matcher, found) == {"made": f"job {C} at 2026-11-30", "list": [C, B], "n": 1764461111}


def test_without_a_renaming_pieces_are_the_same_objects() -> None:
    tape = session({"id": A}, answers=[{"id": A}])
    matcher = Lenient(tape)
    found = ask(matcher, {"id": A})
    assert found is not None
    assert matcher.piece(found, found.pieces[0]) is found.pieces[0]
    assert matcher.unified() == []


def test_effects_and_prints_are_told_with_the_live_values() -> None:
    matcher = Lenient(session({"id": A}))
    ask(matcher, {"id": B})
    changes = [{"changes": [{"path": f"out/{A}.json", "action": "created", "after": f'{{"id": "{A}"}}'}]}]
    assert matcher.told(changes) == json.loads(json.dumps(changes).replace(A, B))
    assert matcher.told(b"id " + A.encode()) == b"id " + B.encode()


def test_names_of_objects_may_hold_values() -> None:
    matcher = Lenient(session({A: "open", "n": 1}))
    assert ask(matcher, {B: "open", "n": 1}) is not None
    assert ask(Lenient(session({A: "open"})), {B: "paid"}) is None


def test_first_in_first_out_among_what_unifies() -> None:
    matcher = Lenient(session("at 10:00:01", "at 10:00:02"))
    first, second = ask(matcher, "at 10:00:02"), ask(matcher, "at 10:00:03")
    assert first is not None
    assert second is not None
    assert (first.seq, second.seq) == (0, 1)


def test_lanes_and_tools_are_told_apart() -> None:
    matcher = Lenient(session({"id": A}))
    assert ask(matcher, {"id": B}, lane="main/task-1") is None
    assert matcher.take("tool", "main", "other", {"input": {"id": B}}) is None


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        ({"model": "run-3f2a9c1b"}, {"model": "run-77aa01cc"}),
        ({"api-version": "2024-02-01"}, {"api-version": "2025-02-01"}),
        ([["anthropic-version", "2023-06-01"]], [["anthropic-version", "2024-06-01"]]),
        ({"n": 1}, {"n": 2}),
        ({"n": 1}, {"n": "1"}),
        ({"n": True}, {"n": False}),
        ({"n": 1}, {"n": 1, "m": 2}),
        ([1, 2], [1]),
    ],
)
def test_what_is_never_volatile(recorded: Any, live: Any) -> None:
    assert ask(Lenient(session(recorded)), live) is None
    assert ask(Lenient(session(recorded)), recorded) is not None


def test_a_masked_secret_is_no_value() -> None:
    one, other = "[REDACTED:token:3f2a9c1b]", "[REDACTED:token:77aa01cc]"
    assert ask(Lenient(session({"id": A, "key": one})), {"id": B, "key": other}) is None
    assert ask(Lenient(session({"id": A, "key": one})), {"id": B, "key": "77aa01cc"}) is None
    matcher = Lenient(session({"id": A, "key": one}, answers=[{"key": one}]))
    assert answer(matcher, ask(matcher, {"id": B, "key": one})) == {"key": one}, "the digits in it are no value either"


def test_what_was_printed_unifies_too() -> None:
    matcher = Lenient(session({"id": A}))
    ask(matcher, {"id": B})
    assert matcher.output(f"made {A}, took it at 10:00:05\n", f"made {B}, took it at 10:00:09\n")
    assert not matcher.output(f"made {A}\n", f"made {C}\n")
    assert not matcher.output(f"made {A}\n", f"lost {B}\n")


def test_the_tape_may_get_other_requests_meanwhile() -> None:
    tape = session({"id": A, "key": "s3cret"}, {"id": A, "key": "s3cret"})
    matcher = Lenient(tape)
    assert ask(matcher, {"id": B, "key": "s3cret"}) is not None
    tape.rewrite(lambda request: json.loads(json.dumps(request).replace("s3cret", "[REDACTED:token:01234567]")))
    assert ask(matcher, {"id": B, "key": "[REDACTED:token:01234567]"}) is not None


# -- properties --------------------------------------------------------------------------------------------------------------

IDS = [str(uuid.UUID(int=0x550E8400E29B41D4A716446655440000 + n * 0x01010101_01010101)) for n in range(6)]
FRESH = [str(uuid.UUID(int=0x7C9E6679742540DE944BE07FC1F90AE7 + n * 0x01010101_01010101)) for n in range(6)]
places = st.sampled_from(range(len(IDS)))
requests = st.lists(
    st.one_of(
        st.builds(lambda n: {"id": n}, places),
        st.builds(lambda a, b: {"from": a, "to": [b, {"deep": a}]}, places, places),
        st.builds(lambda n, text: {"text": (text, n)}, places, st.sampled_from(["see %s.", "%s", '{"id": "%s"}', "/x/%s/y"])),
    ),
    min_size=1, max_size=8,
)  # fmt: skip


def filled(value: Any, ids: list[str]) -> Any:
    if isinstance(value, int):
        return ids[value]
    if isinstance(value, tuple):
        return value[0] % ids[value[1]]
    if isinstance(value, dict):
        return {name: filled(item, ids) for name, item in value.items()}
    return [filled(item, ids) for item in value]


def used(value: Any) -> set[int]:
    if isinstance(value, dict):
        return set().union(*(used(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*map(used, value))
    return {value if isinstance(value, int) else value[1]}


@given(requests, st.permutations(FRESH))
@settings(max_examples=200)
def test_a_renaming_of_ids_always_unifies(plan: list[Any], names: list[str]) -> None:
    matcher = Lenient(session(*(filled(each, IDS) for each in plan), answers=[filled(each, IDS) for each in plan]))
    for number, each in enumerate(plan):
        found = ask(matcher, filled(each, names))
        assert found is not None, matcher.clash
        assert found.seq == number or found.request == {"input": filled(each, IDS)}
        assert answer(matcher, found) == filled(each, names)
    assert {(each["recorded"], each["live"]) for each in matcher.unified()} == {(IDS[n], names[n]) for n in used(plan)}


@given(requests, st.permutations(FRESH), st.data())
@settings(max_examples=200)
def test_what_is_not_one_to_one_never_does(plan: list[Any], names: list[str], data: st.DataObject) -> None:
    there = sorted(used(plan))
    if len(there) < 2:
        plan, there = [*plan, {"id": 0}, {"id": 1}], [0, 1]
    one, other = data.draw(st.permutations(there))[:2]
    live = list(names)
    live[one] = live[other]
    matcher = Lenient(session(*(filled(each, IDS) for each in plan)))
    assert any(ask(matcher, filled(each, live)) is None for each in plan)


@given(requests, st.permutations(FRESH), st.data())
@settings(max_examples=200)
def test_one_value_is_never_two(plan: list[Any], names: list[str], data: st.DataObject) -> None:
    plan = [*plan, plan[data.draw(st.integers(0, len(plan) - 1))]]
    other = list(names)
    for n in used(plan[-1]):
        other[n] = str(uuid.UUID(int=uuid.UUID(names[n]).int ^ 0xFFFF))
    matcher = Lenient(session(*(filled(each, IDS) for each in plan)))
    assert all(ask(matcher, filled(each, names)) is not None for each in plan[:-1])
    assert ask(matcher, filled(plan[-1], other)) is None

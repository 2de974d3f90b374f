"""A tape, cut at a model call."""

from __future__ import annotations

from typing import Any

import pytest

from tachograph.core import events
from tachograph.core.errors import NotFoundError, ReplayError
from tachograph.replay import fork, match
from tachograph.replay.tape import Piece, Tape, TapeCall

URL = "https://api.anthropic.com/v1/messages"


def call(seq: int, request: dict[str, Any], event: events.Event, *, kind: str, name: str, lane: str = "main", **more: Any) -> TapeCall:
    return TapeCall(
        event=event, kind=kind, name=name, lane=lane, request=request, pieces=[Piece(seq, {"m": "end"})], key=match.key(lane, kind, name, request),
        seq=seq, end=seq, **more,
    )  # type: ignore[arg-type]  # fmt: skip


def model(seq: int, said: str, *, lane: str = "main", parent: str | None = None, **more: Any) -> TapeCall:
    request = {"method": "POST", "url": URL, "headers": [], "body": {"messages": said}}
    return call(
        seq,
        request,
        events.ModelCall(id=f"m{seq}", parent_id=parent, lane=lane, operation="messages"),
        kind="http",
        name="messages",
        lane=lane,
        **more,
    )


def tool(seq: int, value: Any, *, lane: str = "main", parent: str | None = None) -> TapeCall:
    return call(
        seq, {"input": value}, events.ToolCall(id=f"t{seq}", parent_id=parent, lane=lane, name="look"), kind="tool", name="look", lane=lane
    )


def made(*calls: TapeCall, **more: Any) -> Tape:
    tape = Tape(calls=list(calls), **more)
    tape.index()
    return tape


def test_what_began_before_the_point_is_before_it_and_the_rest_behind() -> None:
    cut = fork.cut(made(model(1, "a"), tool(2, 1), model(3, "b"), tool(4, 2), model(5, "c")), "m3")
    assert ([one.seq for one in cut.before.calls], cut.point.seq, [one.seq for one in cut.rest.calls]) == ([1, 2], 3, [4, 5])


def test_another_attempt_with_the_same_request_is_not_taken_for_the_point() -> None:
    cut = fork.cut(made(model(1, "a"), model(2, "a"), model(3, "a")), "m2")
    assert cut.before.take(cut.point.key) is cut.before.calls[0]
    assert cut.before.take(cut.point.key) is None


def test_each_recorded_answer_is_given_once_in_its_own_lane_first() -> None:
    cut = fork.cut(made(model(1, "a"), tool(2, 1, lane="x"), tool(3, 1), tool(4, 2)), "m1")
    take = lambda value: cut.recorded("tool", "look", "main", {"input": value})
    assert [one.seq if one else None for one in (take(1), take(1), take(1), take(3), take(2))] == [3, 2, None, None, 4]
    assert cut.recorded("tool", "other", "main", {"input": 2}) is None


def test_what_has_no_answer_or_is_covered_is_not_given() -> None:
    unfinished = tool(2, 1)
    unfinished.pieces = []
    covered = tool(3, 2)
    covered.covered = True
    cut = fork.cut(made(model(1, "a"), unfinished, covered), "m1")
    assert cut.recorded("tool", "look", "main", {"input": 1}) is None
    assert cut.recorded("tool", "look", "main", {"input": 2}) is None


def test_model_calls_of_other_lanes_are_given_as_they_are_recorded() -> None:
    other = model(3, "c", lane="main/1")
    cut = fork.cut(made(model(1, "a"), model(2, "b"), other), "m1")
    assert cut.same("main", "messages", cut.rest.calls[0].request) is None
    assert cut.same("main/1", "messages", other.request) is other
    assert cut.same("main/1", "messages", other.request) is None


def test_the_tools_around_the_point_run() -> None:
    tape = made(tool(1, 1), tool(2, 2, parent="t1"), model(3, "a", parent="t2"), tool(4, 4))
    cut = fork.cut(tape, "m3")
    assert [(one.seq, one.event.exact) for one in cut.before.calls] == [(1, False), (2, False)]  # type: ignore[union-attr]
    assert [one.event.exact for one in tape.calls[:2]] == [True, True]  # type: ignore[union-attr]


def test_a_tool_that_was_cut_runs_as_well() -> None:
    began = events.Started(id="s1", call_id="t1", kind="tool", name="look", lane="main")
    unfinished = TapeCall(event=began, kind="tool", name="look", lane="main", request={}, pieces=[], key=b"k", seq=1, cut=True)
    cut = fork.cut(made(unfinished, model(2, "a", parent="t1"), end=events.SessionEnd(status="killed"), gap="host_lost"), "m2")
    event = cut.before.calls[0].event
    assert isinstance(event, events.ToolCall)
    assert (event.id, event.exact) == ("t1", False)
    # Up to the cut nothing is missing.
    assert (cut.before.gap, cut.before.end and cut.before.end.status) == (None, "ok")


def test_what_cannot_be_cut() -> None:
    tape = made(model(1, "a"), tool(2, 1), model(3, "b", covered=True))
    for name in ("m9", "t2"):
        with pytest.raises(NotFoundError):
            fork.cut(tape, name)
    with pytest.raises(ReplayError, match="command of the agent's"):
        fork.cut(tape, "m3")


def test_what_is_known_now_is_masked_behind_the_cut_too() -> None:
    cut = fork.cut(made(model(1, "a"), tool(2, "secret")), "m1")
    cut.rewrite(lambda request: {"input": "masked"} if request == {"input": "secret"} else request)
    assert cut.recorded("tool", "look", "main", {"input": "secret"}) is None
    assert cut.recorded("tool", "look", "main", {"input": "masked"}) is not None

"""Going anywhere in a session is the same as having come there line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.core import events
from tachograph.core.errors import NotFoundError
from tachograph.replay import timeline
from tachograph.replay.timeline import Timeline


@dataclass(frozen=True)
class Line:
    seq: int
    ts: str
    event: events.Event


def session(calls: int) -> tuple[list[Line], dict[str, Any], list[int]]:
    """A start, then for each call: begun, a model's answer, a tool that changes a file, and a note."""
    found: list[events.Event] = [events.SessionStart(id="start")]
    contents: dict[str, Any] = {}
    steps: list[int] = []
    for n in range(calls):
        found.append(events.Started(id=f"s{n}", call_id=f"m{n}", kind="http", operation="messages"))
        steps.append(len(found))
        found.append(events.ModelCall(id=f"m{n}", model_id=f"model-{n % 3}", usage={"input_tokens": 10, "output_tokens": n}))
        uri = f"content:{n}"
        action = "deleted" if n % 5 == 4 else "changed"
        contents[uri] = {"root": "/w", "changes": [{"path": f"f{n % 7}", "action": action, "after": str(n)}]}
        found.append(events.ToolCall(id=f"t{n}", name="write", workspace_uri=uri))
        found.append(events.Note(id=f"n{n}"))
    found.append(events.SessionEnd(id="end"))
    return [Line(seq, f"t{seq}", event) for seq, event in enumerate(found)], contents, steps


def made(calls: int) -> Timeline:
    lines, contents, steps = session(calls)
    return Timeline(lines, contents.get, steps)


@given(st.lists(st.integers(0, 4 * 400 + 1), min_size=1, max_size=12))
def test_a_jump_ends_where_a_walk_ends(places: list[int]) -> None:
    walked = list(made(400))
    line = made(400)
    for seq in places:
        assert line.seek(seq) == walked[seq]


@given(st.integers(0, 1601), st.integers(0, 6))
def test_conditions_are_found_in_both_directions(seq: int, model: int) -> None:
    walked = list(made(400))
    line = made(400)

    def fits(moment: timeline.Moment) -> bool:
        return isinstance(moment.event, events.ModelCall) and moment.model == f"model-{model}"

    line.seek(seq)
    expected = next((moment for moment in walked[seq + 1 :] if fits(moment)), None)
    assert line.next(fits) == expected
    line.seek(seq)
    expected = next((moment for moment in reversed(walked[:seq]) if fits(moment)), None)
    assert line.previous(fits) == expected
    assert line.now == (expected or walked[seq])


def test_forward_and_back_undo_each_other_and_stop_at_the_ends() -> None:
    line = made(3)
    assert line.forward(5).seq == 5
    assert line.back(2).seq == 3
    assert line.back(99).seq == 0
    assert line.forward(99).event == events.SessionEnd(id="end")
    assert line.end() == line.now


def test_a_step_is_a_moment_before_its_tools_and_after_them() -> None:
    line = made(3)
    at = line.to_step(2)
    assert (at.step, at.event.id, at.files.keys()) == (2, "m1", {"f0"})
    after = line.after_step(2)
    assert (after.step, after.files.keys()) == (2, {"f0", "f1"})
    assert line.to_step(0).seq == 0
    assert line.after_step(3).event.id == "end"


def test_what_a_moment_tells() -> None:
    line = made(3)
    begun = line.to_event("s1")
    assert begun.open == ("m1",)
    assert (begun.calls, begun.usage, begun.model) == (
        {"model_call": 1, "tool_call": 1},
        {"input_tokens": 10, "output_tokens": 0},
        "model-0",
    )
    assert line.to_event("m1").open == ()


def test_the_last_change_of_a_file_until_now() -> None:
    line = made(12)
    line.to_event("t8")
    found = line.change("f1")
    assert found is not None
    assert found["after"] == "8"
    line.to_event("m8")
    found = line.change("f1")
    assert found is not None
    assert found["after"] == "1"
    assert line.change("nothing") is None


@pytest.mark.parametrize(
    "go", [lambda line: line.seek(999), lambda line: line.to_event("evt"), lambda line: line.to_step(4), lambda line: line.to_step(-1)]
)
def test_a_place_that_is_not_there_is_named_and_nothing_moves(go: Any) -> None:
    line = made(3)
    line.seek(2)
    with pytest.raises(NotFoundError, match="this session"):
        go(line)
    assert line.now.seq == 2


def test_a_jump_goes_over_no_more_lines_than_lie_between_two_kept_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    line = made(5_000)
    line.end()
    count = 0
    after = Timeline._after

    def counted(self: Timeline, before: Any, index: int) -> Any:
        nonlocal count
        count += 1
        return after(self, before, index)

    monkeypatch.setattr(Timeline, "_after", counted)
    for seq in (19_999, 3, 12_345, 511, 512, 513, 20_000):
        count = 0
        line.seek(seq)
        assert count <= timeline.EVERY


def test_files_are_read_for_lines_that_changed_some_and_for_no_others() -> None:
    lines, contents, steps = session(50)
    asked: list[Any] = []

    def content(uri: str | None) -> Any:
        asked.append(uri)
        return contents[str(uri)]

    line = Timeline(lines, content, steps)
    line.end()
    line.start()
    line.end()
    assert sorted(asked) == sorted(contents)


def test_no_lines_no_timeline() -> None:
    with pytest.raises(NotFoundError):
        Timeline([], lambda _: None)

"""A story with only what was asked for."""

from __future__ import annotations

import pytest
from sample_recordings import SAMPLES, coding_agent, on_call, parallel

from tachograph.postmortem import show_json, show_text
from tachograph.postmortem.picking import Picked, pick
from tachograph.postmortem.shapes import Run, Step
from tachograph.postmortem.story import tell


def test_some_steps() -> None:
    story = tell(coding_agent())
    found, left = pick(story, Picked(first=2, last=3))
    assert [step.number for step in found.steps] == [2, 3]
    assert left == sum(1 for _ in story.walk()) - sum(1 for _ in found.walk())
    assert left > 0


def test_a_tool_keeps_the_steps_that_called_it_and_no_other_run() -> None:
    story = tell(coding_agent())
    name = next(run.name for _, run in story.runs() if run.kind == "tool")
    found, _ = pick(story, Picked(tool=name))
    inner = {id(child) for _, run in found.runs() for child in run.children}
    assert {run.name for _, run in found.runs() if id(run) not in inner} == {name}
    assert len(found.steps) == len({step.number for step, run in story.runs() if step is not None and run.name == name})


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_errors_are_all_that_went_wrong(name: str) -> None:
    story = tell(SAMPLES[name]())
    found, _ = pick(story, Picked(errors=True))
    wrong = {item.seq for _, item in story.walk() if item.bad}
    assert wrong <= {item.seq for _, item in found.walk()}
    for _, item in found.walk():
        if not item.bad:
            inside = item.items if isinstance(item, Step) else item.children if isinstance(item, Run) else ()
            within = any(run.seq == item.seq for _, outer in found.runs() for run in outer.children if outer.bad)
            assert inside or within


def test_a_lane_and_a_kind() -> None:
    story = tell(parallel())
    lanes = {step.lane for step in story.steps}
    assert len(lanes) > 1
    for lane in lanes:
        found, _ = pick(story, Picked(lane=lane or "main"))
        assert [step.number for step in found.steps if step.lane == lane] == [step.number for step in story.steps if step.lane == lane]
        assert all(step.items for step in found.steps if step.lane != lane)
        assert all(item.lane == lane for step in found.steps if step.lane != lane for item in step.items)
    story = tell(on_call())
    found, _ = pick(story, Picked(kinds=("guardrail",)))
    assert {mark.kind for _, mark in found.marks()} == {"guardrail"}
    assert not list(found.runs())


def test_what_is_left_out_is_counted_and_the_head_tells_of_all() -> None:
    story = tell(coding_agent())
    found, left = pick(story, Picked(first=2, last=2))
    lines = [line.plain for line in show_text.render(story, only=found, left_out=left)]
    assert any(f"{left} other steps, runs and marks left out" in line for line in lines)
    assert any(f"{len(story.steps)} steps" in line for line in lines)
    assert [line.split(" ·")[0] for line in lines if line.startswith("Step ")] == ["Step 2"]
    assert show_json.show_json(found, left_out=left)["left_out"] == left

"""An outline says what the story says of what was done, whatever was recorded."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from random_recordings import recordings
from sample_recordings import Tape, coding_agent, imported, killed, on_call, parallel, shredded

from tachograph.postmortem.departure import actions
from tachograph.postmortem.outline import outline, outline_of
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.story import tell


def agree(recording: Tape) -> None:
    alone, told = outline(recording), outline_of(tell(recording))
    assert actions(alone.items) == actions(told.items)
    assert [(step.number, step.seq, step.reply) for step in alone.steps] == [(step.number, step.seq, step.reply) for step in told.steps]
    assert list(alone.runs()) == [_unmarked(run) for run in told.runs()]


@pytest.mark.parametrize("made", [coding_agent, imported, killed, on_call, parallel, shredded])
def test_of_samples(made: Callable[[], Tape]) -> None:
    agree(made())


@given(recordings())
def test_of_any_recording(recording: Tape) -> None:
    agree(recording)


def _unmarked(run: Run) -> Run:
    """Without what happened at one moment, which an outline leaves out."""
    return msgspec.structs.replace(run, children=tuple(_unmarked(child) for child in run.children if isinstance(child, Run)))

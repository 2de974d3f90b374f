"""Whatever a log holds, every explanation of it can be made, is deterministic, and lets nothing recorded act on its reader."""

from __future__ import annotations

import json
import re
from typing import Any

from html_checks import check_page
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_recordings import recordings
from rich.cells import cell_len
from sample_recordings import SAMPLES, Tape

from tachograph.core.events import ModelCall, ToolCall
from tachograph.postmortem import html, markdown, show_json, show_text
from tachograph.postmortem.bundle import bundle, difference
from tachograph.postmortem.report import assemble
from tachograph.postmortem.story import tell

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]")
SETTINGS = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@SETTINGS
@given(recordings())
def test_every_model_call_and_tool_call_is_told_exactly_once(tape: Tape) -> None:
    story = tell(tape)
    told = [step.seq for step in story.steps] + [one.seq for step in story.steps for one in step.attempts]
    calls = [entry.seq for entry in tape.entries if isinstance(entry.event, ModelCall)]
    assert sorted(told) == calls
    runs = [seq for _, run in story.runs() if run.source not in ("asked", "provider") for seq in (run.seq, *run.also)]
    tools = [entry.seq for entry in tape.entries if isinstance(entry.event, ToolCall)]
    assert sorted(seq for seq in runs if seq in tools) == tools
    assert [step.number for step in story.steps] == list(range(1, len(story.steps) + 1))
    assert [step.seq for step in story.steps] == sorted(step.seq for step in story.steps)


@SETTINGS
@given(recordings(), st.integers(20, 140))
def test_terminal_pages_keep_their_width_and_carry_no_control_characters(tape: Tape, width: int) -> None:
    story = tell(tape)
    pages = [show_text.render(story, width=width)]
    pages += [show_text.render_step(tape, story, step.number, width=width) for step in story.steps]
    for page in pages:
        for line in page:
            assert "\n" not in line.plain
            assert cell_len(line.plain) <= max(width, 40)
            assert not CONTROL.search(line.plain)


@SETTINGS
@given(recordings())
def test_a_step_told_alone_is_the_step_of_the_whole_story(tape: Tape) -> None:
    whole = tell(tape)
    for step in whole.steps:
        alone = tell(tape, step=step.number)
        assert alone.steps == (step,)
        assert show_json.step_json(tape, alone, step.number) == show_json.step_json(tape, whole, step.number)
    assert len(tell(tape, step=len(whole.steps) + 1).steps) == len(whole.steps)


@SETTINGS
@given(recordings(), st.booleans())
def test_every_report_can_be_rendered_and_is_the_same_twice(tape: Tape, against_itself: bool) -> None:
    good = tape if against_itself else None
    report = assemble(tape, good=good)
    assert report.changes == ()
    document = json.dumps(report.to_json(), sort_keys=True)
    assert sorted(json.loads(document)["answers"], key=int) == [str(number) for number in range(1, 22)]
    again = assemble(tape, good=good)
    page, text = html.render(report), markdown.render(report)
    assert (page, text, document) == (html.render(again), markdown.render(again), json.dumps(again.to_json(), sort_keys=True))
    check_page(page)
    assert not CONTROL.search(text)
    text.encode()
    json.dumps(show_json.show_json(report.case.story)).encode()
    for step in report.case.story.steps:
        json.dumps(show_json.step_json(tape, report.case.story, step.number)).encode()


@SETTINGS
@given(recordings())
def test_every_citation_names_a_line_of_the_log(tape: Tape) -> None:
    report = assemble(tape)
    known = {entry.seq: entry.event.id for entry in tape.entries}
    for answer in report.answers:
        assert answer.answer is not None or answer.not_recorded is not None
        for one in answer.evidence:
            assert known[one.seq] == one.event_id


@SETTINGS
@given(recordings(), recordings())
def test_a_difference_of_bundles_reads_the_same_from_both_sides(one: Tape, other: Tape) -> None:
    there = difference(bundle(one), bundle(other))
    back = difference(bundle(other), bundle(one))
    assert {(change.what, change.key, repr(change.before), repr(change.after)) for change in there} == {
        (change.what, change.key, repr(change.after), repr(change.before)) for change in back
    }


REPORTS: Any = st.dictionaries(
    st.sampled_from(["verdict", "tape", "matched", "unused", "blocked", "calls", "divergence"]), st.none() | st.text(max_size=5)
)


@SETTINGS
@given(REPORTS, REPORTS, st.sampled_from(sorted(SAMPLES)))
def test_odd_reports_of_other_verbs_do_not_break_a_postmortem(verification: Any, replay: Any, name: str) -> None:
    report = assemble(SAMPLES[name](), verification=verification, replay=replay)
    check_page(html.render(report))
    assert markdown.render(report).startswith("# Postmortem")

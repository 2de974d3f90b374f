"""Sharing some steps: which are meant, that nothing of the others is in the page, and that contents are masked on their way out."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from html_checks import check_page
from hypothesis import given
from hypothesis import strategies as st
from sample_recordings import SAMPLES, coding_agent

from tachograph.core import events
from tachograph.core.errors import NotFoundError, UsageError
from tachograph.postmortem import html_share, share
from tachograph.postmortem.shapes import Mark, Run, Step, Story
from tachograph.postmortem.story import tell


@pytest.fixture(scope="module")
def story() -> Story:
    return tell(coding_agent())


def page(story: Story, shown: Story | None = None, steps: tuple[int, ...] | None = None, **more: Any) -> str:
    given: dict[str, Any] = {"proofs": {}, "seal": None, "left_out": {}, **more}
    return html_share.render(
        html_share.Shared(
            story=shown or story,
            all_steps=len(story.steps),
            steps=steps,
            verdict={"verdict": "verified"},
            verifier="tachograph/x+00+AA",
            **given,
        )
    )


@pytest.mark.parametrize(("text", "numbers"), [("1", [1]), ("2-4", [2, 3, 4]), ("5,1-2, 2", [1, 2, 5]), ("3-3", [3])])
def test_steps_are_named_by_number_and_range(story: Story, text: str, numbers: list[int]) -> None:
    assert share.steps_of(text, story) == numbers


@pytest.mark.parametrize("text", ["", "0", "1-", "-2", "3-2", "1;2", "a", "1,,2", "1-2-3", "٣"])
def test_what_are_no_steps_is_said(story: Story, text: str) -> None:
    with pytest.raises(UsageError, match="not steps"):
        share.steps_of(text, story)


def test_a_step_that_is_not_there_is_said(story: Story) -> None:
    with pytest.raises(NotFoundError, match=r"no step 99999999.*it has 5"):
        share.steps_of("1-99999999", story)


@given(st.text(st.sampled_from("0123456789-, "), max_size=12))
def test_no_text_gives_a_step_that_is_not_there(text: str) -> None:
    try:
        found = share.steps_of(text, _STORY)
    except UsageError:
        return
    assert found
    assert set(found) <= {1, 2, 3, 4, 5}


_STORY = tell(coding_agent())


def test_nothing_of_the_other_steps_is_shown(story: Story) -> None:
    shown = share.only(story, [3])
    assert [step.number for step in shown.steps] == [3]
    words = page(story, shown, (3,))
    check_page(words)
    assert "Step 3" in words
    assert "Only 1 step of 5: 3." in words
    for other in (
        "Line 5 of the notes",
        "Is the upload needed?",
        "It was asked for in README.md",
        "hmac",
        "login is safe",
        'id="timeline"',
    ):
        assert other not in words, other


def test_lines_that_are_shown_are_those_of_the_steps_and_what_is_in_them(story: Story) -> None:
    every = {seq for _, item in story.walk() for seq in ([item.seq, *item.also] if isinstance(item, Run) else [item.seq])}
    three = share.seqs(share.only(story, [3]))
    step = next(one for one in story.steps if one.number == 3)
    runs = [item.seq for item in step.items if isinstance(item, Run)]
    assert {step.seq, *runs} <= set(three) < every
    assert not any(isinstance(item, Mark) and item.kind == "printed" for one in share.only(story, [1, 5]).steps for item in one.items)
    for seq in three:
        assert f'id="e{seq}"' in page(story, share.only(story, [3]), (3,)), seq


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_every_kind_of_session_can_be_shared_whole_and_step_by_step(name: str) -> None:
    story = tell(SAMPLES[name]())
    check_page(page(story, seal="a seal\n<b>"))
    for step in story.steps:
        check_page(page(story, share.only(story, [step.number]), (step.number,), proofs={1: "c2sp\n\nx"}, left_out={2: "why"}))


def test_the_page_says_what_a_proof_proves_and_how_it_is_checked(story: Story) -> None:
    words = page(story, share.only(story, [1]), (1,), proofs={4: "c2sp.org/tlog-proof@v1\nextra AA+/=\n"})
    assert "tacho verify THIS-PAGE.html --key &#x27;tachograph/x+00+AA&#x27;" in words
    assert "by another way than this page" in words
    assert re.search(r'<pre class="proof">c2sp\.org/tlog-proof@v1\nextra AA\+/=\n</pre>', words)
    assert "can be proved" in page(story)


def test_contents_are_masked_once_more_and_counted() -> None:
    tape = coding_agent()
    masked = share.Masked(tape, lambda value: "…" if "hmac" in repr(value) else value)
    story = tell(masked)
    assert masked.changed > 0
    assert "hmac" not in page(story)
    assert masked.by_id("evt_0001") == tape.by_id("evt_0001")
    again = share.Masked(tape, lambda value: value)
    assert tell(again) == tell(tape)
    assert again.changed == 0
    with pytest.raises(Exception, match="shredded"):
        share.Masked(dataclasses.replace(tape, shredded=True), lambda value: value).content("content:x")


def test_a_step_within_a_call_that_is_not_shown_leads_nowhere() -> None:
    tape = coding_agent()
    outer = tape.add(events.ToolCall, name="subagent", source="declared", input={"a": 1}, output="b", lane="main")
    assert outer
    story = tell(tape)
    for step in story.steps:
        assert isinstance(step, Step)
        check_page(page(story, share.only(story, [step.number]), (step.number,)))

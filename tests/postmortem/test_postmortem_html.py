"""The HTML page and its picture: self-contained, escaped, readable, for sessions of any size."""

from __future__ import annotations

import dataclasses
import itertools
import re
from xml.etree import ElementTree as ET

import pytest
from html_checks import check_page
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_recordings import SAMPLES, TOOLS, Tape, ask, coding_agent, killed, on_call, parallel, start, text, use

from tachograph.core import events
from tachograph.postmortem import html, html_steps, timeline_svg
from tachograph.postmortem.analyses.contract import Finding
from tachograph.postmortem.case import Evidence
from tachograph.postmortem.html_style import DARK, LIGHT, stylesheet
from tachograph.postmortem.markup import Markup, el, trusted
from tachograph.postmortem.report import assemble
from tachograph.postmortem.story import tell
from tachograph.postmortem.timescale import pack, scale


def long_session(steps: int) -> Tape:
    tape = Tape()
    start(tape)
    for number in range(steps):
        lane = f"main/task-{number % 20}"
        ask(tape, [{"role": "user", "content": f"Part {number}"}], [text("ok"), use(f"c{number}", "bash", command="ls")], lane=lane)
        tape.tick(30)
        tape.add(events.ToolCall, name="bash", call_id=f"c{number}", source="declared", duration_ms=25.0, output="a\n" * 40, lane=lane)
        if number % 50 == 49:
            tape.tick(3_600_000)
    tape.add(events.SessionEnd, status="ok")
    return tape


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_page_needs_nothing_else_and_its_links_lead_somewhere(name: str) -> None:
    page = html.render(assemble(SAMPLES[name]()))
    reader = check_page(page)
    assert "default-src &#x27;none&#x27;; style-src &#x27;unsafe-inline&#x27;" in page
    assert "<script" not in page
    assert not re.search(r"url\((?!#hatching)", page)
    assert "@import" not in page
    assert reader.headings[0] == 1
    assert reader.headings.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(reader.headings))
    assert {"summary", "timeline", "steps", "changes", "in-force", "questions", "evidence", "actions"} <= set(reader.ids)
    assert "findings" in reader.ids
    assert "signals" not in reader.ids
    assert {f"q{number}" for number in range(1, 22)} <= set(reader.ids)


def test_a_page_says_what_matters() -> None:
    page = html.render(assemble(coding_agent(), verification={"verdict": "verified"}, replay={"verdict": "identical"}))
    words = " ".join("".join(check_page(page).text).split())
    for one in ("verified", "replay identical", "1 failed, 11 passed", "… 20 more lines", "+import hmac", "Not recorded", "All tests pass"):
        assert one in words or one in page, one
    assert "⟨U+200B⟩" in words


@settings(max_examples=60, deadline=None)
@given(
    st.text(min_size=1, max_size=40)
    | st.sampled_from(["</style><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;b&gt;", "]]>", "{{x}}"])
)
def test_hostile_text_stays_text_wherever_it_stands(hostile: str) -> None:
    tape = Tape(session_id=f"ses_{hostile}")
    start(tape, name=hostile, agent=hostile, facts={"argv": [hostile], "packages": {hostile: hostile}}, branch=hostile, links=[hostile])
    call = ask(
        tape, [{"role": hostile, "content": hostile}, {"role": "user", "content": hostile}], [text(hostile), use("c", hostile, a=hostile)],
        system=hostile, tools=[{"name": hostile, "description": hostile, "input_schema": {}}], lane=hostile, params={hostile: hostile},
        prompt={"id": hostile, "version": hostile}, model_id=hostile, served_model_id=hostile, finish_reason=hostile,
    )  # fmt: skip
    change = {"changes": [{"path": hostile, "action": hostile, "before": hostile, "after": hostile + "x"}]}
    tape.add(events.ToolCall, name=hostile, call_id="c", source="wire", asked_by=call, output=hostile, error=hostile, workspace=change)
    tape.add(events.Guardrail, guardrail_id=hostile, version=hostile, action=hostile, detail=hostile)
    tape.add(events.Message, role=hostile, content=hostile)
    tape.add(events.Gap, reason=hostile)
    tape.add(events.SessionEnd, status=hostile)
    check_page(html.render(assemble(tape, verification={"verdict": hostile}, replay={"verdict": hostile})))


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_whatever_line_a_finding_cites_has_a_place_on_the_page(name: str) -> None:
    recording = SAMPLES[name]()
    evidence = tuple(Evidence(event_id=entry.event.id, seq=entry.seq, what="this") for entry in recording.entries)
    finding = Finding(
        cause="tool", analysis="x", confidence=0.9, first_event="evt_0000", first_seq=recording.entries[0].seq, evidence=evidence, statement="All of it.",
    )  # fmt: skip
    report = dataclasses.replace(assemble(recording), findings=(finding,))
    reader = check_page(html.render(report))
    assert {f"e{entry.seq}" for entry in recording.entries} <= set(reader.ids)


def test_a_session_too_large_for_a_page_is_shown_in_part_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MOST_OF_STEPS", 150_000)
    monkeypatch.setattr(html, "MOST_MOMENTS", 500)
    monkeypatch.setattr(timeline_svg, "MOST_BARS", 300)
    recording = long_session(600)
    cited = [entry for entry in recording.entries if isinstance(entry.event, events.ToolCall)][250]
    evidence = (Evidence(event_id=cited.event.id, seq=cited.seq, what="this"),)
    finding = Finding(
        cause="tool", analysis="x", confidence=0.9, first_event=cited.event.id, first_seq=cited.seq, evidence=evidence, statement="This.",
    )  # fmt: skip
    report = dataclasses.replace(assemble(recording), findings=(finding,))
    page = html.render(report)
    assert len(page) < 500_000
    reader = check_page(page)
    words = " ".join("".join(reader.text).split())
    assert {f"step-{number}" for number in range(1, 601)} <= set(reader.ids)  # what a bar of the picture leads to
    shown = [int(number) for number in re.findall(r"<article class=\"step\" id=\"step-(\d+)\"", page)]
    assert shown == sorted(shown)
    assert {1, 2, 251, 599, 600} <= set(shown)
    assert len(shown) < 300
    told = re.findall(r"Steps ([\d,]+) to ([\d,]+): (\d+) steps, (\d+) calls, for which this page has no room", words)
    assert sum(int(steps) for _, _, steps, _ in told) == sum(int(calls) for *_, calls in told) == 600 - len(shown)
    first, last, *_ = told[0]
    assert f"tacho show {recording.session_id} --from {first} --to {last} shows it." in words
    assert f"{len(report.timeline) - 500:,} of {len(report.timeline):,} lines are counted only" in words
    assert f'href="#e{cited.seq}"' in page
    assert page.count("<tr>") < 700
    assert "drawn as one" in words


def test_a_step_of_too_many_calls_leaves_room_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MOST_OF_STEPS", 100_000)
    tape = Tape()
    start(tape)
    for number in range(3):
        ask(tape, [{"role": "user", "content": f"Part {number}"}], [text(f"answer {number}")])
        for each in range(900):
            tape.tick(5)
            failed = {"exit_code": 1} if number == 1 and each == 450 else {"exit_code": 0}
            tape.add(events.Process, program="make", request={"argv": ["make", str(each)]}, output={"stdout": "a\n" * 20}, **failed)
    page = html.render(assemble(tape))
    words = " ".join("".join(check_page(page).text).split())
    assert all(f"answer {number}" in words for number in range(3))
    assert len(re.findall(r"Step (\d): \d+ calls, for which this page has no room", words)) >= 3
    assert "make 450" in words


def test_of_a_long_page_only_the_steps_that_a_claim_rests_on_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    story = assemble(coding_agent()).case.story
    cited = story.steps[1].seq
    whole = html_steps.steps(story, cited=frozenset([cited]))
    assert "paper" not in whole
    monkeypatch.setattr(html_steps, "MOST_PRINTED", 100)
    page = html_steps.steps(story, cited=frozenset([cited]))
    assert page.count('class="note on-paper"') == 1
    off = page.split('<div class="off-paper">')
    items = sum(len(turn.items) for turn in story.turns)
    assert len(off) == items, "all but one are not printed"
    bare = re.sub(r'<p class="note on-paper">.*?</p>|<div class="off-paper">', "", page)
    assert bare.count("<article") == whole.count("<article") == len(story.steps)
    own = page[page.index(f'id="e{cited}"') - 400 : page.index(f'id="e{cited}"')]
    assert "off-paper" not in own[own.rindex("<article") - 30 :], "the cited one is"


def test_markup_escapes_everything_that_is_not_markup() -> None:
    assert el("p", "<b>", class_='"x"') == '<p class="&quot;x&quot;">&lt;b&gt;</p>'
    assert el("p", el("b", "a&b"), None, ["<", el("br")]) == "<p><b>a&amp;b</b>&lt;<br></p>"
    assert el("details", open=True, hidden=None, id=False) == "<details open></details>"
    assert isinstance(trusted("x"), Markup)


# -- looks ---------------------------------------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_every_text_has_enough_contrast_on_its_ground(colours: dict[str, str]) -> None:
    for ground in ("paper", "panel"):
        for ink in ("ink", "soft", "link", "good", "warn", "bad", "user", "model", "tool"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for bar in ("model", "tool", "process", "http", "bad"):
        assert contrast(colours["on-bar"], colours[bar]) >= 4.5, bar
    for ground in ("added", "removed"):
        assert contrast(colours["ink"], colours[ground]) >= 4.5, ground


def test_the_stylesheet_knows_both_schemes_paper_and_small_screens() -> None:
    sheet = stylesheet()
    for one in ("prefers-color-scheme: dark", "@media print", "max-width: 34rem", "tabular-nums", "72ch"):
        assert one in sheet
    used = set(re.findall(r"var\(--([a-z-]+)\)", sheet))
    assert used <= set(LIGHT)
    assert set(LIGHT) == set(DARK)


# -- the picture ---------------------------------------------------------------------------------------------------------------


def picture(tape: Tape) -> ET.Element:
    return ET.fromstring(timeline_svg.Picture(story=tell(tape)).draw())


def bars(drawn: ET.Element) -> list[tuple[float, float, float]]:
    """Row, left and right edge (percent) of every bar."""
    found = []
    for group in drawn.iter("g"):
        if (group.get("class") or "").startswith("bar "):
            rect = group.find("rect")
            assert rect is not None
            left, width = float((rect.get("x") or "").rstrip("%")), float((rect.get("width") or "").rstrip("%"))
            found.append((float(rect.get("y") or 0), left, left + width))
    return found


@pytest.mark.parametrize("steps", [1, 3, 60, 250])
def test_the_picture_holds_every_call_within_its_frame(steps: int) -> None:
    drawn = picture(long_session(steps))
    found = bars(drawn)
    assert len(found) == 2 * steps
    height = float(drawn.get("height") or 0)
    assert all(0 <= left <= right <= 100.001 and y + 18 <= height for y, left, right in found)
    assert height < 1500
    least = int(re.findall(r"\d+", drawn.get("style") or "")[0])
    assert 620 <= least <= 4000


def test_bars_on_the_same_pixels_are_one_and_none_that_failed_is_lost_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline_svg, "MOST_BARS", 200)
    tape = long_session(250)
    tape.add(
        events.ToolCall, name="bash", call_id="c", source="declared", duration_ms=25.0, output="a", outcome="error", lane="main/task-1"
    )
    drawn = picture(tape)
    tips = [group.findtext("title") or "" for group in drawn.iter("g") if (group.get("class") or "").startswith("bar ")]
    assert len(tips) < 450
    gathered = [int(count.replace(",", "")) for tip in tips for count in re.findall(r"^([\d,]+) × ", tip)]
    assert gathered
    assert len(tips) - len(gathered) + sum(gathered) == 501
    assert [group.get("class") for group in drawn.iter("g") if "failed" in (group.get("class") or "")] == ["bar tool failed"]


def test_bars_of_a_row_do_not_lie_on_each_other() -> None:
    for tape in (coding_agent(), parallel(), on_call()):
        by_row: dict[float, list[tuple[float, float]]] = {}
        for y, left, right in bars(picture(tape)):
            by_row.setdefault(y, []).append((left, right))
        for row in by_row.values():
            row.sort()
            assert all(earlier[1] <= later[0] + 0.01 for earlier, later in itertools.pairwise(row))


def test_every_bar_and_mark_has_a_tooltip_and_failures_are_marked() -> None:
    drawn = picture(coding_agent())
    groups = [group for group in drawn.iter("g") if (group.get("class") or "").split(" ")[0] in ("bar", "mark", "gap", "idle")]
    assert all(group.find("title") is not None for group in groups)
    assert sum("failed" in (group.get("class") or "") for group in groups) == 2
    assert any("1 min in which nothing ran" in (group.findtext("title") or "") for group in groups)


def test_gaps_are_hatched_and_named() -> None:
    drawn = picture(killed())
    gap = next(group for group in drawn.iter("g") if group.get("class") == "gap")
    assert "torn" in (gap.findtext("title") or "")
    assert [one.text for one in gap.iter("text")] == ["gap"]


def test_labels_of_the_axis_keep_their_distance() -> None:
    for tape in (coding_agent(), long_session(250)):
        drawn = picture(tape)
        least = int(re.findall(r"\d+", drawn.get("style") or "")[0])
        places = sorted(float((one.get("x") or "").rstrip("%")) for one in drawn.iter("text") if one.get("class") == "tick")
        assert all((later - earlier) * least / 100 >= 45 for earlier, later in itertools.pairwise(places))


def test_many_lanes_share_the_last_band() -> None:
    labels = [one.text for one in picture(long_session(60)).iter("text") if one.get("class") == "lane"]
    assert len(labels) == 12
    assert labels[:3] == ["main/task-0", "main/task-1", "main/task-2"]
    assert labels[-1] == "9 more lanes"


def test_an_empty_session_has_an_empty_picture() -> None:
    assert bars(picture(Tape())) == []


SPANS = st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e6)).map(lambda one: (one[0], one[0] + one[1])), max_size=30)


@given(SPANS, st.lists(st.floats(0, 1e9), min_size=2, max_size=6))
def test_the_axis_never_runs_backwards_and_stays_on_the_page(spans: list[tuple[float, float]], moments: list[float]) -> None:
    axis = scale(spans)
    places = [axis.percent(moment) for moment in sorted(moments)]
    assert places == sorted(places)
    assert all(-1e-6 <= place <= 100 + 1e-6 for place in places)
    assert len(axis.ticks()) <= 40
    for left, right, _ in axis.breaks():
        assert 0 <= left <= right <= 100.001


def test_long_rests_are_shortened_and_the_work_stays_in_proportion() -> None:
    axis = scale([(0, 1000), (3_600_000, 3_602_000)])
    assert [words for _, _, words in axis.breaks()] == ["59 min 59 s"]
    first = axis.percent(1000) - axis.percent(0)
    second = axis.percent(3_602_000) - axis.percent(3_600_000)
    assert second == pytest.approx(2 * first)
    assert first + second > 90


@given(SPANS, st.integers(1, 5))
def test_packing_puts_nothing_on_top_of_anything_while_there_are_rows(spans: list[tuple[float, float]], most: int) -> None:
    spans.sort()
    rows = pack(spans, 0.0, most)
    assert all(0 <= row < most for row in rows)
    if len(spans) <= most:
        for row in set(rows):
            mine = [span for span, at in zip(spans, rows, strict=True) if at == row]
            assert all(earlier[1] <= later[0] + 1e-5 for earlier, later in itertools.pairwise(mine))


def test_tool_schemas_are_listed() -> None:
    page = html.render(assemble(coding_agent()))
    assert all(tool["name"] in page for tool in TOOLS)

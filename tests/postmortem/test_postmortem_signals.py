"""Signals in a report: where they stand on the timeline, what they answer, and that whatever they say stays text."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from html_checks import check_page
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_recordings import SAMPLES, START, coding_agent

from tachograph.core.signals import Missing, Signal, Signals, Window
from tachograph.postmortem import html, markdown, signalled
from tachograph.postmortem.report import Report, assemble

ZERO = round(START.timestamp() * 1000)
#: The upload of the sample: the first thing that reaches beyond the session is the patch, a moment later.
HOUR = Window(ZERO - 1_800_000, ZERO + 3_600_000)


def at(minutes: float, **more: Any) -> Signal:
    fields: dict[str, Any] = {"source": "prometheus", "kind": "alarm", "name": "LoginErrors", "state": "firing", **more}
    return Signal(at=ZERO + round(minutes * 60_000), **fields)


def reported(*found: Signal, missing: tuple[Missing, ...] = (), asked: tuple[str, ...] = ("prometheus", "pagerduty")) -> Report:
    return assemble(
        coding_agent(), signals=Signals(window=HOUR, asked=asked, found=tuple(sorted(found, key=lambda one: one.at)), missing=missing)
    )


INCIDENT = (
    at(-20, name="DiskFull"),
    at(3, source="ledger", kind="deploy", name="prod-42", state="production", text="9c11aa2f0011: it put the commit there"),
    at(5, text="5 % of logins fail", by="Prometheus"),
    at(6, source="pagerduty", kind="incident", name="#7 Logins fail", state="triggered"),
    at(9, source="pagerduty", kind="incident", name="#7 Logins fail", state="acknowledged", by="Dana"),
    at(20, source="pagerduty", kind="incident", name="#7 Logins fail", state="note", text="rolled back to prod-41", by="Dana"),
    at(21, source="ledger", kind="deploy", name="prod-43", state="production"),
    at(25, state="resolved"),
)


def answer(report: Report, number: int) -> dict[str, Any]:
    found: dict[str, Any] = report.to_json()["answers"][str(number)]
    return found


def test_how_it_was_noticed_and_contained_is_answered_from_signals() -> None:
    report = reported(*INCIDENT)
    said = answer(report, 18)["answer"]
    assert "1 alarm had begun before the first effect and cannot come from it: “DiskFull” [#s1]." in said
    assert "The first alarm was “LoginErrors” (prometheus, firing) at 2026-09-11T07:17:00.000Z, by “Prometheus” [#s3]." in said
    assert re.search(r"Time to detect: 4 min 5\d s after “.+” \[#\d+\]\.", said)
    assert "The last deploy before it was “prod-42”, 2 min earlier [#s2]." in said
    assert "“Dana” took it up 4 min after the first alarm [#s5]." in said
    assert "1 alarm ended, the last 20 min after the first had begun [#s8]." in said
    assert "1 alarm had not ended by 2026-09-11T08:12:00.000Z: “#7 Logins fail” [#s4]." in said
    assert "In between: “rolled back to prod-41” by “Dana” [#s6]." in said
    assert "In between: the deploy of “prod-43” [#s7]." in said
    caught = answer(report, 17)
    assert "An alarm did notice, but only outside" in caught["answer"]
    assert "alerts" not in caught["not_recorded"]
    assert {"signal": 3, "what": "the first alarm"} in answer(report, 18)["evidence"]
    assert all("event_id" in one or "signal" in one for one in answer(report, 18)["evidence"])


def test_what_no_signal_says_is_said_to_be_missing() -> None:
    report = reported(at(-20, name="DiskFull"), missing=(Missing("pagerduty", "api.pagerduty.com refused (HTTP 401); check the token"),))
    found = answer(report, 18)
    assert "No alarm of prometheus, pagerduty began after the effect in the time that was asked for" in found["answer"]
    assert "Signals of pagerduty: api.pagerduty.com refused (HTTP 401); check the token." in found["not_recorded"]
    assert "No alarm of prometheus, pagerduty began after it" in answer(report, 17)["answer"]
    assert report.to_json()["signals_read"]["missing"] == [
        {"source": "pagerduty", "why": "api.pagerduty.com refused (HTTP 401); check the token"}
    ]
    for page in (markdown.render(report), html.render(report)):
        assert "refused (HTTP 401)" in page


def test_without_signals_the_report_says_how_to_have_them() -> None:
    report = assemble(coding_agent())
    assert "--signals brings alerts in" in answer(report, 17)["not_recorded"]
    assert "--signals brings alarms in" in answer(report, 18)["not_recorded"]
    assert report.to_json()["signals"] == []
    assert report.to_json()["signals_read"] is None
    only_deploys = reported(INCIDENT[1], asked=())
    assert "--signals brings alarms in" in answer(only_deploys, 18)["not_recorded"]
    assert [one.kind for one in only_deploys.timeline].count("signal") == 1


def test_signals_stand_among_the_moments_of_the_record() -> None:
    report = reported(*INCIDENT)
    kinds = [one.kind for one in report.timeline]
    assert kinds[0] == "signal"
    assert report.timeline[0].at_ms == -1_200_000
    assert kinds.count("signal") == len(INCIDENT)
    times = [one.at_ms for one in report.timeline]
    assert times == sorted(times)
    assert [one.bad for one in report.timeline if one.kind == "signal"] == [one.begins for one in INCIDENT]
    document = json.loads(json.dumps(report.to_json()))
    assert [one["number"] for one in document["signals"]] == list(range(1, len(INCIDENT) + 1))
    moment = next(one for one in document["timeline"] if one["kind"] == "signal")
    assert (moment["seq"], moment["signal"]) == (None, 1)


def test_a_metric_is_a_curve_and_a_row_of_log_lines_is_counted() -> None:
    points = [at(minute, kind="metric", name="errors", state=None, value=float(value)) for minute, value in enumerate((0, 2, 9, 9, 1))]
    lines = [at(10 + number / 60, kind="log", name="/shop", state=None, text=f"line {number}") for number in range(40)]
    report = reported(*points, *lines)
    told = signalled.moments(report.case)
    assert [one.what for one in told if one.signal.kind == "metric"] == ["prometheus metric errors: highest, 9"]
    assert [one.signal.at for one in told if one.signal.kind == "metric"] == [ZERO + 120_000]
    logs = [one for one in told if one.signal.kind == "log"]
    assert len(logs) == signalled.MOST_LINES + 1
    assert logs[-1].what.startswith("prometheus log /shop: 28 more lines until")
    page = html.render(report)
    check_page(page)
    assert page.count("<polyline") == 1
    assert "errors: highest 9" in page


def test_every_signal_that_is_cited_has_a_place_on_the_page() -> None:
    page = html.render(reported(*INCIDENT))
    reader = check_page(page)
    assert {f"es{number}" for number in range(1, len(INCIDENT) + 1)} <= set(reader.ids)
    assert "outside of the session" in page
    for kind in ("alarm failed", "alarm over", "incident failed", "deploy"):
        assert f'class="mark {kind}"' in page, kind
    document = markdown.render(reported(*INCIDENT))
    assert "`#s3`" in document
    assert "| −20:00 | signal |" in document


def test_the_time_of_a_session_without_a_time_is_no_guess() -> None:
    tape = coding_agent()
    tape.entries = [type(one)(one.seq, "?", one.event, one.line) for one in tape.entries]
    report = assemble(tape, signals=Signals(window=HOUR, asked=("file",), found=INCIDENT))
    assert not [one for one in report.timeline if one.kind == "signal"]
    check_page(html.render(report))
    assert "Time to detect" not in (answer(report, 18)["answer"] or "")


@settings(max_examples=30, deadline=None)
@given(
    st.text(max_size=40) | st.sampled_from(["</td><script>alert(1)</script>", "[#1]", "[#s1]", "| a |\n# b", "@here #7 https://x.example", "\x02s1\x03"]),
    st.sampled_from(["alarm", "incident", "metric", "log", "deploy", "note"]), st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-10_000, 10_000),
)  # fmt: skip
def test_whatever_a_signal_says_stays_text(said: str, kind: str, value: float | None, minutes: int) -> None:
    fields: dict[str, Any] = {"kind": kind, "state": said, "value": value, "unit": said, "text": said, "by": said}
    report = reported(
        at(minutes, name=said or "x", **fields), at(4, name=said or "x", **fields), missing=(Missing(said, said),), asked=(said,)
    )
    page = html.render(report)
    check_page(page)
    assert "<script" not in page
    document = markdown.render(report)
    assert not re.search(r"(?<![\w&\u2060])@here|://x", document)
    json.dumps(report.to_json())


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_signals_go_with_every_kind_of_session(name: str) -> None:
    recording = SAMPLES[name]()
    report = assemble(recording, signals=Signals(window=HOUR, asked=("file",), found=INCIDENT))
    check_page(html.render(report))
    assert markdown.render(report)

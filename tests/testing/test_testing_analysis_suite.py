"""The suite for analyses passes one that is right and fails those that are not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest
from sample_recordings import coding_agent, on_call

from tachograph.postmortem.analyses.contract import STRONG, Analysis, Finding
from tachograph.postmortem.case import Case, Evidence, open_case
from tachograph.testing.analysis_suite import AnalysisSuite


def looks_for_patches(case: Case) -> Iterator[Finding]:
    for _, run in case.story.runs():
        if run.name == "apply_patch":
            yield Finding(
                cause="tool", analysis="patches", confidence=STRONG, first_event=run.event_id, first_seq=run.seq,
                evidence=(Evidence(event_id=run.event_id, seq=run.seq, what="a patch"),), statement="It patched.",
            )  # fmt: skip


class TestRight(AnalysisSuite):
    analysis = Analysis(name="patches", looks_for="patches", run=looks_for_patches)

    def faulty(self) -> list[Case]:
        return [open_case(coding_agent())]

    def healthy(self) -> list[Case]:
        return [open_case(on_call())]


def wrong(run: object) -> AnalysisSuite:
    class Wrong(TestRight):
        analysis = Analysis(name="patches", looks_for="patches", run=run)  # type: ignore[arg-type]

    return Wrong()


def test_one_that_cites_what_is_not_there_fails() -> None:
    def cites(case: Case) -> Iterator[Finding]:
        for finding in looks_for_patches(case):
            yield dataclasses.replace(finding, first_event="evt_nowhere")

    with pytest.raises(AssertionError, match="not in the record"):
        wrong(cites).test_it_finds_the_fault_and_cites_lines_that_exist()


def test_one_that_always_finds_something_or_nothing_fails() -> None:
    always = list(looks_for_patches(open_case(coding_agent())))
    with pytest.raises(AssertionError, match="is healthy"):
        wrong(lambda case: always).test_it_finds_nothing_where_nothing_is_wrong()
    with pytest.raises(AssertionError, match="nothing was found"):
        wrong(lambda case: []).test_it_finds_the_fault_and_cites_lines_that_exist()


def test_one_that_changes_its_mind_fails() -> None:
    calls: list[int] = []

    def moody(case: Case) -> list[Finding]:
        calls.append(1)
        return list(looks_for_patches(case)) if len(calls) % 2 else []

    with pytest.raises(AssertionError):
        wrong(moody).test_the_same_case_gives_the_same_findings()

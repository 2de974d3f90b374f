"""The conformance suite for analyses: subclass it with your analysis, cases that have its fault, and cases that do not.

from tachograph.testing.analysis_suite import AnalysisSuite

class TestMine(AnalysisSuite):
    analysis = ANALYSIS

    def faulty(self): ...
    def healthy(self): ...
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from tachograph.postmortem.analyses.contract import Analysis, Finding
from tachograph.postmortem.case import Case

_NAME = re.compile(r"[a-z][a-z0-9_]{2,40}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class AnalysisSuite:
    """What every analysis must do. ``analysis``: the one that is tried."""

    analysis: Analysis

    def faulty(self) -> Iterable[Case]:
        """At least one case in which it must find something."""
        raise NotImplementedError("name cases that have the fault")

    def healthy(self) -> Iterable[Case]:
        """At least one case in which it must find nothing."""
        raise NotImplementedError("name cases that do not have the fault")

    def test_it_has_a_name_and_says_what_it_looks_for(self) -> None:
        assert _NAME.fullmatch(self.analysis.name), "a name in small letters with underscores"
        assert self.analysis.looks_for.strip()
        assert "\n" not in self.analysis.looks_for, "one line"

    def test_it_finds_the_fault_and_cites_lines_that_exist(self) -> None:
        cases = list(self.faulty())
        assert cases, "name at least one case that has the fault"
        for case in cases:
            found = self._run(case)
            assert found, f"nothing was found in {case.story.session_id}"
            known = {entry.event.id: entry.seq for entry in case.recording.entries}
            for finding in found:
                assert finding.analysis == self.analysis.name
                assert known.get(finding.first_event) == finding.first_seq, "the first event is not in the record"
                for one in finding.evidence:
                    assert known.get(one.event_id) == one.seq, f"#{one.seq} is not in the record"
                assert finding.statement.strip()
                assert len(finding.statement) <= 1000
                assert not _CONTROL.search(finding.statement), "texts of the record go through values.quoted"

    def test_it_finds_nothing_where_nothing_is_wrong(self) -> None:
        cases = list(self.healthy())
        assert cases, "name at least one case that does not have the fault"
        for case in cases:
            assert [finding.statement for finding in self._run(case)] == [], f"{case.story.session_id} is healthy"

    def test_the_same_case_gives_the_same_findings(self) -> None:
        for case in self.faulty():
            assert [_json(one) for one in self._run(case)] == [_json(one) for one in self._run(case)]

    def _run(self, case: Case) -> list[Finding]:
        return list(self.analysis.run(case))


def _json(finding: Finding) -> Any:
    return json.loads(json.dumps(finding.to_json()))

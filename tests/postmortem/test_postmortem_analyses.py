"""What all analyses share: their contract, who is asked, and which finding stands first."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata

import pytest
from sample_recordings import coding_agent

from tachograph.postmortem.analyses import registry
from tachograph.postmortem.analyses.contract import CLASSES, LEAST, Analysis, Finding
from tachograph.postmortem.analyses.ranking import ranked
from tachograph.postmortem.case import open_case


def finding(cause: str = "tool", seq: int = 1, confidence: float = 0.8, analysis: str = "one") -> Finding:
    return Finding(
        cause=cause, analysis=analysis, confidence=confidence, first_event=f"evt_{seq}", first_seq=seq, evidence=(), statement="It was so."
    )  # fmt: skip


def test_a_finding_names_a_class_that_exists_and_a_confidence() -> None:
    for cause in CLASSES:
        assert finding(cause).to_json()["class"] == cause
    with pytest.raises(ValueError, match="one of input, context"):
        finding("fate")
    with pytest.raises(ValueError, match="between 0 and 1"):
        finding(confidence=1.5)


def test_the_surest_stands_first_and_of_equals_the_earliest() -> None:
    late, early, sure = finding(seq=9), finding(seq=2), finding("model", seq=20, confidence=0.9)
    assert ranked([late, early, sure]) == (sure, early, late)


def test_what_follows_from_something_else_stands_behind_it() -> None:
    cause, consequence = finding("context", seq=3, confidence=0.8), finding("approval", seq=8, confidence=0.95)
    assert ranked([consequence, cause]) == (cause, consequence)
    unsure = finding("context", seq=3, confidence=0.5)
    assert ranked([consequence, unsure]) == (consequence, unsure)
    later = finding("context", seq=10, confidence=0.9)
    assert ranked([consequence, later]) == (consequence, later)


def test_a_cut_answer_is_told_with_the_limit_that_was_lowered() -> None:
    limit = replace(
        finding("parameters", seq=3, confidence=0.72, analysis="changed_since_good"),
        statement="the parameter max_tokens is 40, it was 4000",
    )
    cut = finding("parameters", seq=9, confidence=0.8, analysis="truncated_output")
    (one,) = ranked([cut, limit])
    assert (one.first_seq, one.confidence) == (3, 0.8)
    other = replace(limit, statement="the parameter temperature is 1, it was 0")
    assert len(ranked([cut, other])) == 2
    assert ranked([cut]) == (cut,)


def test_the_same_is_told_once_and_the_unsure_not_at_all() -> None:
    one, other = finding(confidence=0.5, analysis="one"), finding(confidence=0.7, analysis="other")
    assert ranked([one, other, finding("model", confidence=LEAST - 0.01)]) == (other,)


def test_an_analysis_that_raises_takes_no_other_with_it_and_its_words_are_not_told() -> None:
    def raises(case: object) -> list[Finding]:
        raise RuntimeError("a text of the record")

    chosen = [Analysis(name="broken", looks_for="trouble", run=raises), Analysis(name="one", looks_for="it", run=lambda case: [finding()])]
    found, failed = registry.look(open_case(coding_agent()), chosen)
    assert found == (finding(),)
    assert failed == ({"analysis": "broken", "error": "RuntimeError"},)


def test_others_bring_theirs_by_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = Analysis(name="theirs", looks_for="what they know", run=lambda case: [finding(analysis="theirs")])

    class Point:
        def __init__(self, name: str, value: object) -> None:
            self.name, self._value = name, value

        def load(self) -> object:
            if isinstance(self._value, Exception):
                raise self._value
            return self._value

    points = [Point("good", theirs), Point("odd", "no analysis"), Point("absent", ImportError("gone"))]
    monkeypatch.setattr(metadata, "entry_points", lambda group: points if group == registry.GROUP else [])
    found, failed = registry.analyses()
    assert theirs in found
    assert failed == ({"analysis": "absent", "error": "ImportError"}, {"analysis": "odd", "error": "is no Analysis"})


def test_names_are_told_apart() -> None:
    names = [analysis.name for analysis in registry.BUILT_IN]
    assert len(set(names)) == len(names)

"""Runbooks: the one that fits best goes with a finding, into all three outputs; a mistake in the file is one line with its place."""

from __future__ import annotations

import dataclasses

import pytest
from html_checks import check_page
from hypothesis import given
from hypothesis import strategies as st
from sample_recordings import coding_agent

from tachograph.core.errors import UsageError
from tachograph.postmortem import html, markdown
from tachograph.postmortem.analyses.contract import CLASSES, Finding
from tachograph.postmortem.case import Case, Evidence, open_case
from tachograph.postmortem.report import assemble
from tachograph.postmortem.runbooks import attach, parse

FILE = """
[[runbook]]
class = ["context", "prompt"]
title = "An agent followed a document"
url = "https://wiki.example/agents/injection"
steps = ["Stop the agent", "Revoke its token"]

[[runbook]]
analysis = "poisoned_context"
title = "Poisoned context"
url = "https://wiki.example/agents/poison"

[[runbook]]
class = "context"
tool = ["apply_*", "refund"]
title = "A document changed code"
steps = ["Revert the change"]

[[runbook]]
class = "tool"
service = "*.pay.example"
title = "Payments"
url = "http://wiki.example/pay"
"""


@pytest.fixture(scope="module")
def case() -> Case:
    return open_case(coding_agent())


def finding(case: Case, cause: str, analysis: str, *names: str) -> Finding:
    """A finding whose evidence are the runs of these names."""
    runs = [run for _, run in case.story.runs() if run.name in names]
    assert len({run.name for run in runs}) == len(names)
    first = runs[0] if runs else next(iter(case.story.steps))
    evidence = tuple(Evidence(event_id=run.event_id, seq=run.seq, what=f"{run.name} ran") for run in runs)
    return Finding(
        cause=cause, analysis=analysis, confidence=0.8, first_event=first.event_id, first_seq=first.seq, evidence=evidence, statement="A <b>cause</b>.",
    )  # fmt: skip


def title(case: Case, one: Finding) -> str | None:
    (found,) = attach([one], parse(FILE, "runbooks.toml"), case)
    return found.runbook["title"] if found.runbook else None


def test_the_one_that_asks_for_most_is_taken(case: Case) -> None:
    assert title(case, finding(case, "prompt", "prompt_changed")) == "An agent followed a document"
    assert title(case, finding(case, "context", "other_analysis", "read_file")) == "An agent followed a document"
    assert title(case, finding(case, "context", "poisoned_context", "read_file")) == "Poisoned context"
    assert title(case, finding(case, "context", "poisoned_context", "apply_patch")) == "A document changed code"
    assert title(case, finding(case, "tool", "stale_result", "bash")) is None
    assert title(case, finding(case, "model", "model_changed")) is None


def test_it_is_in_all_three_outputs(case: Case) -> None:
    (found,) = attach([finding(case, "context", "other_analysis", "read_file")], parse(FILE, "runbooks.toml"), case)
    report = dataclasses.replace(assemble(coding_agent()), findings=(found,))
    assert report.to_json()["findings"][0]["runbook"] == {
        "title": "An agent followed a document", "url": "https://wiki.example/agents/injection", "steps": ["Stop the agent", "Revoke its token"],
    }  # fmt: skip
    document = markdown.render(report)
    assert "Runbook: [An agent followed a document](<https://wiki.example/agents/injection>)" in document
    assert "- [ ] Stop the agent" in document
    page = html.render(report)
    check_page(page)
    assert 'href="https://wiki.example/agents/injection" rel="noreferrer noopener"' in page
    assert "<li>Revoke its token</li>" in page
    assert page.index('id="findings"') < page.index('id="timeline"')
    assert "A &lt;b&gt;cause&lt;/b&gt;." in page
    assert "well supported" in page


def test_without_books_findings_are_as_they_were(case: Case) -> None:
    one = finding(case, "context", "poisoned_context", "read_file")
    assert attach([one], (), case) == (one,)
    assert parse("", "x") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[runbook", "not TOML, x.toml"),
        ("[runbook]\ntitle='a'", r"has no tables \[\[runbook\]\]"),
        ("runbook = 3", r"has no tables"),
        ("[[runbooks]]", "knows no 'runbooks'"),
        ("[[runbook]]\nclass='contxt'\ntitle='a'\nurl='https://a.example'", "no class 'contxt', runbook 1 of x.toml; classes are input, context"),
        ("[[runbook]]\nclass=3", "class is not a text, or a list of texts"),
        ("[[runbook]]\nanalysis='Poisoned context'", "no name of an analysis"),
        ("[[runbook]]\ntitle='a'\nurl='https://a.example'", "for which findings"),
        ("[[runbook]]\nclass='tool'\nurl='https://a.example'", "no title"),
        ("[[runbook]]\nclass='tool'\ntitle='a'", "neither url nor steps"),
        ("[[runbook]]\nclass='tool'\ntitle='a'\nurl='javascript:alert(1)'", "not an address"),
        ("[[runbook]]\nclass='tool'\ntitle='a'\nurl='https://me:pw@a.example'", "not an address"),
        ("[[runbook]]\nclass='tool'\ntitle='a'\nsteps='one'", "steps is not a list of texts"),
        ("[[runbook]]\nclass='tool'\ntitle='a'\nsteps=['']", "steps is not a list of texts"),
        ("[[runbook]]\nclass='tool'\ntitle='a'\nlink='https://a.example'", "no key 'link'"),
        (FILE + "\n[[runbook]]\nclass='tool'", "runbook 5 of x.toml"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_its_place(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as error:
        parse(text, "x.toml")
    assert "\n" not in str(error.value)


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        parse(text, "x.toml")
    except UsageError as error:
        assert "\n" not in str(error)  # noqa: PT017


def test_every_class_can_have_one() -> None:
    text = "".join(f"[[runbook]]\nclass='{one}'\ntitle='t'\nsteps=['s']\n" for one in CLASSES)
    assert len(parse(text, "x")) == len(CLASSES)

"""What the pages show is what happens: their commands are run, and their output is compared (see ``docs_pages``)."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterator
from pathlib import Path

import docs_pages as pages
import pytest

from tachograph.testing.model_server import ModelServer, Script

RUNNABLE = [page for page in pages.PAGES if pages.steps(page)]


@contextlib.contextmanager
def model(page: Path) -> Iterator[dict[str, str]]:
    """The environment in which the page's agent finds its scripted model, where it has one."""
    script = pages.server(page)
    if script is None:
        yield {}
        return
    with ModelServer(Script.load(script)) as server:
        yield {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "sk-" + "ant-docs-0123456789abcdef"}


@pytest.mark.parametrize("page", RUNNABLE, ids=pages.name)
def test_a_page_does_what_it_shows(page: Path, tmp_path: Path) -> None:
    todo = pages.steps(page)
    with model(page) as environment:
        done = pages.run(todo, tmp_path, **environment)
    for step, (code, said) in zip(todo, done, strict=False):
        where = f"{pages.name(page)}:{step.line}: $ {step.command}"
        actual = pages.normal(said, tmp_path)
        assert code == step.exit_code, f"{where}\nended with {code}, not {step.exit_code}:\n{actual}"
        if step.expected is not None:
            expected = pages.normal(step.expected)
            if not pages.agrees(expected, actual):
                difference = difflib.unified_diff(expected.splitlines(), actual.splitlines(), "the page", "this run", lineterm="")
                pytest.fail(where + "\n" + "\n".join(difference), pytrace=False)
    assert len(done) == len(todo), f"{pages.name(page)}: the shell ended after {len(done)} of {len(todo)} steps"


def test_the_first_pages_are_run() -> None:
    """A typing error in a comment must not turn a page's test off."""
    assert {"README.md", "docs/tutorial/first-incident.md", "docs/howto/record-an-agent.md"} <= {pages.name(page) for page in RUNNABLE}


def test_what_differs_between_runs_is_no_difference_and_what_matters_is() -> None:
    one = "tacho: ses_01M8M0T2NYQMPYTW6DJ6SHT36V replayed: IDENTICAL; 7 model calls answered from the tape in 2.4 s\n"
    other = "tacho: ses_01M8M0X0K18MSPM8BCS0B9MXWM replayed: IDENTICAL; 7 model calls answered from the tape in 12.0 s\n"
    assert pages.agrees(pages.normal(one), pages.normal(other))
    for was, now in (("IDENTICAL", "DIVERGED"), ("7 model", "6 model")):
        assert not pages.agrees(pages.normal(one), pages.normal(other.replace(was, now)))
    assert pages.agrees(pages.normal("a\n…\nz"), "a\nb\nc\nz")
    assert not pages.agrees(pages.normal("a\n…\nz"), "a\nb\nc")

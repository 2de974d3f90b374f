"""What the pages name is there: other pages, files, targets, verbs and options, names of the API. And nothing generated is out of date."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import docs_pages as pages
import pytest

import tachograph
from tachograph.cli import app

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_SPAN = re.compile(r"`([^`\n]+)`")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"(?:src|tests|docs|examples|scripts|bench)/[\w./-]*\w/?")


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of the headings, as GitHub and GitLab make them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """(target, anchor) of the links within the repository."""
    for link in _LINK.findall(re.sub(r"\s*\n\s*", " ", prose(page)).replace("] (", "](")):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def spans(page: Path) -> list[str]:
    """What stands in backquotes in the text, and the commands of the blocks."""
    found = _SPAN.findall(prose(page))
    for block in pages.blocks(page):
        if block.language == "console":
            found += [command for _, command, _ in pages.commands(block)]
    return found


EXAMPLES = sorted((pages.ROOT / "examples").rglob("*.md"))
#: Not in ``docs/``, and read by people all the same.
OTHERS = [pages.ROOT / "CONTRIBUTING.md", *EXAMPLES, *sorted((pages.ROOT / "tests").rglob("README.md"))]

every_page = pytest.mark.parametrize("page", [*pages.PAGES, *OTHERS], ids=pages.name)


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in links(page):
        assert target.exists(), f"{pages.name(page)} links to {target}, which is not there"
        assert not anchor or anchor in anchors(target), (
            f"{pages.name(page)} links to #{anchor} of {pages.name(target)}, which has no such heading"
        )


def test_every_page_can_be_reached_from_the_index() -> None:
    seen: set[Path] = set()
    todo = [pages.ROOT / "docs" / "README.md"]
    while todo:
        page = todo.pop()
        if page not in seen and page.suffix == ".md":
            seen.add(page)
            todo += [target for target, _ in links(page) if target.is_file()]
    assert sorted(pages.name(page) for page in set(pages.PAGES) - seen) == []


@every_page
def test_files_that_are_named_are_there(page: Path) -> None:
    for span in _SPAN.findall(prose(page)):
        # An example's page speaks of the repository that its agent works in.
        if _FILE.fullmatch(span) and page not in EXAMPLES:
            assert (pages.ROOT / span).exists(), f"{pages.name(page)} names {span}, which is not there"


@every_page
def test_make_targets_that_are_named_are_there(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (pages.ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for span in spans(page):
        if found := re.fullmatch(r"make ([a-z-]+)", span):
            assert found[1] in targets, f"{pages.name(page)} tells to make {found[1]}; the Makefile has {', '.join(sorted(targets))}"


@every_page
def test_verbs_and_options_that_are_named_are_there(page: Path) -> None:
    for span in spans(page):
        if span.startswith("tacho ") and not span.startswith(("tacho VERB", "tacho --")):
            words = shlex.split(span.split(" | ")[0].replace("…", " "))
            assert words[1] in app.VERBS, f"{pages.name(page)} names {span!r}; there is no verb {words[1]}"
            mine = words[: words.index("--")] if "--" in words else words
            options = {word.partition("=")[0] for word in mine if word.startswith("-") and word != "-"}
            unknown = options - known_options(words[1])
            assert not unknown, f"{pages.name(page)} names {span!r}; {words[1]} has no {', '.join(unknown)}"


def known_options(verb: str) -> set[str]:
    actions = app._parser(verb)._actions
    verbs = next(action for action in actions if isinstance(action, argparse._SubParsersAction))
    return {option for action in verbs.choices[verb]._actions for option in action.option_strings}


def test_generated_parts_are_current() -> None:
    done = subprocess.run([sys.executable, str(pages.ROOT / "scripts" / "docs.py"), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_report_page_tells_every_field_of_its_own_example() -> None:
    text = (pages.ROOT / "docs" / "reference" / "replay-report.md").read_text(encoding="utf-8")
    shown = set(re.findall(r'^ {1,2}"(\w+)":', text, re.MULTILINE)) - {"model", "tool", "http", "process"}
    told = {name for row in re.findall(r"^\| (.+?) \|", text, re.MULTILINE) for name in _SPAN.findall(row)}
    inside = set(_SPAN.findall(prose(pages.ROOT / "docs" / "reference" / "replay-report.md")))
    assert shown - told - inside == set()
    assert "divergence" in shown


def test_the_api_page_and_the_package_name_the_same_things() -> None:
    text = (pages.ROOT / "docs" / "reference" / "python-api.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^### `(\w+)", text, re.MULTILINE))
    assert told == set(tachograph.__all__)
    for name in told:
        assert getattr(tachograph, name) is not None


def test_the_readme_begins_with_its_commands_and_stays_short() -> None:
    blocks = pages.blocks(pages.ROOT / "README.md")
    assert blocks[0].text == "$ make demo\n$ make test\n"
    assert len((pages.ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 160

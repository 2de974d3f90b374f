"""The team's runbooks: which page, and which first steps, go with which finding (``runbooks.toml``).

    [[runbook]]
    class = "context"                  # or a list; and, or instead, analysis = "poisoned_context"
    tool = "refund*"                   # optional: only where a tool of the evidence is called so (* and ? as in a shell)
    service = "*.pay.example"          # optional: only where a host of the evidence is called so
    title = "An agent followed a document"
    url = "https://wiki.example/agents/injection"
    steps = ["Stop the agent: …", "Revoke the refund token"]

Where several fit, the one that asks for most is taken: a tool or service before an analysis, that before a class, and of equals the first.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tachograph.core.errors import UsageError

from .analyses.contract import CLASSES, Finding
from .shapes import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .case import Case

NAME = "runbooks.toml"
#: Bytes of a file, books in it, steps of one, characters of a text.
LARGEST, _MOST, _MOST_STEPS, _LONGEST = 1 << 20, 1000, 20, 500
_KEYS = ("class", "analysis", "tool", "service", "title", "url", "steps")
_URL = re.compile(r"https?://[^\s<>\"'@\\]{1,1000}\Z")
_ANALYSIS = re.compile(r"[a-z][a-z0-9_]{0,60}\Z")


@dataclass(frozen=True, kw_only=True)
class Runbook:
    """What it is for (nothing said fits everything), and what it says."""

    classes: tuple[str, ...] = ()
    analyses: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    title: str
    url: str | None = None
    steps: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """``{"title", "url", "steps"}``, as a finding has it."""
        return {"title": self.title, "url": self.url, "steps": list(self.steps)}

    def fits(self, finding: Finding, tools: Iterable[str], services: Iterable[str]) -> int:
        """How closely it fits; 0 where it does not."""
        if (self.classes and finding.cause not in self.classes) or (self.analyses and finding.analysis not in self.analyses):
            return 0
        for patterns, names in ((self.tools, tools), (self.services, services)):
            if patterns and not any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in patterns):
                return 0
        return 1 + 8 * bool(self.tools) + 4 * bool(self.services) + 2 * bool(self.analyses) + bool(self.classes)


def parse(text: str, name: str) -> tuple[Runbook, ...]:
    """The books of a file. Raises ``UsageError`` for the first mistake in it, with its place."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"not TOML, {name} ({str(error)[:120]}); mend it there") from None
    others = [key for key in document if key != "runbook"]
    books = document.get("runbook", [])
    if others or not isinstance(books, list) or not all(isinstance(one, dict) for one in books):
        what = f"knows no {others[0][:40]!r}" if others else "has no tables [[runbook]]"
        raise UsageError(f"no runbooks, {name}: it {what}; each is a table [[runbook]] with class or analysis, and title")
    if len(books) > _MOST:
        raise UsageError(f"{len(books):,} runbooks, {name}; it takes {_MOST:,}")
    return tuple(_book(one, f"runbook {number} of {name}") for number, one in enumerate(books, 1))


def attach(findings: Iterable[Finding], books: tuple[Runbook, ...], case: Case) -> tuple[Finding, ...]:
    """The findings, each with the runbook that fits it best."""
    by_seq = {seq: run for _, run in case.story.runs() for seq in (run.seq, *run.also)} if books else {}
    return tuple(_with(finding, books, by_seq) for finding in findings)


def _with(finding: Finding, books: tuple[Runbook, ...], by_seq: dict[int, Run]) -> Finding:
    seqs = (finding.first_seq, *(one.seq for one in finding.evidence))
    runs = [each for seq in seqs if (run := by_seq.get(seq)) is not None for each in _all(run)]
    tools, services = [run.name for run in runs if run.kind == "tool"], [run.host for run in runs if run.host]
    best = max(books, key=lambda book: book.fits(finding, tools, services), default=None)
    if best is None or not best.fits(finding, tools, services):
        return finding
    return dataclasses.replace(finding, runbook=best.to_json())


def _all(run: Run) -> Iterator[Run]:
    yield run
    for child in run.children:
        if isinstance(child, Run):
            yield from _all(child)


def _book(table: dict[str, Any], where: str) -> Runbook:
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"no key {key[:40]!r}, {where}; keys are {', '.join(_KEYS)}")
    texts = {key: _texts(table, key, where) for key in ("class", "analysis", "tool", "service", "steps")}
    for one in texts["class"]:
        if one not in CLASSES:
            raise UsageError(f"no class {one[:40]!r}, {where}; classes are {', '.join(CLASSES)}")
    for one in texts["analysis"]:
        if not _ANALYSIS.match(one):
            raise UsageError(f"no name of an analysis, {one[:40]!r}, {where}; tacho postmortem --json names them (poisoned_context)")
    if not texts["class"] and not texts["analysis"]:
        raise UsageError(f"for which findings, {where}; say class = or analysis =")
    title, url = table.get("title"), table.get("url")
    if not isinstance(title, str) or not title.strip() or len(title) > _LONGEST:
        raise UsageError(f"no title, {where}; title = what a reader is to click on")
    if url is not None and (not isinstance(url, str) or not _URL.match(url)):
        raise UsageError(f"not an address, {where}; url begins with https:// and holds no user and no blanks")
    if url is None and not texts["steps"]:
        raise UsageError(f"neither url nor steps, {where}; say where the runbook is, or what to do first")
    return Runbook(
        classes=texts["class"], analyses=texts["analysis"], tools=texts["tool"], services=texts["service"], title=title.strip(), url=url,
        steps=texts["steps"],
    )  # fmt: skip


def _texts(table: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    found = table.get(key, [])
    found = [found] if isinstance(found, str) and key != "steps" else found
    if not isinstance(found, list) or not all(isinstance(one, str) and one.strip() and len(one) <= _LONGEST for one in found):
        wanted = "a list of texts" if key == "steps" else "a text, or a list of texts"
        raise UsageError(f'{key} is not {wanted} of at most {_LONGEST} characters, {where}; write {key} = ["…"]')
    if len(found) > _MOST_STEPS:
        raise UsageError(f"{len(found)} texts in {key}, {where}; it takes {_MOST_STEPS}")
    return tuple(one.strip() for one in found)

"""The findings as HTML: the likeliest root cause first, then what else contributed, by class; each with its evidence and the team's runbook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .case import counted
from .markup import Markup, el, join
from .wording import confidence_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .analyses.contract import Finding
    from .report import Report


def findings(report: Report) -> Iterator[Markup]:
    """The section's content; where there is no finding, that."""
    if not report.findings:
        yield el("p", "No analysis found a cause that this record shows. What they do not look for, they do not find.", class_="prose soft")
    first, rest = report.findings[:1], report.findings[1:]
    for one in first:
        yield _finding(one, "first")
    if rest:
        yield el("h3", "What else contributed", class_="factors")
    for cause in dict.fromkeys(one.cause for one in rest):
        yield from (_finding(one, None) for one in rest if one.cause == cause)
    if report.failed:
        names = ", ".join(str(one.get("analysis", "?")) for one in report.failed)
        yield el("p", f"{counted(len(report.failed), 'analysis', 'analyses')} could not be made: {names}.", class_="prose warn")


def _finding(one: Finding, look: str | None) -> Markup:
    sure = confidence_words(one.confidence)
    about = el("span", f" · {sure} (confidence {one.confidence:.2f}, {one.analysis.replace('_', ' ')})", class_="soft")
    evidence = [el("li", each.what, " ", link(each.seq)) for each in one.evidence if each.signal is None]
    return el(
        "div",
        el("p", el("span", one.cause, class_="class"), about),
        el("h3" if look else "h4", one.statement, " ", link(one.first_seq)),
        el("ul", evidence) if evidence else None,
        runbook(one.runbook) if one.runbook else None,
        class_=f"finding {look}" if look else "finding",
    )


def link(seq: int) -> Markup:
    """To the line of the log, wherever the page shows it."""
    return el("a", f"#{seq}", href=f"#e{seq}", class_="ref")


def runbook(book: dict[str, Any]) -> Markup:
    """What the team does about such a finding: the link leaves the page, and only where somebody follows it."""
    url, title = book.get("url"), str(book.get("title") or book.get("url") or "Runbook")
    head = el("p", "Runbook: ", away(title, str(url)) if url else title)
    steps = [el("li", str(step)) for step in book.get("steps") or ()]
    return el("div", join([head, el("ol", steps) if steps else None]), class_="runbook")


def away(words: str, url: str) -> Markup:
    """A link out of the page that tells nobody where it was followed."""
    return el("a", words, href=url, rel="noreferrer noopener")

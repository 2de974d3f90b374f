"""Signals as HTML: what other systems said, each with the place where it can be looked at, and what could not be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tachograph.core.signals import iso

from . import signalled
from .case import listed
from .html_findings import away
from .markup import Markup, el, join
from .when import offset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .case import Case


def signals(case: Case) -> Iterator[Markup]:
    """The section's content."""
    read = case.signals
    if read is None:
        return
    first, last = (el("span", iso(at), class_="whole") for at in (read.window.start, read.window.end))
    head = f"From {listed(read.asked)}, " if read.asked else "Deploys that the ledger knows of, "
    words = ". They are no part of the record, and no seal covers them." if read.asked else "."
    yield el("p", head, first, " to ", last, words, class_="prose soft")
    dated = signalled.zero(case) is not None
    rows = [
        el(
            "tr",
            el("td", offset(one.at_ms) if dated else "", class_="n"),
            el("td", iso(one.signal.at), class_="whole"),
            el("td", one.what, join([" ", away("open", one.signal.url)]) if one.signal.url else None, class_="bad" if one.bad else None),
            el("td", f"s{one.number}", id=f"es{one.number}", class_="n"),
        )
        for one in signalled.told(case)
    ]
    head = el("tr", el("th", "when", class_="n"), el("th", "time"), el("th", "what"), el("th", "signal", class_="n"))
    if rows:
        yield el(
            "div",
            el("table", el("thead", head), el("tbody", rows), class_="stack signals"),
            class_="scroll",
            tabindex=0,
            role="group",
            aria_label="Signals",
        )
    else:
        yield el("p", "Nothing was said in that time.")
    if read.missing:
        yield el("p", "Not had:", class_="warn")
        yield el("ul", (el("li", f"{one.source}: {one.why}") for one in read.missing), class_="prose warn")

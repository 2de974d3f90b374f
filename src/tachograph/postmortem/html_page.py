"""The frame of every page: what it forbids itself, its style, a way past the header, sections with names.

A page forbids itself everything by its content security policy, so that a recording full of markup stays text even where escaping were to
fail. Everything recorded goes through ``markup.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .html_style import stylesheet
from .markup import Markup, el, trusted

if TYPE_CHECKING:
    from collections.abc import Sequence

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def page(*, title: str, skip: str, header: Markup, main: Sequence[Markup], footer: str) -> str:
    """A whole document. ``skip``: the section that a reader of the keyboard can go to at once."""
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", http_equiv="Content-Security-Policy", content=POLICY),
        el("meta", name="referrer", content="no-referrer"),
        el("meta", name="robots", content="noindex"),
        el("title", title),
        el("style", trusted(stylesheet())),
    )
    body = el(
        "body",
        el("a", f"Skip to the {skip}", href=f"#{skip}", class_="skip"),
        header,
        el("main", main),
        el("footer", el("p", footer)),
    )
    return "<!doctype html>\n" + el("html", head, body, lang="en") + "\n"


def section(name: str, title: str, content: Sequence[Markup]) -> Markup:
    """A section with a heading, which links can name."""
    return el("section", el("h2", title, id=f"{name}-title"), content, id=name, aria_labelledby=f"{name}-title")

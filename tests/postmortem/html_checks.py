"""What must hold for every HTML page: balanced, self-contained, without script, with links that lead somewhere."""

from __future__ import annotations

import html
from html.parser import HTMLParser

VOID = {"meta", "br", "hr"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "nav",
    "article", "div", "span", "p", "a",
    "ul", "ol", "li", "h1", "h2", "h3", "h4", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre", "code",
    "br", "svg", "g",
    "rect", "text", "path", "line", "polyline", "defs", "pattern", "desc", "dl", "dt", "dd",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects what a page consists of; fails on an element that is not closed in its place."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.headings: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


def check_page(page: str) -> Reader:
    """Check a page and give back what was read."""
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    for link in reader.links:
        if link.startswith(("https://", "http://")):  # followed by a person only, and it tells nobody from where
            assert f'href="{html.escape(link)}" rel="noreferrer noopener"' in page, link
            continue
        assert link.startswith("#")
        assert link[1:] in reader.ids, link
    assert not {name for name in reader.attributes if name.startswith("on") or name == "src"}
    assert "http-equiv" in reader.attributes
    page.encode()
    return reader

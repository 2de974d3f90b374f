"""What harnesses put into a prompt beside the person's words: documents, files and memories between tags or under headings.

A prompt that was put together says itself where its pieces came from: ``<document>…</document>``, ``Context:``, ``<memory>…``. Those pieces are
told from the words around them. Only marks that are in use are known, and a piece without an end reaches to the end of its text. Linear.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .sources import Kind

_TAGS: dict[str, Kind] = {
    **dict.fromkeys(
        ("document", "documents", "doc", "docs", "context", "retrieved_context", "retrieved_documents", "search_result", "search_results", "results",
         "source", "sources", "knowledge", "passage", "passages", "web_page", "webpage", "article", "excerpt", "excerpts"), "document"),
    **dict.fromkeys(("file", "files", "file_content", "file_contents", "open_file", "open_files", "attached_file", "attached_files"), "file"),
    **dict.fromkeys(
        ("memory", "memories", "memory_block", "memory_blocks", "core_memory", "user_memories", "summary", "conversation_summary", "previous_summary",
         "previous_conversation", "session_summary"), "memory"),
}  # fmt: skip
_TAG = re.compile(r"<(/?)([a-z][a-z_-]{1,30})((?:\s[^<>\n]{0,300})?)>", re.IGNORECASE)
_NAME = re.compile(r"""(?:name|title|path|source|file|filename|url|id)\s{0,3}=\s{0,3}["']([^"'\n]{1,200})["']""", re.IGNORECASE)
_HEADING = re.compile(
    r"^(?:#{1,6} |\*\*)?(?:the )?(?:(?:relevant|retrieved|related|additional|following|background) )?"
    r"(?P<what>documents?|context|search results|sources|passages|excerpts|knowledge base|articles|"
    r"memor(?:y|ies)|memory from earlier sessions|notes from earlier sessions|conversation summary|summary of the conversation so far)"
    r"(?: information)?(?: is below| are below| below)?\.?:?(?:\*\*)?:?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
#: A line with which what a heading announced is over.
_OVER = re.compile(
    r"^(?:#{1,6} |\*\*\w|(?:question|query|user(?: question| message| request)?|task|request|instructions?|answer|helpful answer|human)\b[^\n:]{0,40}:"
    r"|given the context\b|using the (?:above|context)\b|based on the (?:above|context)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_MOST_TAGS = 20_000


def split(text: str) -> Iterator[tuple[Kind | None, str | None, int, int]]:
    """(kind, name, begin, end) of the pieces of a text, in order and without gaps; the kind is ``None`` for the words themselves. Nested pieces
    count as the outermost of another kind, and take the innermost's name where they are told apart by it."""
    found = sorted([*_tagged(text), *_headed(text)], key=lambda one: (one[2], -one[3]))
    at = 0
    for kind, name, begin, end in found:
        if begin < at:
            continue
        if begin > at:
            yield None, None, at, begin
        yield kind, name, begin, end
        at = end
    if at < len(text) or not text:
        yield None, None, at, len(text)


def _tagged(text: str) -> Iterator[tuple[Kind, str | None, int, int]]:
    if "<" not in text:
        return
    open_tag, kind, name, begin, depth = "", None, None, 0, 0
    for number, match in enumerate(_TAG.finditer(text)):
        if number > _MOST_TAGS:
            break
        tag = match[2].lower().replace("-", "_")
        closes = bool(match[1])
        if kind is None:
            if not closes and tag in _TAGS and not match[3].endswith("/"):
                open_tag, kind, begin, depth = tag, _TAGS[tag], match.start(), 1
                named = _NAME.search(match[3])
                name = named[1] if named is not None else None
        elif tag == open_tag:
            depth += -1 if closes else 1
            if depth == 0:
                yield kind, name, begin, match.end()
                kind = None
        elif name is None and not closes and (named := _NAME.search(match[3])) is not None:
            name = named[1]
    # A tag that nobody closed is a word in angle brackets, and opens nothing.


def _headed(text: str) -> Iterator[tuple[Kind, str | None, int, int]]:
    at = 0
    for match in _HEADING.finditer(text):
        if match.start() < at or match.end() == len(text):
            continue
        over = _OVER.search(text, match.end())
        at = over.start() if over is not None else len(text)
        what = match["what"].lower()
        kind: Kind = "memory" if what.startswith(("memor", "notes", "conversation", "summary")) else "document"
        if text[match.end() : at].strip():
            yield kind, None, match.end(), at

"""What is hidden in a text from a person who reads it, and not from a model: comments, elements that are not shown, characters without a shape, base64."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMENT = re.compile(r"<!--(.{1,4000}?)-->", re.DOTALL)
_STYLED = re.compile(r"<(\w{1,12})[^<>]{0,200}(?:display:\s?none|font-size:\s?0|visibility:\s?hidden|color:\s?(?:white|#fff)|opacity:\s?0|\bhidden\b)[^<>]{0,200}>([^<]{1,4000})<", re.IGNORECASE)  # fmt: skip
_INVISIBLE = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff\u00ad]")
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,4000}")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,8000}={0,2}(?![A-Za-z0-9+/=])")


def layers(text: str) -> Iterator[tuple[str, str]]:
    """The text as a reader sees it, and what is hidden in it, each with where."""
    if "<" in text:
        for match in _COMMENT.finditer(text):
            yield match.group(1), "in a comment"
        for match in _STYLED.finditer(text):
            yield match.group(2), "in an element that is not shown"
        text = _COMMENT.sub("\n", text)
    plain = text.isascii()
    tagged = [] if plain else [match.group() for match in _TAGS.finditer(text)]
    for run in tagged:
        yield "".join(chr(ord(character) - 0xE0000) for character in run), "in characters that are not shown"
    if not plain and _INVISIBLE.search(text):
        bare = _INVISIBLE.sub("", text)
        for line, shown in zip(text.split("\n"), bare.split("\n"), strict=True):
            if len(line) - len(shown) >= 3:
                yield shown, "between characters that are not shown"
        text = bare
    for match in _BASE64.finditer(text) if _has_base64(text) else ():
        decoded = _base64(match.group())
        if decoded:
            yield decoded, "in base64"
    yield text, ""


def unhidden(text: str) -> str:
    """The text with what is hidden in it behind it: without characters that are not shown, and with what was encoded."""
    if (text.isascii() or not (_INVISIBLE.search(text) or _TAGS.search(text))) and not _has_base64(text):
        return text
    return "\n".join([_INVISIBLE.sub("", text), *(piece for piece, hidden in layers(text) if hidden)])


def _has_base64(text: str) -> bool:
    """Whether anything in a text is long enough to be text in base64, and looks like it."""
    return max(map(len, text.split()), default=0) >= 24 and _BASE64.search(text) is not None


def _base64(word: str) -> str:
    try:
        data = base64.b64decode(word + "=" * (-len(word) % 4), validate=True)
        said = data.decode()
    except (binascii.Error, ValueError):
        return ""
    return said if said.isprintable() and " " in said.strip() else ""

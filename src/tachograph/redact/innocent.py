"""JSON texts in which nothing can be found, told without walking them: most of what a service answers is such.

In a text without a backslash every string stands as it is, between quotes. So what the prefilter does not see in the text is in none of its
strings either, and what is left are names: of members, and of the first of two strings in a list. These are few different ones. Of the stems
of names that the prefilter saw, those in harmless names of members say nothing: ``"input_tokens": 12``.

Where the only escapes are those of one character, the same is true of the text with them undone (``undone``). It is no JSON any more, but
each string of the JSON stands in it, between quotes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence

from tachograph.redact.document import holds_value

#: A string, whether it is the first of a list, and what is behind it.
_STRING = re.compile(r'(\[?)\s*"([^"]*)"\s*([:,]?)')
_ESCAPED_STRING = re.compile(r'(\[?)\s*"([^"\\]*(?:\\.[^"\\]*)*)"\s*([:,]?)', re.DOTALL)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
#: A string that may be JSON itself, with strings of its own.
_INNER = re.compile(r'"(?:\s|\\[nrt])*[\[{][^"\\]*(?:\\[^"][^"\\]*)*\\"')
#: A name beside which a stem says nothing, whatever the text says otherwise.
_WORD = re.compile(r"\w{1,64}\Z", re.ASCII)
_SIMPLE = (("\\n", "\n"), ('\\"', '"'), ("\\t", "\t"), ("\\r", "\r"), ("\\/", "/"))


def undone(text: str) -> str | None:
    """A text of JSON with its escapes undone, if these are ``\\\\n``, ``\\\\"``, ``\\\\t``, ``\\\\r``, ``\\\\/`` and ``\\\\\\\\``; else None."""
    if "\\" not in text:
        return text
    parts = text.split("\\\\")
    for number, part in enumerate(parts):
        if "\\" in part:
            for written, meant in _SIMPLE:
                part = part.replace(written, meant)
            if "\\" in part:
                return None
            parts[number] = part
    return "\\".join(parts)


def innocent(text: str, stems: Sequence[int], telling: Callable[[str], bool]) -> bool:
    """Whether nothing is found in a text that is JSON (with a backslash in it that must be certain), if the prefilter saw nothing in it but stems, at these places of what is ``undone``.
    ``telling``: whether a name says something about what is called so."""
    escaped = "\\" in text
    if escaped and _INNER.search(text):
        return False
    pattern = _ESCAPED_STRING if escaped else _STRING
    for opened, string, behind in set(pattern.findall(text)):
        if behind == ":":
            if "\\" in string or holds_value(string) or string == "kty" or telling(string):
                return False
        elif opened and behind and ("\\" in string or telling(string)):
            return False
    if not stems:
        return True
    escapes = [match.start() for match in _ESCAPE.finditer(text)] if escaped else []
    inside = 0
    for match in pattern.finditer(text):
        if match[3] == ":" and _WORD.match(match[2]):
            low, high = match.span(2)
            shift = bisect_left(escapes, low)  # each of them is a character shorter when it is undone
            inside += sum(low - shift <= at < high - shift for at in stems)
    return inside == len(stems)

"""JSON texts in which nothing can be found, told without reading them as JSON: most of what a service answers is such.

In a text without a backslash every string stands as it is, between quotes. So what the prefilter does not see in the text is in none of its
strings either, and what is left are names: of members, and of the first of two strings in a list. These are few different ones. Of the stems
of names that the prefilter saw, those in harmless names of members say nothing: ``"input_tokens": 12``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tachograph.redact.document import holds_value

#: A string, whether it is the first of a list, and what is behind it.
_STRING = re.compile(r'(\[?)\s*"([^"]*)"\s*([:,]?)')
#: A name beside which a stem says nothing, whatever the text says otherwise.
_WORD = re.compile(r"\w{1,64}\Z", re.ASCII)


def innocent(text: str, stems: Sequence[int], telling: Callable[[str], bool]) -> bool:
    """Whether nothing is found in a text that is JSON, if the prefilter saw nothing in it but stems, at these places. ``telling``: whether a
    name says something about what is called so."""
    if "\\" in text:
        return False
    for opened, string, behind in set(_STRING.findall(text)):
        if behind == ":":
            if holds_value(string) or string == "kty" or telling(string):
                return False
        elif opened and behind and telling(string):
            return False
    if not stems:
        return True
    inside = 0
    for match in _STRING.finditer(text):
        if match[3] == ":" and _WORD.match(match[2]):
            low, high = match.span(2)
            inside += sum(low <= at < high for at in stems)
    return inside == len(stems)

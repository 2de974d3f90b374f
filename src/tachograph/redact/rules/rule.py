"""What a rule is: facts about the shape of one kind of secret.

A rule is tried where one of its keywords stands, so its cost is that of a literal search, and its keywords are part of its meaning. Very few
have none and are searched for.

- ``reach`` 0 (the default): the pattern is matched at the keyword, which is the beginning of the match.
- ``reach`` n: the match may begin up to n characters before the keyword (the pattern is searched from there).
- ``inside``: the keyword is part of an unbroken run of at least ``RUN`` characters out of letters, digits, ``_ - . ~``: true for every
  token with a prefix, and what lets the engine pass over ordinary words in one step.
- ``gate``: a literal that every keyword of a rule outside such runs contains; it is looked for first.
- ``sign``: a pattern that matches in every text in which the rule's own does, and is looked for more quickly; by default its own. Of a rule
  without keywords it ends at most ``SIGN`` characters behind the beginning of a match, which is no longer than that either.
- ``group`` is what gets masked: 0 for the whole match.
- ``entropy`` is the least Shannon entropy of the masked part, in bits per character: a variable name is not a token.

Patterns are linear: no nested quantifiers, every repetition bounded or over one character class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Characters. The shortest run that can hold a token.
RUN = 15

#: No text is longer.
_ANYWHERE = 1 << 62

#: Characters. The longest match of a rule that has a sign and no keyword.
SIGN = 160

#: What ends in a letter or digit and is still no part of a token: an escape (``\n``, ``%3D``, ``\u0022``) or a terminal's colour
#: (``ESC[1;94m``).
_ESCAPE = (
    r"(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"
    r"|(?<=\[m)|(?<=[\[;]\dm)|(?<=[\[;]\d\dm)|(?<=[\[;]\d\d\dm)"
)

#: The left edge of a token: no letter or digit before it, unless that one belongs to an escape.
LEFT = rf"(?:(?<![A-Za-z0-9])|{_ESCAPE})"

#: The same for prefixes that are also words: no ``-`` or ``_`` either.
LEFT_WORD = rf"(?:(?<![A-Za-z0-9_-])|{_ESCAPE})"

#: The same for tokens without any separator: base64 is full of them unless its own characters count as inside, too.
LEFT_BASE64 = rf"(?:(?<![A-Za-z0-9_+/-])|{_ESCAPE})"
RIGHT_BASE64 = r"(?![A-Za-z0-9+/])"

#: The right edge of a token of fixed length.
RIGHT = r"(?![A-Za-z0-9])"

#: The same where ``-`` and ``_`` could belong to the token.
RIGHT_WORD = r"(?![\w-])"

#: What documentation writes in a token's place. No random token has such a word in it.
_WORDS = ("EXAMPLE", "Example", "PLACEHOLDER", "REDACTED", "REPLACE_", "INSERT_", "YOUR_", "your-", "XXXXXXXX", "xxxxxxxx")

#: No such word in the token that begins here.
NO_EXAMPLE = rf"(?![\w~-]{{0,90}}(?:{'|'.join(_WORDS)}))"


class Expression:
    """A regular expression that is compiled when it is first tried: compiling them all would be a third of the start-up time of
    ``tacho record``, and a session meets the keywords of a few."""

    __slots__ = ("_compiled", "flags", "pattern")

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = int(flags)
        self._compiled: re.Pattern[str] | None = None

    def match(self, text: str, at: int) -> re.Match[str] | None:
        """As ``re.Pattern.match``."""
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self.flags)
        return self._compiled.match(text, at)

    def finditer(self, text: str, low: int = 0, high: int = _ANYWHERE) -> Iterator[re.Match[str]]:
        """As ``re.Pattern.finditer``."""
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self.flags)
        return self._compiled.finditer(text, low, high)

    @property
    def groups(self) -> int:
        """How many groups it has."""
        return re.compile(self.pattern, self.flags).groups


@dataclass(frozen=True)
class Rule:
    """One shape. ``kind`` ends up in the placeholder; the examples are checked by the tests."""

    id: str
    kind: str
    keywords: tuple[str, ...]
    pattern: Expression
    group: int = 0
    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    reach: int = 0
    inside: bool = True
    gate: str = ""
    entropy: float = 0.0
    sign: str = ""


def token(
    id: str,  # noqa: A002 -- it is the rule's name for what it is
    body: str,
    *keywords: str,
    positive: tuple[str, ...],
    negative: tuple[str, ...],
    kind: str = "",
    left: str = LEFT,
    entropy: float = 1.5,
    unless: str = NO_EXAMPLE,
) -> Rule:
    """A token that begins with one of its keywords. ``body`` is the whole token's pattern, prefix included; ``unless`` is a look-ahead
    that says what it is not."""
    return Rule(
        id=id,
        kind=kind or id,
        keywords=keywords,
        pattern=Expression(left + unless + body, re.ASCII),
        positive=positive,
        negative=negative,
        entropy=entropy,
    )

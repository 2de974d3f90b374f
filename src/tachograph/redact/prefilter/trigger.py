"""What must be in a text for a finder to find anything in it."""

from __future__ import annotations

from dataclasses import dataclass

#: The place of a hit where a matcher cannot tell.
ANYWHERE = -1

#: The pattern of a trigger that is in every text with a character outside of ASCII: matchers know that without looking.
OUTSIDE = r"[^\x00-\x7f]"


@dataclass(frozen=True)
class Trigger:
    """One of ``literals`` is in every text in which the finder finds something, and so is a match of ``pattern``. There is one of the two
    at least, and literals where there can be: not every matcher knows patterns.

    ``literals``: ASCII, none empty. ``caseless``: in either case (of ASCII letters); lower-case here.
    ``pattern``, ``flags``: a regular expression of Python's ``re``; what it says about its surroundings is not used.
    ``tail``: 0 if the finder only wants to know that it is there. Else it wants each place: this many characters before the end of a match
    of the one literal, or of the pattern.
    ``run``: so many letters, digits and ``+ / _ = -`` in a row are in the text, too, where the pattern does not say so.
    """

    literals: tuple[str, ...]
    pattern: str = ""
    flags: int = 0
    caseless: bool = False
    tail: int = 0
    run: int = 0

    def __post_init__(self) -> None:
        if not (self.literals or self.pattern) or not all(self.literals) or not all(literal.isascii() for literal in self.literals):
            raise ValueError(f"a trigger needs a pattern, or literals in ASCII; it has {self.literals!r}")
        if self.tail and bool(self.pattern) == (len(self.literals) == 1):
            raise ValueError("places are those of one literal, or of a pattern")


def places(literal: str) -> Trigger:
    """Every place of a literal, in either case."""
    return Trigger((literal,), caseless=True, tail=len(literal))

"""What must be in a text for a finder to find anything in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trigger:
    """One of ``literals`` is in every text in which the finder finds something, and so is a match of ``pattern``. There is one of the two
    at least, and literals where there can be: not every matcher knows patterns.

    ``literals``: ASCII, none empty. ``caseless``: in either case (of ASCII letters); lower-case here.
    ``pattern``, ``flags``: a regular expression of Python's ``re``; what it says about its surroundings is not used.
    ``every``: the finder wants each place of the one literal, else only to know that it is there.
    """

    literals: tuple[str, ...]
    pattern: str = ""
    flags: int = 0
    caseless: bool = False
    every: bool = False

    def __post_init__(self) -> None:
        if not (self.literals or self.pattern) or not all(self.literals) or not all(literal.isascii() for literal in self.literals):
            raise ValueError(f"a trigger needs a pattern, or literals in ASCII; it has {self.literals!r}")
        if self.every and (len(self.literals) != 1 or self.pattern):
            raise ValueError("only a single literal has places")

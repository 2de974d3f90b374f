"""A pattern for a byte matcher that matches wherever a pattern of Python's ``re`` does, and maybe elsewhere.

The bytes are the text with ``?`` for every character outside of ASCII, so a character is a byte and everything that accepts such a character
must accept ``?``. What is lost, always towards more matches:

- look-around in the middle, word boundaries and ends go; the character that may stand before or behind a match is matched with it, or a
  line break or a quote in its place; a back reference becomes its group once more, groups are not captured;
- long repetitions are shortened: at least ``LEAST`` times, and without an upper bound. Big counts are what makes a database big.

``run`` says of a pattern how long a word must be in a text for it to match at all.

Python's own parser does the reading. It is no public interface, so whoever calls this must cope with ``UnsupportedError``.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

#: Repetitions. Enough to tell a token from a word.
LEAST = 24
#: Repetitions. Bounded ones up to here stay bounded, and exact ones up to there exact.
_MOST = 8
_EXACT = 36

#: Of the text, or of what a scanner of JSON or of lines takes out of it and scans by itself.
_BEGINNING = r"(?:^|[\x0a\x22])"

_PARSER: Any = getattr(re, "_parser", None)
#: Beside what such a scanner takes out there is nothing, and in the whole text one of these.
_EDGES = frozenset(b'\n"')
_ASCII = frozenset(range(128))
_OUTSIDE = ord("?")
#: Letters that some character outside of ASCII equals when case is ignored: dotless i, long s, the Kelvin sign.
_FOLDED = frozenset(b"iksIKS")


class UnsupportedError(ValueError):
    """A construct that has no counterpart here."""


def superset(pattern: str, flags: int = 0, *, shorten: bool = True) -> str:
    """The pattern for the matcher, in ASCII. Without ``shorten`` a match is never longer or shorter than one of the pattern can be. Raises
    ``UnsupportedError``."""
    if _PARSER is None:
        raise UnsupportedError("this Python keeps its parser elsewhere")
    try:
        parsed = _PARSER.parse(pattern, flags)
        return _Translation(shorten=shorten).sequence(parsed, parsed.state.flags, head=True, tail=True)
    except (re.error, AttributeError, TypeError, KeyError, ValueError, RecursionError) as error:
        raise UnsupportedError(f"{pattern[:80]!r}: {error}") from error


#: What ``run`` counts: the characters of nearly every token.
_RUN = frozenset(c for c in _ASCII if chr(c).isalnum() or chr(c) in "_-")


def run(pattern: str, flags: int = 0) -> int:
    """Letters, digits, ``_`` and ``-`` that stand in a row in every match of a pattern: the most that can be said for sure, 0 for what is not
    understood."""
    if _PARSER is None:
        return 0
    try:
        parsed = _PARSER.parse(pattern, flags)
        return _in_row(parsed, parsed.state.flags).longest
    except (re.error, AttributeError, TypeError, KeyError, ValueError, RecursionError):
        return 0


class _Row(NamedTuple):
    """Of what some piece of a pattern matches: such characters in a row at least, at its beginning, anywhere, at its end; and whether
    it is nothing else."""

    first: int
    longest: int
    last: int
    whole: bool

    def then(self, other: _Row) -> _Row:
        return _Row(
            self.first + other.first * self.whole,
            max(self.longest, other.longest, self.last + other.first),
            other.last + self.last * other.whole,
            self.whole and other.whole,
        )


_NOTHING = _Row(0, 0, 0, whole=True)
_ANYTHING = _Row(0, 0, 0, whole=False)
_ONE = _Row(1, 1, 1, whole=True)


def _in_row(items: Any, flags: int) -> _Row:
    row = _NOTHING
    for code, argument in items:
        row = row.then(_row(str(code), argument, flags))
    return row


def _row(op: str, argument: Any, flags: int) -> _Row:
    if op in ("AT", "ASSERT", "ASSERT_NOT"):
        return _NOTHING
    if op in ("LITERAL", "IN"):
        chars, outside = _members(argument, flags) if op == "IN" else _cased({argument}, flags)
        return _ONE if chars <= _RUN and not outside else _ANYTHING
    if op == "SUBPATTERN":
        _, added, removed, inner = argument
        return _in_row(inner, (flags | added) & ~removed)
    if op == "ATOMIC_GROUP":
        return _in_row(argument, flags)
    if op == "BRANCH":
        rows = [_in_row(branch, flags) for branch in argument[1]]
        return _Row(
            min(row.first for row in rows),
            min(row.longest for row in rows),
            min(row.last for row in rows),
            whole=all(row.whole for row in rows),
        )
    if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, _, inner = argument
        row = _in_row(inner, flags)
        if not least:
            return _NOTHING if row.whole else _ANYTHING
        count = least * row.first
        return _Row(count, count, count, whole=True) if row.whole else row
    return _ANYTHING


class _Translation:
    def __init__(self, *, shorten: bool) -> None:
        self.shorten = shorten
        self.groups: dict[int, str] = {}

    def sequence(self, items: Any, flags: int, *, head: bool = False, tail: bool = False) -> str:
        """``head``, ``tail``: nothing is matched before it, or behind it. There the one character that may stand beside is matched with it."""
        out = []
        for position, (code, argument) in enumerate(items):
            op = str(code)
            side = argument[0] if op in ("ASSERT", "ASSERT_NOT") else 0
            if (head and side < 0) or (tail and side > 0 and op == "ASSERT_NOT" and position == len(items) - 1):
                out.append(_beside(_neighbours(op, argument[1], flags), "^" if side < 0 else "$"))
                head = head and side > 0
            elif head and op in ("SUBPATTERN", "BRANCH") and (free := _edges(op, argument, flags)) is not None:
                out.append(_beside(free, "^"))
                head = False
            elif not side:
                out.append(self.item(op, argument, flags))
                head = head and op == "AT"
        return "".join(out)

    def item(self, op: str, argument: Any, flags: int) -> str:
        if op == "AT":
            return _BEGINNING if str(argument) in ("AT_BEGINNING", "AT_BEGINNING_STRING") and not flags & re.MULTILINE else ""
        if op == "LITERAL":
            return _set(*_cased({argument}, flags))
        if op == "NOT_LITERAL":
            return _set(_ASCII - {argument}, outside=True)
        if op == "ANY":
            return _set(_ASCII if flags & re.DOTALL else _ASCII - {0x0A}, outside=True)
        if op == "IN":
            return _class(argument, flags)
        if op == "BRANCH":
            return f"(?:{'|'.join(self.sequence(branch, flags) for branch in argument[1])})"
        if op == "SUBPATTERN":
            group, added, removed, inner = argument
            made = f"(?:{self.sequence(inner, (flags | added) & ~removed)})"
            if group is not None:
                self.groups[group] = made
            return made
        if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, inner = argument
            return self.repeat(least, most, inner, flags)
        if op == "ATOMIC_GROUP":
            return f"(?:{self.sequence(argument, flags)})"
        if op == "GROUPREF":
            return self.groups[argument]
        if op == "GROUPREF_EXISTS":
            _, yes, no = argument
            return f"(?:{self.sequence(yes, flags)}|{self.sequence(no, flags) if no else ''})"
        raise UnsupportedError(op)

    def repeat(self, least: int, most: int, inner: Any, flags: int) -> str:
        made = f"(?:{self.sequence(inner, flags)})" if len(inner) != 1 else self.sequence(inner, flags)
        if made in ("", "(?:)") or most == 0:
            return ""
        top = "" if most is _PARSER.MAXREPEAT else str(int(most))
        if self.shorten and int(most) > (_EXACT if least == most else _MOST):
            least, top = min(int(least), LEAST), ""
        return f"(?:{made}){{{int(least)},{top}}}"


def _edges(op: str, argument: Any, flags: int) -> AbstractSet[int] | None:
    """The characters that may stand before a match that a group of alternatives looks back from; None where it does anything else."""
    if op == "SUBPATTERN":
        _, added, removed, inner = argument
        if len(inner) != 1:
            return None
        return _edges(str(inner[0][0]), inner[0][1], (flags | added) & ~removed)
    if op == "BRANCH":
        free: AbstractSet[int] = set()
        for branch in argument[1]:
            if len(branch) != 1 or str(branch[0][0]) not in ("ASSERT", "ASSERT_NOT") or branch[0][1][0] > 0:
                return None
            free |= _neighbours(str(branch[0][0]), branch[0][1][1], flags)
        return free
    return None


def _neighbours(op: str, inner: Any, flags: int) -> AbstractSet[int]:
    """The characters that may stand beside a match, by what it says about them: all, where that is more than one character."""
    if not len(inner) or str(inner[-1][0]) not in ("IN", "LITERAL") or (op == "ASSERT_NOT" and len(inner) != 1):
        return _ASCII
    code, argument = inner[-1]
    if op == "ASSERT":  # behind, so that the last of several stands beside the match
        chars, outside = _members(argument, flags) if str(code) == "IN" else _cased({argument}, flags)
        return chars | {_OUTSIDE} if outside else chars
    if flags & re.IGNORECASE and str(code) == "IN" and str(argument[0][0]) == "NEGATE":
        return _ASCII  # more is in that class than ``_members`` can leave out
    return _ASCII - (_members(argument, flags)[0] if str(code) == "IN" else {argument}) | {_OUTSIDE}


def _beside(chars: AbstractSet[int], anchor: str) -> str:
    """One of them, or nothing: as at the edges of the text, or of what a scanner takes out of it."""
    return "" if chars == _ASCII else f"(?:{anchor}|{_set(frozenset(chars | _EDGES), outside=False)})"


def _cased(chars: set[int], flags: int) -> tuple[frozenset[int], bool]:
    """With the other case where case is ignored; and whether characters outside of ASCII are among them."""
    outside = any(c > 127 for c in chars)
    if flags & re.IGNORECASE:
        both = {ord(other) for c in chars for other in (chr(c).lower(), chr(c).upper()) if len(other) == 1}
        chars = chars | both
        outside |= not flags & re.ASCII and bool(chars & _FOLDED)
        outside |= any(c > 127 for c in chars)
    return frozenset(c for c in chars if c < 128), outside


def _class(items: Any, flags: int) -> str:
    chars, outside = _members(items, flags)
    return _set(frozenset(chars), outside)


def _members(items: Any, flags: int) -> tuple[AbstractSet[int], bool]:
    """The characters of a class that are ASCII, and whether others are in it. Never fewer than there are."""
    chars: set[int] = set()
    outside = negated = False
    for op, argument in items:
        if str(op) == "NEGATE":
            negated = True
        elif str(op) == "LITERAL":
            chars.add(argument)
        elif str(op) == "RANGE":
            low, high = argument
            outside |= high > 127
            chars |= set(range(low, min(high, 127) + 1))
        elif str(op) == "CATEGORY":
            name = str(argument).removeprefix("CATEGORY_")
            inside = _category(name.removeprefix("NOT_"), flags)
            chars |= _ASCII - inside if name.startswith("NOT_") else inside
            outside |= name.startswith("NOT_") or not flags & re.ASCII
        else:
            raise UnsupportedError(str(op))
    if negated:
        return _ASCII - chars, True
    cased, more = _cased(chars, flags)
    return cased, outside or more


def _category(name: str, flags: int) -> frozenset[int]:
    """The members of ``\\d``, ``\\s`` or ``\\w`` that are ASCII."""
    if name == "DIGIT":
        return frozenset(c for c in _ASCII if chr(c).isdecimal())
    if name == "SPACE":
        return frozenset(b" \t\n\r\f\v") if flags & re.ASCII else frozenset(c for c in _ASCII if chr(c).isspace())
    if name == "WORD":
        return frozenset(c for c in _ASCII if chr(c).isalnum() or c == 0x5F)
    raise UnsupportedError(name)


def _set(chars: frozenset[int], outside: bool) -> str:
    """A class of bytes."""
    if outside:
        chars = chars | {_OUTSIDE}
    if not chars:
        raise UnsupportedError("a class of nothing")
    if len(chars) == 1:
        return _byte(next(iter(chars)))
    out = []
    ordered = sorted(chars)
    at = 0
    while at < len(ordered):
        to = at
        while to + 1 < len(ordered) and ordered[to + 1] == ordered[to] + 1:
            to += 1
        out.append(f"{_byte(ordered[at])}-{_byte(ordered[to])}" if to > at else _byte(ordered[at]))
        at = to + 1
    return f"[{''.join(out)}]"


def _byte(number: int) -> str:
    """Short where that is safe: the matcher takes no pattern of more than 16,000 characters."""
    return chr(number) if chr(number).isalnum() else f"\\x{number:02x}"

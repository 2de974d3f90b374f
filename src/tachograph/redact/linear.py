"""Is a regular expression one whose cost no text can blow up?

Python's engine goes back: ``(a+)+b`` takes time that doubles with each character. A pattern of a user's own is refused unless

- every repetition has an end, and that is at most ``LONGEST``;
- no repetition of varying length is inside of another one, but for a few rounds of a short one (``(?:\\d{1,3}\\.){3}``);
- repetitions that could share characters between them (``\\w{0,50}\\w{0,50}``) have at most ``WAYS`` ways of doing so;
- it refers to no earlier group.

Then a match at one place costs at most a constant, and the whole search is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

_parser: Any = re._parser  # type: ignore[attr-defined]  # the only parser of Python's dialect there is
_constants: Any = re._constants  # type: ignore[attr-defined]

#: Characters that one repetition may take.
LONGEST = 8192
#: Ways to share characters between repetitions.
WAYS = 20_000
#: Rounds of a repetition with another one inside, and the rounds of that one.
_ROUNDS, _INNER = 8, 64

#: What stands for all characters: ASCII, and one that is not.
_ALL = frozenset((*range(128), 0x3B1))


class Shape(NamedTuple):
    """``literals``: literal texts that every match holds, each with the most characters that may come before it (-1: unknown)."""

    literals: tuple[tuple[str, int], ...]
    longest: int
    groups: dict[str, int]


class _Varying(NamedTuple):
    """A repetition of varying length: what it can take, and in how many ways."""

    characters: frozenset[int]
    ways: int


def trouble(pattern: str, flags: int = 0) -> str | None:
    """Why a pattern is not taken, in words that follow "the pattern …"; None for a good one."""
    try:
        parsed = _parser.parse(pattern, flags)
    except re.error as error:
        return f"does not compile: {error}"
    except RecursionError:
        return "is nested too deeply"
    if parsed.state.flags & (re.IGNORECASE | re.LOCALE | re.VERBOSE):
        return "has a flag in it; keywords are looked for as they are spelt, so write both cases, [Aa]"
    try:
        _walk(parsed, inside=1)
    except _RefusedError as error:
        return str(error)
    if parsed.getwidth()[0] == 0:
        return "matches nothing at all"
    return None


def shape(pattern: str, flags: int = 0) -> Shape:
    """What every match holds. For patterns without ``trouble``."""
    parsed = _parser.parse(pattern, flags)
    return Shape(tuple(_literals(parsed)), parsed.getwidth()[1], dict(parsed.state.groupdict))


class _RefusedError(Exception):
    pass


def _literals(parsed: Any) -> Iterator[tuple[str, int]]:
    text, before, at = "", 0, 0
    for op, argument in parsed:
        if op is _constants.LITERAL:
            before = at if not text else before
            text += chr(argument)
            at += 1
            continue
        if text:
            yield text, before
            text = ""
        if op is _constants.SUBPATTERN:
            yield from ((found, at + offset) for found, offset in _literals(argument[3]))
        at += _width(op, argument)[1]
    if text:
        yield text, before


def _width(op: Any, argument: Any) -> tuple[int, int]:
    single = _parser.SubPattern(_parser.State(), [(op, argument)])
    low, high = single.getwidth()
    return int(low), int(min(high, 1 << 20))


def _walk(parsed: Any, inside: int) -> list[_Varying]:
    """The varying repetitions of a sequence that may still share characters with what follows. ``inside``: rounds of those around."""
    open_: list[_Varying] = []
    for op, argument in parsed:
        if op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT):
            open_ = _repeat(argument, open_, inside)
        elif op is _constants.SUBPATTERN:
            open_ = _joined(open_, argument[3], inside)
        elif op is _constants.ATOMIC_GROUP:
            open_ = _joined(open_, argument, inside)
        elif op is _constants.BRANCH:
            ends = [found for branch in argument[1] for found in _joined(open_, branch, inside)]
            open_ = [max(ends, key=lambda each: each.ways)] if ends else []
            if ends:
                open_ = [_Varying(frozenset().union(*(each.characters for each in ends)), open_[0].ways)]
        elif op in (_constants.GROUPREF, _constants.GROUPREF_EXISTS):
            raise _RefusedError("refers to an earlier group, which no bound on its cost can be given for")
        elif op in (_constants.ASSERT, _constants.ASSERT_NOT):
            _walk(argument[1], inside)
        elif op is not _constants.AT:
            taken = _characters(op, argument)
            open_ = [each for each in open_ if each.characters & taken]
    return open_


def _joined(open_: list[_Varying], parsed: Any, inside: int) -> list[_Varying]:
    """What a group leaves open, where ``open_`` is open before it."""
    own = _walk(parsed, inside)
    if not own:
        taken = _all_of(parsed)
        return [each for each in open_ if each.characters & taken]
    return [_together(open_, each) for each in own]


def _together(open_: list[_Varying], new: _Varying) -> _Varying:
    ways, characters = new.ways, new.characters
    for each in open_:
        if each.characters & characters:
            ways *= each.ways
            characters |= each.characters
    if ways > WAYS:
        raise _RefusedError(
            f"has repetitions side by side that can share characters in {ways} ways; at most {WAYS} are taken: bound them more tightly"
        )
    return _Varying(characters, ways)


def _repeat(argument: Any, open_: list[_Varying], inside: int) -> list[_Varying]:
    low, high, body = int(argument[0]), argument[1], argument[2]
    if high is _constants.MAXREPEAT or high > LONGEST:
        raise _RefusedError(f"has a repetition without an end; give each one, {{1,200}} for +, at most {LONGEST}")
    high = int(high)
    varying = high > low
    if varying and inside > 1 and (inside > _ROUNDS or high > _INNER):
        raise _RefusedError("has a repetition inside of a repetition; unfold it, or write at most 8 rounds of at most 64 characters")
    _walk(body, inside * high if high > 1 else inside)
    taken = _all_of(body)
    if not varying:
        return [each for each in open_ if each.characters & taken] if low else open_
    made = _together(open_, _Varying(taken, high - low + 1))
    # What may be absent leaves open what was open before it.
    return [made, *(each for each in open_ if not each.characters & taken)] if low == 0 else [made]


def _all_of(parsed: Any) -> frozenset[int]:
    out: frozenset[int] = frozenset()
    for op, argument in parsed:
        if op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT):
            out |= _all_of(argument[2])
        elif op is _constants.SUBPATTERN:
            out |= _all_of(argument[3])
        elif op is _constants.ATOMIC_GROUP:
            out |= _all_of(argument)
        elif op is _constants.BRANCH:
            out |= frozenset().union(*map(_all_of, argument[1]))
        elif op not in (_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT):
            out |= _characters(op, argument)
    return out


def _characters(op: Any, argument: Any) -> frozenset[int]:
    if op is _constants.LITERAL:
        return frozenset((argument if argument < 128 else 0x3B1,))
    if op is _constants.NOT_LITERAL:
        return _ALL - {argument}
    if op is _constants.IN:
        items = list(argument)
        negated = bool(items) and items[0][0] is _constants.NEGATE
        found = frozenset().union(*(_characters(*item) for item in items[negated:])) if items[negated:] else frozenset()
        return _ALL - found if negated else found
    if op is _constants.RANGE:
        return frozenset(c for c in _ALL if argument[0] <= c <= argument[1]) | ({0x3B1} if argument[1] >= 128 else frozenset())
    if op is _constants.CATEGORY:
        name = str(argument)
        tests: dict[str, Callable[[str], bool]] = {"DIGIT": str.isdigit, "SPACE": str.isspace, "WORD": lambda c: c.isalnum() or c == "_"}
        test = tests[name.rpartition("_")[2]]
        return frozenset(c for c in _ALL if test(chr(c)) is not ("NOT" in name))
    return _ALL

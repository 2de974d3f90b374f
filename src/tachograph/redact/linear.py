"""Is a regular expression one whose cost no text can blow up?

Python's engine goes back: ``(a+)+b`` takes time that doubles with each character. A pattern of a user's own is refused unless

- every repetition has an end, and that is at most ``LONGEST``;
- no repetition of varying length is inside of another one, but for a few rounds of a short one (``(?:\\d{1,3}\\.){3}``);
- whatever is repeated can be cut into its rounds in one way only: at each choice inside of it (go on or not, which alternative) the next
  characters decide, as in regular expressions that are *one-unambiguous* (Brüggemann-Klein and Wood, 1998);
- repetitions and alternatives that could share characters between them (``\\w{0,50}\\w{0,50}``) have at most ``WAYS`` ways of doing so;
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

_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_SEVERAL = (
    "has a repetition inside of a repetition, or alternatives, that a text can be cut into in several ways; end each round with a character "
    r"that is not inside of it, as (?:\d{1,3}\.){3} does, or unfold it"
)

#: What stands for all characters beyond ASCII: a letter, a digit, a space.
_BEYOND = frozenset((0x3B1, 0x663, 0x2003))
#: What stands for all characters.
_ALL = frozenset(range(128)) | _BEYOND


class Shape(NamedTuple):
    """``literals``: literal texts that every match holds, each with the most characters that may come before it (-1: unknown)."""

    literals: tuple[tuple[str, int], ...]
    longest: int
    groups: dict[str, int]


class _Varying(NamedTuple):
    """A part of varying length, or of several readings: what it can take, in how many ways, and how many of these the end settles."""

    characters: frozenset[int]
    ways: int
    ends: int

    @property
    def left(self) -> int:
        """Ways that are left once it is known where the part ends."""
        return -(-self.ways // self.ends)


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
        _walk(parsed, 1, [])
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


def _walk(parsed: Any, inside: int, open_: list[_Varying]) -> list[_Varying]:
    """The varying parts that may still share characters with what follows a sequence, where ``open_`` may with the sequence. ``inside``:
    rounds of the repetitions around."""
    for op, argument in parsed:
        if op in _REPEATS:
            open_ = _repeat(argument, open_, inside)
        elif op is _constants.SUBPATTERN:
            open_ = _walk(argument[3], inside, open_)
        elif op is _constants.ATOMIC_GROUP:
            open_ = _walk(argument, inside, open_)
        elif op is _constants.BRANCH:
            open_ = _branch(argument[1], open_, inside)
        elif op in (_constants.GROUPREF, _constants.GROUPREF_EXISTS):
            raise _RefusedError("refers to an earlier group, which no bound on its cost can be given for")
        elif op in (_constants.ASSERT, _constants.ASSERT_NOT):
            _walk(argument[1], inside, [])
        elif op is not _constants.AT:
            open_ = _after(open_, _characters(op, argument))
    return open_


def _after(open_: list[_Varying], taken: frozenset[int]) -> list[_Varying]:
    """What is open after one of ``taken`` has to come. It tells where the others end, but not which of several readings they had: those
    multiply with all that follows."""
    out = []
    for each in open_:
        if each.characters & taken:
            out.append(each)
        elif each.left > 1:
            out.append(_Varying(_ALL, each.left, 1))
    return out


def _branch(branches: list[Any], open_: list[_Varying], inside: int) -> list[_Varying]:
    found = [_walk(branch, inside, open_) for branch in branches]
    ways = [max((each.ways for each in ends), default=1) for ends in found]
    left = max((each.left for ends in found for each in ends), default=1)
    firsts = [_first(branch) for branch in branches]
    overlap = not all(_apart(one, other) for at, one in enumerate(branches) for other in branches[:at])
    if not overlap and not any(nullable for _, nullable in firsts):
        # The next characters choose; no more ways than the worst of them has.
        characters = frozenset[int]().union(*(each.characters for ends in found for each in ends))
        return [_Varying(characters, max(ways), max(1, max(ways) // left))] if any(found) else []
    characters = frozenset[int]().union(*map(_all_of, branches), *(each.characters for ends in found for each in ends))
    return [_bounded(_Varying(characters, sum(ways), 1 if overlap else max(1, sum(ways) // left)))]


def _together(open_: list[_Varying], new: _Varying) -> _Varying:
    characters, ways, ends = new
    for each in open_:
        if each.characters & characters:
            ways *= each.ways
            ends = max(ends, each.ends)
            characters |= each.characters
    return _bounded(_Varying(characters, ways, ends))


def _bounded(each: _Varying) -> _Varying:
    if each.ways > WAYS:
        raise _RefusedError(
            f"has repetitions or alternatives side by side that can share characters in {each.ways} ways; at most {WAYS} are taken: "
            "bound them more tightly"
        )
    return each


def _repeat(argument: Any, open_: list[_Varying], inside: int) -> list[_Varying]:
    low, high, body = int(argument[0]), argument[1], argument[2]
    if high is _constants.MAXREPEAT or high > LONGEST:
        raise _RefusedError(f"has a repetition without an end; give each one, {{1,200}} for +, at most {LONGEST}")
    high = int(high)
    if high > low and inside > 1 and (inside > _ROUNDS or high > _INNER):
        raise _RefusedError("has a repetition inside of a repetition; unfold it, or write at most 8 rounds of at most 64 characters")
    if high == 1 and low == 1:
        return _walk(body, inside, open_)
    own = _walk(body, inside * max(high, 1), [])
    if high == 1 and own:
        return _branch([body, []], open_, inside)
    if high > 1:
        first, nullable = _first(body)
        if nullable:
            raise _RefusedError(_SEVERAL)
        _decided(body, first)
    taken = _all_of(body)
    shortest, longest = map(int, body.getwidth())
    ways = high - low + 1 if shortest == longest else high * longest - low * shortest + 1
    if low:
        open_ = _after(open_, taken)
    if ways == 1:
        return open_
    made = _together(open_, _Varying(taken, ways, ways))
    # What may be absent leaves open what was open before it.
    return [made, *(each for each in open_ if not each.characters & taken)]


def _first(parsed: Any) -> tuple[frozenset[int], bool]:
    """The characters that a sequence can begin with, and whether it can be empty."""
    out: frozenset[int] = frozenset()
    for op, argument in parsed:
        if op in _REPEATS:
            found, empty = _first(argument[2])
            empty = empty or not argument[0]
        elif op is _constants.SUBPATTERN:
            found, empty = _first(argument[3])
        elif op is _constants.ATOMIC_GROUP:
            found, empty = _first(argument)
        elif op is _constants.BRANCH:
            each = [_first(branch) for branch in argument[1]]
            found, empty = frozenset[int]().union(*(one[0] for one in each)), any(one[1] for one in each)
        elif op in (_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT):
            continue
        else:
            found, empty = _characters(op, argument), False
        out |= found
        if not empty:
            return out, False
    return out, True


def _apart(one: Any, other: Any) -> bool:
    """Whether no text begins with something for both alternatives: they differ in their first character, or in one of those that each
    of them begins with whatever follows (``bar|baz``)."""
    return not _first(one)[0] & _first(other)[0] or any(not left & right for left, right in zip(_lead(one), _lead(other), strict=False))


def _lead(parsed: Any) -> list[frozenset[int]]:
    """What can stand at each of the first places of a sequence, up to its first part that is more than one character."""
    out = []
    for op, argument in parsed:
        if op in (*_REPEATS, _constants.SUBPATTERN, _constants.ATOMIC_GROUP, _constants.BRANCH):
            break
        if op not in (_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT):
            out.append(_characters(op, argument))
    return out


def _decided(parsed: Any, follow: frozenset[int]) -> None:
    """Refuse a repeated sequence in which the next character does not decide each choice. ``follow``: what can come after it, the first
    characters of the next round among them."""
    items = list(parsed)
    for at, (op, argument) in enumerate(items):
        after, empty = _first(items[at + 1 :])
        after = after | follow if empty else after
        if op in _REPEATS:
            low, high, body = argument
            first, nullable = _first(body)
            if high > low and (nullable or first & after):
                raise _RefusedError(_SEVERAL)
            _decided(body, after | first if high > 1 else after)
        elif op is _constants.SUBPATTERN:
            _decided(argument[3], after)
        elif op is _constants.ATOMIC_GROUP:
            _decided(argument, after)
        elif op is _constants.BRANCH:
            branches = argument[1]
            apart = all(_apart(one, other) for at, one in enumerate(branches) for other in branches[:at])
            empties = [_first(branch) for branch in branches if _first(branch)[1]]
            others = frozenset[int]().union(*(_first(branch)[0] for branch in branches))
            if not apart or len(empties) > 1 or (empties and others & after):
                raise _RefusedError(_SEVERAL)
            for branch in branches:
                _decided(branch, after)


def _all_of(parsed: Any) -> frozenset[int]:
    out: frozenset[int] = frozenset()
    for op, argument in parsed:
        if op in _REPEATS:
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
        return frozenset((argument,)) if argument < 128 else _BEYOND
    if op is _constants.NOT_LITERAL:
        return (_ALL - {argument}) | _BEYOND
    if op is _constants.IN:
        items = list(argument)
        negated = bool(items) and items[0][0] is _constants.NEGATE
        found = frozenset().union(*(_characters(*item) for item in items[negated:])) if items[negated:] else frozenset()
        # That some characters beyond ASCII are left out does not leave out the others.
        return (_ALL - found) | _BEYOND if negated else found
    if op is _constants.RANGE:
        return frozenset(c for c in range(128) if argument[0] <= c <= argument[1]) | (_BEYOND if argument[1] >= 128 else frozenset())
    if op is _constants.CATEGORY:
        name = str(argument)
        tests: dict[str, Callable[[str], bool]] = {"DIGIT": str.isdigit, "SPACE": str.isspace, "WORD": lambda c: c.isalnum() or c == "_"}
        test = tests[name.rpartition("_")[2]]
        return frozenset(c for c in _ALL if test(chr(c)) is not ("NOT" in name))
    return _ALL

"""Runs of code that a file and a text have in common, and whose each line is by them. Pure.

Code is compared as tokens, without white space, quotes, commas, parentheses and semicolons: what formatters put in and take out. Functions share
idioms, so a line alone proves little: what counts is the longest run of tokens around it that somebody wrote, and each written token accounts
for one in the file. So of two equal loops, of which a session wrote one, it gets the one that stands among its own code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

Tokens = tuple[str, ...]

_TOKEN = re.compile(r"\w+|[^\w\s]")
_IGNORED = frozenset("'\"`,();")
#: Tokens of the shortest run, and its characters.
SHORTEST = 3
FEWEST = 8
#: Of a sequence that stands at more places of a file than this, only so many are looked at.
MOST_PLACES = 100
#: Characters of the shortest run in a text that is known to be of another file.
ELSEWHERE = 80
#: The part of a line that must be in runs of one session.
PART = 0.6
#: Characters of a word that can tell two writers apart.
TELLING = 4
#: Characters of the shortest run that is not chance, in its own file and in another one; and of what is looked at around a run.
SURE = 40
SURE_ELSEWHERE = 240
AROUND = 60


class Written(Protocol):
    """A text that a session wrote."""

    @property
    def session_id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def seq(self) -> int: ...
    @property
    def ts(self) -> str: ...
    @property
    def path(self) -> str | None: ...
    @property
    def tool(self) -> bool: ...
    @property
    def tokens(self) -> Tokens: ...


@dataclass(frozen=True)
class Found:
    """The write that a line is from. ``chars``: of the longest run around it; ``place``: the write is of this file; ``sole``: no other session wrote as
    long a run; ``own``: the run has all of the line, and a word that is in this file by this session alone, and is no idiom that the session wrote at several places."""

    write: Written
    chars: int
    place: bool
    sole: bool
    own: bool


@dataclass(frozen=True)
class _Run:
    chars: int
    first: int
    last: int
    write: int
    at: int


def tokens(text: str) -> Tokens:
    """The tokens of a text that formatters leave alone."""
    return tuple(token for token in _TOKEN.findall(text) if token not in _IGNORED)


def attribute(
    lines: Sequence[str], writes: Sequence[Written], allowed: Callable[[int, Written], bool], same: Callable[[Written], bool],
    other: Callable[[str], str | None] = lambda _: None,
) -> list[Found | None]:  # fmt: skip
    """For each line of a file the write that it is from. ``allowed``: whether a line (from 0) can be of a write (its commit says so, the times
    agree); ``same``: whether a write is of this file; ``other``: what is in another file now. What a session wrote there and is there still was
    not moved here: somebody wrote the like of it."""
    file = _File(lines)
    placed = [same(write) for write in writes]
    runs: list[_Run] = []
    others: dict[str, str] = {}
    for number, write in enumerate(writes):
        elsewhere = not placed[number] and write.path is not None
        text = write.tokens
        found = file.runs(number, text, lambda line, write=write: allowed(line, write), ELSEWHERE if elsewhere else FEWEST)  # type: ignore[misc]
        if not elsewhere:
            runs += found
            continue
        for run in found:
            assert write.path is not None
            if write.path not in others:
                others[write.path] = _spaced(tokens(other(write.path) or ""))
            if _spaced(text[run.at : run.at + run.last - run.first]) not in others[write.path]:
                runs.append(run)
    strength = {"said": 2, "call": 1, "seen": 0}
    runs.sort(
        key=lambda run: (
            -strength[writes[run.write].kind],
            -run.chars,
            not placed[run.write],
            not writes[run.write].tool,
            writes[run.write].ts,
        )
    )
    owner: list[_Run | None] = [None] * len(file.tokens)
    spent: set[tuple[int, int]] = set()
    rivals: list[dict[str, int]] = [{} for _ in file.tokens]
    for run in runs:
        session = writes[run.write].session_id
        for at in range(run.first, run.last):
            known = rivals[at].get(session, 0)
            if writes[run.write].kind == "said":
                rivals[at][session] = max(known, run.chars)
            here = (run.write, run.at + at - run.first)
            if owner[at] is None and here not in spent:
                owner[at] = run
                spent.add(here)
    whose: dict[str, set[str | None]] = {}
    for token, by in zip(file.tokens, owner, strict=True):
        whose.setdefault(token, set()).add(writes[by.write].session_id if by is not None else None)
    idioms = _Idioms(file, writes)
    return [_line(file, number, owner, writes, placed, rivals, whose, idioms) for number in range(len(lines))]


class _Idioms:
    """What a session wrote again and again: the same run, with something else around it."""

    def __init__(self, file: _File, writes: Sequence[Written]) -> None:
        self._file = file
        self._writes = writes
        self._texts: dict[str, list[str]] = {}
        self._known: dict[tuple[int, int, str], bool] = {}

    def has(self, run: _Run) -> bool:
        session = self._writes[run.write].session_id
        name = (run.first, run.last, session)
        if name not in self._known:
            if session not in self._texts:
                self._texts[session] = [_spaced(write.tokens) for write in self._writes if write.session_id == session]
            self._known[name] = self._again(_spaced(tuple(self._file.tokens[run.first : run.last])), self._texts[session])
        return self._known[name]

    @staticmethod
    def _again(run: str, texts: list[str]) -> bool:
        around: set[tuple[str, str]] = set()
        for text in texts:
            at = text.find(run)
            while at >= 0:
                end = at + len(run)
                around.add((text[max(0, at - AROUND) : at], text[end : end + AROUND]))
                at = text.find(run, at + 1)
        return len(around) > 1


def _spaced(found: Tokens) -> str:
    return " " + " ".join(found) + " "


def _line(
    file: _File, number: int, owner: list[_Run | None], writes: Sequence[Written], placed: list[bool], rivals: list[dict[str, int]],
    whose: dict[str, set[str | None]], idioms: _Idioms,
) -> Found | None:  # fmt: skip
    span = file.spans[number]
    by: Counter[str] = Counter()
    every = 0
    for at in span:
        every += len(file.tokens[at])
        if (run := owner[at]) is not None:
            by[writes[run.write].session_id] += len(file.tokens[at])
    if not by:
        return None
    session, chars = by.most_common(1)[0]
    if chars < PART * every:
        return None
    mine = [run for at in span if (run := owner[at]) is not None and writes[run.write].session_id == session]
    best = max(mine, key=lambda run: (run.chars, writes[run.write].kind == "said"))
    other = max((length for at in span for rival, length in rivals[at].items() if rival != session), default=0)
    own = any(len(token) >= TELLING and whose[token] == {session} for token in file.tokens[best.first : best.last])
    whole = span.start >= best.first and span.stop <= best.last
    return Found(writes[best.write], best.chars, placed[best.write], other < best.chars, whole and own and not idioms.has(best))


class _File:
    """The tokens of a file, by place."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.tokens: list[str] = []
        self.spans: list[range] = []
        self._line_of: list[int] = []
        for number, line in enumerate(lines):
            found = tokens(line)
            self.spans.append(range(len(self.tokens), len(self.tokens) + len(found)))
            self.tokens += found
            self._line_of += [number] * len(found)
        self._places: dict[Tokens, list[int]] = {}
        for at in range(len(self.tokens) - SHORTEST + 1):
            self._places.setdefault(tuple(self.tokens[at : at + SHORTEST]), []).append(at)

    def runs(self, number: int, text: Tokens, allowed: Callable[[int], bool], least: int) -> Iterable[_Run]:
        """The longest runs that the file and a text have in common, in the lines that are allowed."""
        mine, line_of = self.tokens, self._line_of
        lines: dict[int, bool] = {}
        for at, sequence in enumerate(zip(*(text[n:] for n in range(SHORTEST)), strict=False)):
            if sequence not in self._places:
                continue
            for place in self._places[sequence][:MOST_PLACES]:
                if at and place and mine[place - 1] == text[at - 1] and self._may(lines, line_of[place - 1], allowed):
                    continue  # it began before
                end, chars = place, 0
                while end < len(mine) and at + end - place < len(text) and mine[end] == text[at + end - place]:
                    if not self._may(lines, line_of[end], allowed):
                        break
                    chars += len(mine[end])
                    end += 1
                if chars >= least:
                    yield _Run(chars, place, end, number, at)

    @staticmethod
    def _may(known: dict[int, bool], line: int, allowed: Callable[[int], bool]) -> bool:
        if line not in known:
            known[line] = allowed(line)
        return known[line]

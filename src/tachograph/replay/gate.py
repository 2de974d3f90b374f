"""The order of answers. Completions are released as they were recorded, whatever the live agent's scheduling, so concurrency replays.

Pure: the player tells what the agent did (``begin``, ``ask``, ``drop``), and takes what is due (``next``), when nothing that the agent does by
itself can come before it any more: when it is at rest, or alone.

The sequence holds the pieces of answers, and the *turns*: timers that fired, sleeps that were over, work that was done. An entry is held back
while an earlier one is outstanding, which the agent has not asked for yet. A call whose recorded finish came earlier cannot depend on one that
finished later, so for a deterministic agent holding back is safe, and where the agent is at rest and the next piece is of a call that nobody
has asked for (``missing``), nobody can ever ask for it. A turn that nobody asks for decides nothing, and is passed over (``skip``).
"""

from __future__ import annotations

import bisect
import collections
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .tape import ROUNDS, SAME_ROUND, SLEPT, Mark, Piece, TapeCall

#: Entries of threads that are looked past for the next one of a loop.
_PAST = 64
#: Turns in a loop that are asked for in an earlier round.
_BEFORE = ("soon", "timer")
#: What starts the name of a lane that is a process of its own.
_PROCESSES = ("mp-", "fork-", "worker-", "proc-")
#: Turns of those who have what they waited for: they were woken, it was done.
_SOFT = ("woken", "joined", "done", "set", "work", "soon", "got", "put")


@dataclass(frozen=True)
class Delivery:
    """One piece for one call."""

    call: TapeCall
    piece: Piece


class Gate:
    """The session-wide sequence, and how far it is. An entry's owner is a call or, by the numbers that follow, a turn."""

    def __init__(self, calls: list[TapeCall], marks: Sequence[Mark] = ()) -> None:
        self._calls = calls
        self._marks = marks
        first = len(calls)
        self._sequence = sorted(
            [
                *((piece.order, number, place) for number, call in enumerate(calls) for place, piece in enumerate(call.pieces)),
                *((mark.order, first + number, 0) for number, mark in enumerate(marks)),
            ]
        )
        self._number = {id(call): number for number, call in enumerate(calls)}
        self._left = [len(call.pieces) for call in calls] + [1] * len(marks)
        self._at = 0
        #: By process: how many rounds after what was given last in its loop that came which was passed over since; none where the loop
        #: has slept in between.
        self._apart: dict[str, int] = {}
        #: In the loop of which process that was what was given last, if it was in one.
        self._looped: str | None = None
        self._process: dict[str, str] = {}
        self._live: set[int] = set()
        self._dropped: set[int] = {number for number, call in enumerate(calls) if call.covered}
        #: The turns by name, those to come first; and by lane, lanes in order.
        self._turns: dict[tuple[str, str, int], collections.deque[int]] = {}
        self._by_lane: dict[str, list[int]] = {}
        for number, mark in enumerate(marks, first):
            if "/proc-" in mark.lane:
                self._dropped.add(number)  # inside of a command, which is answered
                continue
            self._turns.setdefault((mark.lane, mark.kind, mark.value), collections.deque()).append(number)
            self._by_lane.setdefault(mark.lane, []).append(number)
        self._lanes = sorted(self._by_lane)

    # -- what the agent does ---------------------------------------------------------------------------------------------

    def begin(self, call: TapeCall) -> None:
        """The agent asked for this call."""
        number = self._number[id(call)]
        if self._left[number]:
            self._live.add(number)

    def ask(self, lane: str, what: str, number: int) -> int | None:
        """The agent may go on when it is this turn. Returns the owner, or None: it never comes."""
        waiting = self._turns.get((lane, what, number))
        while waiting:
            owner = waiting.popleft()
            if owner not in self._dropped:
                self._live.add(owner)
                return owner
        return None

    def passed(self, lane: str, what: str, number: int) -> bool:
        """Whether this turn was recorded; if ``ask`` does not hold it, it is over, or was passed over."""
        return (lane, what, number) in self._turns

    def drop(self, call: TapeCall) -> None:
        """Nothing more of this call is wanted (the agent closed it, or a tool that contains it was answered)."""
        self.withdraw(self._number[id(call)])

    def withdraw(self, owner: int) -> None:
        """Nothing more of this call, or this turn, is wanted."""
        self._dropped.add(owner)
        self._live.discard(owner)

    def cover(self, base: str) -> None:
        """A tool was answered, and does not run: what it would have waited for, in lanes from ``base`` on, will not be asked for."""
        for lane in self._lanes[bisect.bisect_left(self._lanes, base) :]:
            if not lane.startswith(base):
                break
            if lane == base or lane[len(base)] == "/":
                self._dropped.update(self._by_lane[lane])

    # -- what is due -----------------------------------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        """Whether the agent has asked for what is next."""
        owner = self._next()
        return owner is not None and owner in self._live

    @property
    def together(self) -> int:
        """If what is next is due, and is of the same event loop as what was given last, which did not sleep between the two: how many rounds of
        the loop it came later, with 1 for the same round. Else 0."""
        if not self.due:
            return 0
        at, _, rounds = self._follower()
        return rounds if at == self._at else 0

    @property
    def held(self) -> int:
        """As ``together``, of what comes next in that loop where that is not what is next, or not asked for yet. The loop must not sleep until then, so
        it is to be stopped there. 0 where it may be in that very round that the loop asks for it."""
        _, owner, rounds = self._follower()
        if owner < 0 or owner in self._live:
            return rounds
        mark = self._owner(owner)
        return rounds if isinstance(mark, Mark) and mark.kind.startswith(_BEFORE) else 0

    def _follower(self) -> tuple[int, int, int]:
        """The next entry of the loop of what was given last: its place, its owner, and the rounds between them with 1 for none. (-1, -1, 0) where
        there is none, or the loop slept."""
        apart = None if self._looped is None else self._apart.get(self._looped)
        if apart is None:
            return -1, -1, 0
        for at in range(self._at, min(self._at + _PAST, len(self._sequence))):
            order, owner, _ = self._sequence[at]
            code = order & ROUNDS
            if not code or self._of(owner) != self._looped:
                continue
            if code == SLEPT:
                break
            apart += code - SAME_ROUND
            if owner not in self._dropped:
                return at, owner, apart + 1
        return -1, -1, 0

    def _of(self, owner: int) -> str:
        """Which process an entry is of: the part of its lane that names it."""
        lane = self._owner(owner).lane
        process = self._process.get(lane)
        if process is None:
            parts = lane.split("/")
            while parts and not parts[-1].startswith(_PROCESSES):
                parts.pop()
            process = self._process[lane] = "/".join(parts)
        return process

    @property
    def waiting(self) -> list[TapeCall | Mark]:
        """What was asked for and has something to come."""
        return [self._owner(number) for number in sorted(self._live)]

    @property
    def missing(self) -> TapeCall | Mark | None:
        """Whose the next entry is, where nobody has asked for it."""
        owner = self._next()
        return None if owner is None or owner in self._live else self._owner(owner)

    def upcoming(self, skip: int, most: int) -> Iterator[TapeCall]:
        """The calls of the pieces that follow, but for the first ``skip`` of these pieces; as far as each is one that nobody has asked for, and
        no turn comes between but those inside of the tools themselves."""
        self._next()
        for at in range(self._at, len(self._sequence)):
            number = self._sequence[at][1]
            if number >= len(self._calls):
                if number in self._dropped or "/tool-" in self._marks[number - len(self._calls)].lane:
                    continue
                return
            if number in self._dropped or number in self._live or most <= 0:
                return
            if skip > 0:
                skip -= 1
            else:
                most -= 1
                yield self._calls[number]

    @staticmethod
    def soft(mark: Mark) -> bool:
        """Whether it is the turn of somebody who has what he waited for, or would have had it at once."""
        return mark.kind.partition(" ")[0] in _SOFT

    def unstick(self) -> int | None:
        """Out of turn: the owner of the first turn whose asker has what it waited for, and only waits for its place in the order."""
        for owner in sorted(self._live):
            if owner >= len(self._calls) and self.soft(self._marks[owner - len(self._calls)]):
                self.withdraw(owner)
                return owner
        return None

    def skip(self) -> None:
        """Pass over the turn that is next."""
        owner = self._next()
        if owner is not None:
            self._dropped.add(owner)

    def next(self) -> Delivery | int | None:
        """The next entry, if it is due: a piece, or the owner of a turn."""
        owner = self._next()
        if owner is None or owner not in self._live:
            return None
        order, _, place = self._sequence[self._at]
        self._at += 1
        self._looped = self._of(owner) if order & ROUNDS else None
        if self._looped is not None:
            self._apart[self._looped] = 0
        self._left[owner] -= 1
        if not self._left[owner]:
            self._live.discard(owner)
        if owner >= len(self._calls):
            return owner
        call = self._calls[owner]
        return Delivery(call, call.pieces[place])

    def _next(self) -> int | None:
        sequence, dropped = self._sequence, self._dropped
        while self._at < len(sequence):
            owner = sequence[self._at][1]
            if owner not in dropped:
                return owner
            code = sequence[self._at][0] & ROUNDS
            if code:
                process = self._of(owner)
                if code == SLEPT:
                    self._apart.pop(process, None)
                elif process in self._apart:
                    self._apart[process] += code - SAME_ROUND
            self._at += 1
        return None

    def _owner(self, number: int) -> TapeCall | Mark:
        return self._calls[number] if number < len(self._calls) else self._marks[number - len(self._calls)]

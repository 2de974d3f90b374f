"""The order of answers. Completions are released as they were recorded, whatever the live agent's scheduling, so concurrency replays.

Pure: the player tells what the agent did (``begin``, ``drop``), and takes what is due (``next``), when nothing that the agent does by itself
can come before it any more: when it is at rest, or alone.

A piece is held back while an earlier one is outstanding, whose call has not been asked for yet. A call whose recorded finish came earlier
cannot depend on one that finished later, so for a deterministic agent holding back is safe, and where the agent is at rest and the next
piece is of a call that nobody has asked for (``missing``), nobody can ever ask for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from .tape import Piece, TapeCall


@dataclass(frozen=True)
class Delivery:
    """One piece for one call."""

    call: TapeCall
    piece: Piece


class Gate:
    """The session-wide sequence of pieces, and how far it is."""

    def __init__(self, calls: list[TapeCall]) -> None:
        self._sequence = sorted(
            ((piece.order, number, place) for number, call in enumerate(calls) for place, piece in enumerate(call.pieces)),
        )
        self._calls = calls
        self._number = {id(call): number for number, call in enumerate(calls)}
        self._left = [len(call.pieces) for call in calls]
        self._at = 0
        self._live: set[int] = set()
        self._dropped: set[int] = {number for number, call in enumerate(calls) if call.covered}

    def begin(self, call: TapeCall) -> None:
        """The agent asked for this call."""
        number = self._number[id(call)]
        if self._left[number]:
            self._live.add(number)

    def drop(self, call: TapeCall) -> None:
        """Nothing more of this call is wanted (the agent closed it, or a tool that contains it was answered)."""
        number = self._number[id(call)]
        self._dropped.add(number)
        self._live.discard(number)

    @property
    def due(self) -> bool:
        """Whether the next piece is of a call that was asked for."""
        self._skip()
        return self._at < len(self._sequence) and self._sequence[self._at][1] in self._live

    @property
    def waiting(self) -> list[TapeCall]:
        """The calls that were asked for and have pieces to come."""
        return [self._calls[number] for number in sorted(self._live) if self._left[number]]

    @property
    def missing(self) -> TapeCall | None:
        """The call that the next piece is of, where nobody has asked for it."""
        self._skip()
        if self._at >= len(self._sequence) or self._sequence[self._at][1] in self._live:
            return None
        return self._calls[self._sequence[self._at][1]]

    def upcoming(self, skip: int, most: int) -> Iterator[TapeCall]:
        """The calls of the pieces that follow, but for the first ``skip`` of these pieces; as far as each is one that nobody has asked for."""
        self._skip()
        for _, number, _ in itertools.islice(self._sequence, self._at + skip, self._at + skip + most):
            if number in self._dropped or number in self._live:
                return
            yield self._calls[number]

    def next(self) -> Delivery | None:
        """The next piece, if it is due."""
        if not self.due:
            return None
        _, number, place = self._sequence[self._at]
        self._at += 1
        self._left[number] -= 1
        if not self._left[number]:
            self._live.discard(number)
        call = self._calls[number]
        return Delivery(call, call.pieces[place])

    def _skip(self) -> None:
        while self._at < len(self._sequence) and self._sequence[self._at][1] in self._dropped:
            self._at += 1

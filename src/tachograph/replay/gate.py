"""The order of answers. Completions are released as they were recorded, whatever the live agent's scheduling, so concurrency replays.

Pure: the player tells what the agent did (``begin``, ``close``, ``taken``), and takes what may be delivered now (``next``).

A piece is held back while an earlier one is outstanding: its call has not been asked for yet, or it was delivered to another lane whose
agent code has not had its turn. A call whose recorded finish came earlier cannot depend on one that finished later, so for a deterministic
agent holding back is safe. When everything waits on a piece that nobody asks for, ``unstick`` lets the earliest waiting one go, and
counts it: the order was not kept there.
"""

from __future__ import annotations

from dataclasses import dataclass

from .tape import Piece, TapeCall


@dataclass(frozen=True)
class Delivery:
    """One piece for one call. ``acknowledge``: the client is to say when it has had its effect."""

    call: TapeCall
    piece: Piece
    acknowledge: bool


class Gate:
    """The session-wide sequence of pieces, and how far it is."""

    def __init__(self, calls: list[TapeCall]) -> None:
        self._sequence = sorted(
            ((piece.order, number, place) for number, call in enumerate(calls) for place, piece in enumerate(call.pieces)),
        )
        self._calls = calls
        self._number = {id(call): number for number, call in enumerate(calls)}
        self._at = 0
        self._live: set[int] = set()
        self._dropped: set[int] = {number for number, call in enumerate(calls) if call.covered}
        self._out_of_turn: set[tuple[int, int]] = set()
        self._unacknowledged: TapeCall | None = None
        self.reordered = 0

    def begin(self, call: TapeCall) -> None:
        """The agent asked for this call."""
        self._live.add(self._number[id(call)])

    def drop(self, call: TapeCall) -> None:
        """Nothing more of this call is wanted (the agent closed it, or a tool that contains it was answered)."""
        self._dropped.add(self._number[id(call)])
        if self._unacknowledged is call:
            self._unacknowledged = None

    def taken(self, call: TapeCall | None = None) -> None:
        """The last acknowledged delivery has had its effect. ``call`` None: whatever it was."""
        if call is None or call is self._unacknowledged:
            self._unacknowledged = None

    @property
    def outstanding(self) -> TapeCall | None:
        """The call whose acknowledgement is due."""
        return self._unacknowledged

    def next(self) -> Delivery | None:
        """The next piece that may go out now."""
        if self._unacknowledged is not None:
            return None
        self._skip()
        if self._at >= len(self._sequence):
            return None
        _, number, place = self._sequence[self._at]
        if number not in self._live:
            return None
        self._at += 1
        return self._deliver(number, place)

    def waiting(self) -> bool:
        """Whether a call that was asked for still has pieces due."""
        return any(number in self._live for _, number, _ in self._pending())

    def unstick(self) -> Delivery | None:
        """Out of turn: the earliest piece of a call that waits."""
        self._unacknowledged = None
        for _, number, place in self._pending():
            if number in self._live:
                self._out_of_turn.add((number, place))
                self.reordered += 1
                return self._deliver(number, place)
        return None

    def _pending(self) -> list[tuple[int, int, int]]:
        return [
            entry for entry in self._sequence[self._at :] if entry[1] not in self._dropped and (entry[1], entry[2]) not in self._out_of_turn
        ]

    def _skip(self) -> None:
        while self._at < len(self._sequence):
            _, number, place = self._sequence[self._at]
            if number not in self._dropped and (number, place) not in self._out_of_turn:
                return
            self._at += 1

    def _deliver(self, number: int, place: int) -> Delivery:
        call = self._calls[number]
        self._skip()
        following = self._sequence[self._at][1] if self._at < len(self._sequence) else number
        # Only where somebody else already waits for the next piece can the order of wake-ups matter.
        acknowledge = following != number and following in self._live
        if acknowledge:
            self._unacknowledged = call
        return Delivery(call, call.pieces[place], acknowledge)

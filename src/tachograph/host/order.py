"""The order in which things happened, over all processes of an agent.

Each process writes its own socket, in the order in which things happened in it. But sockets are read one after the other, so across processes
the order of arrival says nothing: a child may be read to its end before what its parent did in the meantime. What does is the clock that all
processes share, which is read before a message is sent. So an order number is that moment, in nanoseconds since the first one, and grows with
every message of a process.

The lowest bits (``replay.tape``) say how it follows what this process had in the same event loop before: 0, it was not in a loop; 1, the loop may
have slept between the two; 2, it was in the same round of the loop; 3, in the next one, and so on. What threads did in between does not count. What
the agent's tasks see of each other, and of what threads hand them, depends on it.
"""

from __future__ import annotations

from tachograph.replay.tape import BITS, ROUNDS, SAME_ROUND, SLEPT

#: Order numbers count pieces of so many nanoseconds: with the lowest bits, they are numbers that JSON holds.
TICK = 16
#: Of these: three days. What a client says beyond is its own affair.
MOST = 1 << 44


class Order:
    """Gives out order numbers."""

    def __init__(self) -> None:
        self._first: int | None = None
        self._last: dict[int, int] = {}
        self._rounds: dict[int, int] = {}

    def number(self, peer: int, moment: object, rounds: object = None) -> int:
        """``moment``: the message's ``t``; ``rounds``: its ``i``, the round of the event loop that it was sent in, if it was."""
        last = self._last.get(peer, 0)
        if isinstance(moment, int):
            if self._first is None:
                self._first = moment
            last = max(last + 1, min((moment - self._first) // TICK, MOST))
        else:
            last += 1
        self._last[peer] = last
        if not isinstance(rounds, int):
            return last << BITS
        before = self._rounds.get(peer)
        self._rounds[peer] = rounds
        apart = -1 if before is None else rounds - before
        return last << BITS | (SAME_ROUND + apart if 0 <= apart <= ROUNDS - SAME_ROUND else SLEPT)

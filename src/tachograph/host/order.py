"""The order in which things happened, over all processes of an agent.

Each process writes its own socket, in the order in which things happened in it. But sockets are read one after the other, so across processes
the order of arrival says nothing: a child may be read to its end before what its parent did in the meantime. What does is the clock that all
processes share, which is read before a message is sent. So an order number is that moment, in nanoseconds since the first one, and grows with
every message of a process.

The lowest bits say how it follows what came before in this process, where both happened in an event loop that did not sleep in between: 1 in the
same round of the loop, 2 in the next one, and so on; 0 otherwise. What the agent's tasks see of each other depends on it, so a replay gives such
entries together, that many rounds apart.
"""

from __future__ import annotations

#: Bits for the rounds, and so the most that are told.
BITS = 4
#: Nanoseconds: three days. What a client says beyond is its own affair, and must still be a number that JSON holds.
MOST = 1 << 48


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
            last = max(last + 1, min(moment - self._first, MOST))
        else:
            last += 1
        self._last[peer] = last
        before = self._rounds.pop(peer, None)
        apart = 0
        if isinstance(rounds, int):
            self._rounds[peer] = rounds
            if before is not None and 0 <= rounds - before < (1 << BITS) - 1:
                apart = rounds - before + 1
        return last << BITS | apart

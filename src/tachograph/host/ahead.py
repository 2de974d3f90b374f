"""Answers sent ahead: what an agent that does one thing after the other will ask for next goes out with the answer before it, so that it need
not wait for each.

Only where nothing can go wrong by it: the agent is alone (``lanes.alone``), and the next pieces of the whole recording are plain results of
declared tools of its lane, that changed no file, printed nothing and called nothing. The client takes such an answer only for the very
request that it is the answer of, and still asks for it, without waiting: the player looks at each call as at any other, in its order. What
was sent ahead and not taken is as if it had not been sent.

Both sides count the calls that were asked for and waited for (``generation``). An answer is good only until the next of them: so one that is
still on its way when the agent turns elsewhere is never taken.
"""

from __future__ import annotations

import collections
import json
from typing import Any

from tachograph.replay.gate import Gate
from tachograph.replay.tape import Tape, TapeCall

#: Answers on their way to one process, and when more follow. Bytes of one lot.
MOST, FEW = 64, 32
ROOM = 1 << 20

#: As the client writes what it asks for (``client/ahead.py``).
_canonical = json.JSONEncoder(sort_keys=True, check_circular=False, separators=(",", ":")).encode


class Ahead:
    """What was sent ahead to each process."""

    def __init__(self, tape: Tape, gate: Gate) -> None:
        self._tape = tape
        self._gate = gate
        self._sent: dict[int, collections.deque[TapeCall]] = {}
        self._generation: collections.Counter[int] = collections.Counter()

    def asked(self, peer: int) -> None:
        """A call that is waited for: whatever was sent ahead is void."""
        self._generation[peer] += 1
        self._sent.pop(peer, None)

    def took(self, peer: int, request: dict[str, Any]) -> TapeCall | None:
        """The call whose answer was taken, which is the next one that was sent and that call only; None where there is none."""
        sent = self._sent.get(peer)
        if not sent or sent[0].request != request or self._tape.next_with(sent[0].key, 0) is not sent[0]:
            return None
        return self._tape.take(sent.popleft().key)

    def spent(self, peer: int, call: TapeCall) -> dict[str, Any]:
        """The client had taken all that it had, and asked for this call. What its answer says of what was sent meanwhile."""
        sent = self._sent.get(peer)
        if sent and sent[0] is call:
            sent.popleft()
            return {"skip": 1}
        if sent:
            self.asked(peer)
            return {"void": 1}
        return {}

    def more(self, peer: int, lane: str) -> tuple[dict[str, Any], bytes] | None:
        """A message with the answers that come next in this lane; None where there is none, or enough is on its way."""
        sent = self._sent.setdefault(peer, collections.deque())
        if len(sent) > FEW:
            return None
        items: list[list[Any]] = []
        data: list[bytes] = []
        size = 0
        for call in self._gate.upcoming(len(sent), MOST - len(sent)):
            if not self._plain(call, lane, sent):
                break
            piece = call.pieces[0]
            expected = _canonical(call.request)
            size += len(expected) + len(piece.data)
            if size > ROOM:
                break
            items.append([call.name, expected, piece.header, len(piece.data)])
            data.append(piece.data)
            sent.append(call)
        return ({"m": "ahead", "c": 0, "lane": lane, "g": self._generation[peer], "items": items}, b"".join(data)) if items else None

    def _plain(self, call: TapeCall, lane: str, sent: collections.deque[TapeCall]) -> bool:
        return (
            call.kind == "tool" and call.lane == lane and not (call.cut or call.covered or call.used or call.workspace or call.printed)
            and len(call.pieces) == 1 and call.pieces[0].header.get("m") == "result" and getattr(call.event, "exact", True)
            and self._tape.alone(call) and self._tape.next_with(call.key, sum(1 for each in sent if each.key == call.key)) is call
            and not any(isinstance(value, (bytes, bytearray)) for value in call.request.values())
        )  # fmt: skip

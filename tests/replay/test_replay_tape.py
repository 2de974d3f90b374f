"""The tape: what is taken once, what an answered tool covers, and that neither looks at the whole tape for one call."""

from __future__ import annotations

import collections
from typing import Any

from tachograph.core import events
from tachograph.replay import match
from tachograph.replay.tape import BITS, SAME_ROUND, SLEPT, Mark, Piece, Tape, TapeCall, widen


def tool(number: int, *, parent: str | None = None, cls: type[events.ToolCall] = events.ToolCall) -> TapeCall:
    request = {"input": {"n": number % 7}}
    event = cls(id=f"e{number}", parent_id=parent, lane="main", name="look")
    return TapeCall(
        event=event, kind="tool", name="look", lane="main", request=request, pieces=[],
        key=match.key("main", "tool", "look", request), seq=number, end=number,
    )  # fmt: skip


def made(calls: list[TapeCall], written: list[tuple[int, str, dict[str, Any]]] | None = None) -> Tape:
    tape = Tape(calls=calls, written=written or [])
    tape.index()
    return tape


def test_equal_calls_are_taken_in_their_order_and_each_once() -> None:
    tape = made([tool(0), tool(7), tool(14), tool(1)])
    key = tape.calls[0].key
    assert [call.seq for call in iter(lambda: tape.take(key), None)] == [0, 7, 14]
    assert [call.seq for call in tape.unused()] == [1]


def test_a_tool_covers_what_it_called_and_what_that_called() -> None:
    calls = [tool(1), tool(2, parent="e1"), tool(3, parent="e2"), tool(4), tool(5, parent="e4"), tool(6, parent="e1")]
    calls[2].workspace = {"n": 3}
    calls[5].workspace = {"n": 6}
    tape = made(calls, [(4, "e2", {"n": 4}), (9, "e4", {"n": 9})])
    assert [call.seq for call in tape.cover(calls[0])] == [2, 3, 6]
    assert [call.seq for call in tape.unused()] == [1, 4, 5]
    assert calls[0].effects == [{"n": 3}, {"n": 4}, {"n": 6}]


def test_what_was_used_already_is_not_covered() -> None:
    calls = [tool(1), tool(2, parent="e1")]
    tape = made(calls)
    calls[1].used = True
    assert tape.cover(calls[0]) == []


def test_covering_looks_only_at_what_is_inside() -> None:
    reads: collections.Counter[str] = collections.Counter()

    class Counted(TapeCall):
        def __getattribute__(self, name: str) -> Any:
            if name == "event":
                reads["event"] += 1
            return super().__getattribute__(name)

    calls = [Counted(**vars(tool(number))) for number in range(2000)]
    tape = made(list(calls))
    reads.clear()
    for call in calls:
        tape.cover(call)
    assert reads["event"] <= 10 * len(calls)


def test_order_numbers_of_older_recordings_mean_what_they_meant() -> None:
    """Four bits: 0 where it does not follow in its loop, else 1 + the rounds."""
    call = tool(1)
    call.pieces = [Piece(5 << 4, {"m": "head"}), Piece(6 << 4 | 1, {"m": "end"})]
    tape = made([call])
    tape.marks = [Mark(7 << 4 | 15, "main", "sleep app.retry", 1)]
    widen(tape)
    assert [piece.order for piece in call.pieces] == [5 << BITS | SLEPT, 6 << BITS | SAME_ROUND]
    assert tape.marks[0].order == 7 << BITS | (SAME_ROUND + 14)

"""The order of answers: what is due, what waits, what is missing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tachograph.core import events
from tachograph.replay.gate import Gate
from tachograph.replay.tape import BITS, SAME_ROUND, SLEPT, Mark, Piece, TapeCall


def call(*orders: int, covered: bool = False) -> TapeCall:
    event = events.ToolCall(name="look", outcome="ok")
    pieces = [Piece(order, {"m": "chunk"}) for order in orders]
    return TapeCall(event=event, kind="tool", name="look", lane="main", request={}, pieces=pieces, key=b"", seq=0, covered=covered)


def test_a_piece_waits_for_the_earlier_ones_of_calls_that_are_to_come() -> None:
    one, other = call(1, 4), call(2, 3)
    gate = Gate([one, other])
    gate.begin(other)
    assert not gate.due
    assert gate.next() is None
    assert gate.missing is one
    assert gate.waiting == [other]
    gate.begin(one)
    given_out = []
    while (delivery := gate.next()) is not None:
        given_out.append(delivery.piece.order)
    assert given_out == [1, 2, 3, 4]
    assert gate.waiting == []
    assert gate.missing is None


def test_what_the_agent_gives_up_holds_nobody() -> None:
    one, other, covered = call(1, 3), call(2), call(0, covered=True)
    gate = Gate([one, other, covered])
    gate.begin(other)
    gate.drop(one)
    assert gate.due
    delivery = gate.next()
    assert delivery is not None
    assert delivery.call is other
    assert not gate.due


@given(st.permutations(range(12)), st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_the_recorded_order_comes_out_whatever_the_order_of_asking(orders: list[int], asked: list[int]) -> None:
    calls = [call(*sorted(orders[2 * n : 2 * n + 2])) for n in range(6)]
    gate = Gate(calls)
    out = []
    for n in [*asked, *range(6)]:
        gate.begin(calls[n])
        while (delivery := gate.next()) is not None:
            out.append(delivery.piece.order)
    assert out == sorted(orders)


def in_loop(moment: int, code: int) -> int:
    """An order number. ``code``: ``SLEPT``, or ``SAME_ROUND`` + rounds, or 0 for a thread's."""
    return moment << BITS | code


def handed(moment: int, code: int, number: int, *, lane: str = "main/work-1", kind: str = "soon") -> Mark:
    return Mark(in_loop(moment, code), lane, f"{kind} app.read", number)


def test_a_loop_is_held_for_what_a_thread_is_yet_to_hand_it() -> None:
    chunk = call(in_loop(2, 0))
    gate = Gate([chunk], [handed(1, SLEPT, 1), handed(3, SAME_ROUND + 4, 2)])
    first = gate.ask("main/work-1", "soon app.read", 1)
    assert gate.next() == first
    assert (gate.together, gate.held) == (0, 5)
    gate.begin(chunk)
    assert gate.next() is not None
    assert (gate.together, gate.held) == (0, 0)  # that was a thread's: it is held already
    second = gate.ask("main/work-1", "soon app.read", 2)
    assert gate.next() == second


def test_what_follows_at_once_in_a_loop_is_given_with_it() -> None:
    gate = Gate([], [handed(1, SLEPT, 1), handed(2, SAME_ROUND, 2), handed(3, SLEPT, 3)])
    for number in (1, 2, 3):
        gate.ask("main/work-1", "soon app.read", number)
    gate.next()
    assert gate.together == 1
    gate.next()
    assert (gate.together, gate.held) == (0, 0)  # it slept


def test_rounds_of_what_is_passed_over_count() -> None:
    gate = Gate([], [handed(1, SLEPT, 1), handed(2, SAME_ROUND + 2, 2, kind="timer"), handed(3, SAME_ROUND + 3, 3)])
    gate.ask("main/work-1", "soon app.read", 1)
    gate.ask("main/work-1", "soon app.read", 3)
    gate.next()
    assert gate.held == 3
    gate.skip()
    assert gate.together == 6


def test_a_loop_is_not_held_for_another_process_nor_for_a_call_that_it_is_yet_to_make() -> None:
    gate = Gate([], [handed(1, SLEPT, 1), handed(2, SAME_ROUND, 1, lane="main/mp-1/thread-1")])
    gate.ask("main/work-1", "soon app.read", 1)
    gate.next()
    assert gate.held == 0
    answered = call(in_loop(2, SAME_ROUND + 1))
    gate = Gate([answered], [handed(1, SLEPT, 1)])
    gate.ask("main/work-1", "soon app.read", 1)
    gate.next()
    assert gate.held == 0

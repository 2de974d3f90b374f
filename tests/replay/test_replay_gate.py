"""The order of answers: what is due, what waits, what is missing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tachograph.core import events
from tachograph.replay.gate import Gate
from tachograph.replay.tape import Piece, TapeCall


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

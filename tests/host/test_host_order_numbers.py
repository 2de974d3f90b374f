"""Numbers of the session-wide order."""

from __future__ import annotations

from tachograph.host.order import MOST, TICK, Order
from tachograph.replay.tape import BITS, ROUNDS, SAME_ROUND, SLEPT

LOOP, OTHER = 1 << 32, 2 << 32


def test_numbers_are_moments_and_grow_within_a_process() -> None:
    order = Order()
    numbers = [order.number(1, moment) for moment in (1000, 1000, 900, 1000 + 100 * TICK)]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] >> BITS == 100
    assert order.number(2, 1000 + 50 * TICK) < numbers[-1]
    assert order.number(2, 1 << 80) < 1 << 53
    assert order.number(2, 1 << 80) >> BITS <= MOST + 1


def test_rounds_are_those_between_two_entries_of_one_loop_whatever_threads_do() -> None:
    order = Order()
    codes = [
        order.number(1, moment, rounds) & ROUNDS
        for moment, rounds in enumerate([LOOP + 5, None, LOOP + 5, None, None, LOOP + 8, LOOP + 1032, OTHER + 1, OTHER + 2])
    ]
    assert codes == [SLEPT, 0, SAME_ROUND, 0, 0, SAME_ROUND + 3, SLEPT, SLEPT, SAME_ROUND + 1]

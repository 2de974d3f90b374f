"""What a write can leave behind, told from what it cannot."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tachograph.format import torn


def test_one_unfinished_line_is_torn_with_or_without_its_line_feed() -> None:
    assert torn.torn_line(b'good\n{"v":1', 5)
    assert torn.torn_line(b"good\nbad\n", 5)
    assert not torn.torn_line(b"good\nbad\nmore\n", 5)
    assert not torn.torn_line(b"good\nb\0d\nmore\n", 5), "a zero that no block ends with"


@given(st.integers(0, 3000), st.integers(0, 8), st.integers(1, 8))
def test_a_block_that_was_not_written_is_a_hole_wherever_it_is(start: int, first: int, count: int) -> None:
    data = bytearray(b"x" * 9000 + b"\nmore\n")
    lost = range(max(start, first * torn.BLOCK), (first + count) * torn.BLOCK)
    for at in lost:
        data[at] = 0
    assert torn.torn_line(bytes(data), start) == bool(lost)


def test_whole_notes() -> None:
    one = b"text\n\nsignature\n\n"
    assert torn.whole_notes(b"") == 0
    assert torn.whole_notes(one + one) == 2 * len(one)
    for cut in range(1, len(one)):
        assert torn.whole_notes(one + one[:cut]) == len(one)
    long = b"x" * 600 + one
    assert torn.whole_notes(one + long) == len(one + long)
    hole = bytearray(one + long)
    hole[100:512] = bytes(412)
    assert torn.whole_notes(bytes(hole)) == len(one)

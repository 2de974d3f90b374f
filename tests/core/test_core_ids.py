from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.core.ids import EVENT_ID, SESSION_ID, EventIds, session_id, ulid

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
times = st.integers(0, (1 << 48) - 1)
entropy = st.binary(min_size=10, max_size=10)


def value(text: str) -> int:
    """The number that a ULID spells, by the definition of the encoding."""
    number = 0
    for digit in text:
        number = number * 32 + CROCKFORD.index(digit)
    return number


def test_the_examples_of_the_specification() -> None:
    # "01ARZ3NDEKTSV4RRFFQ69G5FAV": ten characters of time, sixteen of randomness.
    assert value("01ARZ3NDEK") == 1469922850259
    assert ulid(1469922850259, value("TSV4RRFFQ69G5FAV").to_bytes(10, "big")) == "01ARZ3NDEKTSV4RRFFQ69G5FAV"
    # The components of the example payload.
    assert ulid(1469918176385, bytes(10))[:10] == "01ARYZ6S41"
    # The largest valid ULID; anything larger must be rejected.
    assert ulid(281474976710655, b"\xff" * 10) == "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"


@pytest.mark.parametrize("milliseconds", [-1, 1 << 48, 1 << 80])
def test_a_time_that_has_no_ulid_is_refused(milliseconds: int) -> None:
    with pytest.raises(ValueError, match="48 bits"):
        ulid(milliseconds, bytes(10))


@pytest.mark.parametrize("size", [0, 9, 11, 16])
def test_entropy_is_exactly_ten_bytes(size: int) -> None:
    with pytest.raises(ValueError, match="10 bytes"):
        ulid(0, bytes(size))
    with pytest.raises(ValueError, match="10 bytes"):
        EventIds(bytes(size))


@given(times, entropy)
def test_a_ulid_is_its_128_bits(milliseconds: int, random: bytes) -> None:
    text = ulid(milliseconds, random)
    assert len(text) == 26
    assert value(text) == (milliseconds << 80) + int.from_bytes(random, "big")


@given(times, times, entropy, entropy)
def test_names_sort_by_time(first: int, second: int, one: bytes, other: bytes) -> None:
    if first < second:
        assert session_id(first, one) < session_id(second, other)


@given(times, entropy)
def test_an_id_is_recognised(milliseconds: int, random: bytes) -> None:
    name = session_id(milliseconds, random)
    assert SESSION_ID.match(name)
    assert EVENT_ID.match("evt_" + name[4:])


@pytest.mark.parametrize(
    "name",
    ["", "ses_", "ses_01ARZ3NDEKTSV4RRFFQ69G5FA", "ses_01ARZ3NDEKTSV4RRFFQ69G5FAVV", "ses_8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
     "ses_01ARZ3NDEKTSV4RRFFQ69G5FAI", "ses_01arz3ndektsv4rrffq69g5fav", "ses_01ARZ3NDEKTSV4RRFFQ69G5FAV\n", "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV",
     " ses_01ARZ3NDEKTSV4RRFFQ69G5FAV", "ses_../../../../../etc/passwd"],
)  # fmt: skip
def test_what_is_no_session_id(name: str) -> None:
    assert not SESSION_ID.match(name)


@given(entropy, st.lists(times, min_size=2, max_size=50))
def test_event_ids_increase_whatever_the_clock_does(random: bytes, clock: list[int]) -> None:
    ids = EventIds(random)
    made = [ids.next(now) for now in clock]
    assert made == sorted(set(made))
    assert all(EVENT_ID.match(name) for name in made)


@given(entropy, times)
def test_an_event_id_names_its_millisecond(random: bytes, now: int) -> None:
    assert value(EventIds(random).next(now)[4:]) >> 80 == now


def test_ids_within_one_millisecond_do_not_run_into_the_next() -> None:
    ids = EventIds(b"\xff" * 10)
    made = [ids.next(7) for _ in range(1000)]
    assert {value(name[4:]) >> 80 for name in made} == {7}

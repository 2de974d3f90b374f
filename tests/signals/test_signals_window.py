"""When signals are asked for: a margin around the session, or two times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signals_server import NOON
from tachograph.core.errors import UsageError
from tachograph.core.signals import Window, iso
from tachograph.signals.window import moment, parse, seconds


@pytest.mark.parametrize(("text", "margin"), [("30m", 1_800_000), ("0s", 0), ("45s", 45_000), ("2h", 7_200_000), ("1d", 86_400_000)])
def test_a_margin_is_around_the_session(text: str, margin: int) -> None:
    assert parse(text, NOON, NOON + 5000) == Window(NOON - margin, NOON + 5000 + margin)


def test_two_times_are_taken_as_they_are() -> None:
    found = parse("2026-11-30T12:00:00Z/2026-11-30T14:00:00+01:00", 5, 6)
    assert found == Window(NOON, NOON + 3_600_000)
    assert found.holds(NOON)
    assert found.holds(NOON + 3_600_000)
    assert not found.holds(NOON - 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "30",
        "m",
        "-5m",
        "1w",
        "5 m",
        "٣m",
        "2026-11-30T12:00:00Z",
        "2026-11-30T12:00:00/2026-11-30T14:00:00",
        "/",
        "2026-11-30T12:00:00Z/",
        "x/y",
    ],
)
def test_what_is_no_window_is_said_in_one_line(text: str) -> None:
    with pytest.raises(UsageError, match=r"not a window.*write a margin") as error:
        parse(text, NOON, NOON)
    assert "\n" not in str(error.value)


def test_a_window_that_is_too_long_or_ends_first_is_refused() -> None:
    with pytest.raises(UsageError, match="31 days"):
        parse("999999d", NOON, NOON)
    with pytest.raises(UsageError, match="ends before it begins"):
        parse("2026-11-30T12:00:00Z/2026-11-30T11:00:00Z", NOON, NOON)


@given(st.integers(0, 253_402_300_799_999))
def test_times_survive_being_written(at: int) -> None:
    assert moment(iso(at)) == at


@given(st.text(max_size=80) | st.integers() | st.none())
def test_no_text_is_mistaken_for_a_time(text: object) -> None:
    found = moment(text)
    assert found is None or found >= 0


def test_a_step_is_a_time() -> None:
    assert [seconds(text, "step") for text in ("30s", "5m", "90")] == [30, 300, 90]
    for text in ("0", "", "fast", "1.5m"):
        with pytest.raises(UsageError, match="not a time, step="):
            seconds(text, "step")

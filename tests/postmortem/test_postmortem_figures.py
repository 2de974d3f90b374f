"""Figures as they are written in several places, and what code makes of them that reads them by another place's rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.postmortem.language.figures import figures, misread, readings, whole


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("1250", {1250}), ("1.250,00", {1250}), ("1,250.00", {1250}), ("1 250,5", {1250.5}), ("1'250.50", {1250.5}), ("1.234.567", {1234567}),
        ("41.800", {41.8, 41800}), ("12,50", {12.5}), ("0.125", {0.125}), ("1.2.3,4,5", set()),
    ],
)  # fmt: skip
def test_readings(written: str, found: set[float]) -> None:
    assert readings(written) == found


@given(st.integers(min_value=1000, max_value=10**9), st.integers(min_value=0, max_value=99))
def test_a_figure_with_both_separators_is_one_number(wholes: int, hundredths: int) -> None:
    english = f"{wholes:,}.{hundredths:02}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert readings(english) == readings(german) == {float(f"{wholes}.{hundredths:02}")}
    assert not misread(german) & readings(german)


def test_figures_of_a_text() -> None:
    text = "Am 2026-03-01 um 10:30: 1.250,00 EUR für RG-2219, 12 % und 3 400 €; siehe /a/77."
    assert [(one.text, one.unit) for one in figures(text)] == [("1.250,00", "eur"), ("12", "%"), ("3 400", "€")]
    assert [one.text for one in figures("rows 10 20 30")] == ["10", "20", "30"]


def test_a_text_that_is_one_figure() -> None:
    assert whole("EUR 1.250,00") == "1.250,00"
    assert whole("12 of 20") is None


def test_what_is_made_of_a_figure() -> None:
    assert misread("1.250,00") == {1.0, 1.25}
    assert misread("12,50") == {12.0}
    assert misread("1250") == set()
    assert misread("1.250") == set()

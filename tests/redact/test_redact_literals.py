from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.redact import literals
from tachograph.redact.literals import Literals

TEXT = st.text(alphabet="abé\ud800?", max_size=40)


def occurrences(needles: list[str], text: str) -> list[tuple[int, str]]:
    return sorted((at, needle) for needle in set(needles) for at in range(len(text)) if text.startswith(needle, at))


@pytest.fixture(params=["automaton", "plain"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "plain":
        monkeypatch.setattr(literals, "ahocorasick_rs", None)


@pytest.mark.usefixtures("library")
def test_every_occurrence_while_literals_are_added() -> None:
    index = Literals()
    needles = ["ab", "abé", "b", "é?", "?", "aa", "\ud800a", "bab", "éé", "aé"]
    text = "aaababé?\ud800ab?éaéébab"
    for number, needle in enumerate(needles):
        assert needle not in index
        index.add(needle)
        index.add(needle)
        assert needle in index
        assert len(index) == number + 1
        assert sorted(index.find(text)) == occurrences(needles[: number + 1], text)


@given(st.lists(TEXT.filter(bool), max_size=12), TEXT)
def test_as_by_plain_search(needles: list[str], text: str) -> None:
    index = Literals()
    for needle in needles:
        index.add(needle)
        list(index.find(text))
    assert sorted(index.find(text)) == occurrences(needles, text)


def test_few_automata_however_many_literals() -> None:
    index = Literals()
    for number in range(2000):
        index.add(f"<{number}>")
        if number % 3 == 0:
            list(index.find(""))
    assert sorted(index.find("<7><1999>")) == [(0, "<7>"), (3, "<1999>")]
    assert len(index._levels) <= 12

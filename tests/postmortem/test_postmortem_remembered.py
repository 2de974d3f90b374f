"""What is found in a text is found once, and what is remembered has a bound."""

from __future__ import annotations

from tachograph.postmortem.language.remembered import Remembered, remembered


def test_a_text_is_looked_at_once() -> None:
    asked: list[str] = []

    @remembered
    def size(text: str) -> int:
        asked.append(text)
        return len(text)

    assert [size("a"), size("bb"), size("a")] == [1, 2, 1]
    assert asked == ["a", "bb"]


def test_no_more_is_remembered_than_so_many_characters() -> None:
    sizes = Remembered(len, 1000)
    for number in range(50):
        assert sizes[f"{number:100}"] == 100
        assert sum(map(len, sizes)) <= 1000
    assert sizes["x" * 5000] == 5000
    assert len(sizes) == 1

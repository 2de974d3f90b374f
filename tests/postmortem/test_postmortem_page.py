"""Widths of texts, with and without the short cut for plain ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tachograph.postmortem.page import cells, fold
from tachograph.postmortem.values import visible

TEXTS = st.one_of(st.text(), st.text(st.characters(max_codepoint=127)), st.text("a b\t漢é"))


@given(TEXTS)
def test_a_text_is_as_wide_as_its_cells(text: str) -> None:
    for line in visible(text).expandtabs(4).split("\n"):
        assert cells(line) == cell_len(line)


@given(TEXTS, st.integers(8, 40), st.booleans())
def test_no_line_is_wider_than_asked_for_and_no_letter_is_lost(text: str, width: int, prose: bool) -> None:
    shown = visible(text)
    lines = list(fold(shown, width, prose=prose))
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(shown.split())

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import GITHUB, KEY, PASSWORD, redactor

from tachograph.redact.placeholder import PLACEHOLDER, placeholder
from tachograph.redact.repeats import again, worth
from tachograph.redact.rules.examples import mixed
from tachograph.redact.spans import Edit

MARK = placeholder("password", KEY, PASSWORD)


@pytest.mark.parametrize(
    "text",
    [
        f"account:{PASSWORD} password={PASSWORD}",
        f"{PASSWORD} was refused\npassword={PASSWORD}\n{PASSWORD}",
        f'password="{PASSWORD}" and then {PASSWORD}, {PASSWORD}.',
    ],
)
def test_a_password_is_masked_wherever_it_stands(text: str) -> None:
    out = redactor().text(text)
    assert out == text.replace(PASSWORD, MARK)


def test_a_word_is_not() -> None:
    assert not worth("configuration")
    assert not worth("12345678")
    assert not worth("true")
    assert worth(PASSWORD)
    assert worth(GITHUB)
    assert worth("hunter2")


def test_a_short_value_is_not_found_inside_of_a_word() -> None:
    out = redactor().text("password='hunter2' xhunter2 hunter22 (hunter2)")
    assert PLACEHOLDER.sub("*", out) == "password='*' xhunter2 hunter22 (*)"


@given(st.lists(st.sampled_from([mixed(20)[i:] + str(i) for i in range(40)] + ["a", "\n", "é "]), max_size=60))
def test_few_and_many_values_are_treated_alike(pieces: list[str]) -> None:
    text = " ".join(pieces)
    edits, at = [], 0
    seen = set()
    for piece in pieces:
        if len(piece) > 6 and piece not in seen:
            seen.add(piece)
            edits.append(Edit(at, at + len(piece), "x"))
        at += len(piece) + 1
    out = again(text, edits)
    left = text
    for edit in reversed(out):
        left = left[: edit.start] + "·" * (edit.end - edit.start) + left[edit.end :]
    assert not any(value in left for value in seen)
    assert len(left) == len(text)
    assert all(text[e.start : e.end].strip() for e in out)

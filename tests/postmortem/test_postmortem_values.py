"""Contents in words: honest about what is missing, and harmless to look at."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_recordings import Tape

from tachograph.core.errors import FormatError
from tachograph.postmortem import values
from tachograph.postmortem.values import (
    ABSENT,
    arguments,
    clip,
    clip_ends,
    error_text,
    one_line,
    plain,
    read,
    textual,
    there,
    tokens,
    visible,
)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, ""),
        ("text", "text"),
        (b"bytes", "bytes"),
        (b"\xff\xfe", "<2 bytes>"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ({"content": [{"type": "text", "text": "mcp"}], "isError": True}, "mcp"),
        ({"stdout": "out"}, "out"),
        ({"stdout": "out", "stderr": "err"}, "[stdout]\nout\n[stderr]\nerr"),
        ({"a": 1}, '{"a": 1}'),
        ([], "[]"),
        (0, "0"),
    ],
)
def test_values_in_words(value: object, words: str) -> None:
    assert textual(value) == words


def test_a_long_value_is_indented() -> None:
    assert textual({"key": "x" * 100}).startswith('{\n  "key"')


def test_hidden_letters_and_control_characters_are_spelt_out() -> None:
    assert visible("a\u202eb\u200b\x1b[31m\U000e0041\r\nc\td") == "a⟨U+202E⟩b⟨U+200B⟩⟨U+001B⟩[31m⟨U+E0041⟩\nc\td"
    assert visible("👩\u200d🔬 می\u200cخواهم") == "👩\u200d🔬 می\u200cخواهم"


@given(st.text())
def test_visible_text_is_encodable_and_stays_as_it_is(content: str) -> None:
    shown = visible(content)
    assert visible(shown) == shown
    shown.encode()


def test_a_damaged_content_is_unreadable_with_its_reason() -> None:
    class Damaged(Tape):
        def content(self, uri: str | None) -> object:
            raise FormatError("a frame does not open, pack offset 7; run tacho verify")

    found = read(Damaged(), "content:x")
    assert (found.state, found.text(), found.to_json()) == (
        "unreadable", "[unreadable]", {"unreadable": "a frame does not open, pack offset 7; run tacho verify"},
    )  # fmt: skip
    assert read(Damaged(), None) == ABSENT


def test_clipping_counts_what_it_takes_away() -> None:
    assert clip("a\nb\nc\nd\n", 2) == (["a", "b"], 2)
    assert clip("a\nb\nc\n", 2) == (["a", "b", "c"], 0)
    assert clip("", 2) == ([], 0)
    assert clip_ends("\n".join(map(str, range(20))), 4) == (["0"], 16, ["17", "18", "19"])


@given(st.text(), st.integers(2, 200))
def test_one_line_is_one_line_of_that_length(content: str, limit: int) -> None:
    shown = one_line(content, limit)
    assert len(shown) <= limit
    assert "\n" not in shown


def test_errors_in_words() -> None:
    assert error_text(there({"type": "TimeoutError", "module": "builtins", "message": "no answer"})) == "TimeoutError: no answer"
    assert error_text(there({"message": "odd"})) == "odd"
    assert error_text(there("plain")) == "plain"
    assert error_text(ABSENT) == ""


def test_arguments_read_like_a_call() -> None:
    assert arguments({"path": "a.py", "limit": 3}) == 'path="a.py", limit=3'
    assert arguments(None) == ""
    assert arguments({"text": "x" * 500}) == 'text="' + "x" * 80 + '…"'
    assert arguments({"patch": "x" * 500, "path": "a.py"}) == 'patch="' + "x" * 60 + '…", path="a.py"'
    assert len(arguments({str(number): "x" * 50 for number in range(9)})) == 100


def test_bytes_in_json() -> None:
    assert plain({"a": b"x", "b": b"\xff", "c": ("t", "\ud800")}) == {"a": "x", "b": {"base64": "/w=="}, "c": ["t", "?"]}


def test_tokens_are_rounded_up() -> None:
    assert [tokens(0), tokens(1), tokens(4), tokens(5)] == [0, 1, 1, 2]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


@given(st.lists(_JSON) | st.dictionaries(st.text(), _JSON) | st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=8))
def test_json_in_words_is_what_the_standard_library_writes(value: object) -> None:
    short = json.dumps(plain(value), ensure_ascii=False)
    assert values._indented(value) == (short if len(short) <= 80 else json.dumps(plain(value), ensure_ascii=False, indent=2))


def test_words_that_were_asked_for_make_no_other_content() -> None:
    one, other = there({"a": [1, 2]}), there({"a": [1, 2]})
    assert one.text() == '{"a": [1, 2]}'
    assert one == other != there({"a": [1]})

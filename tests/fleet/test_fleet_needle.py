"""What is let through by a needle's look at raw bytes is never too little, and what it decides is what ``re`` decides on the strings."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.core.errors import UsageError
from tachograph.fleet.needle import needle
from tachograph.fleet.scan import _texts
from tachograph.format import pack
from tachograph.format.tree import Node, TreeWriter

WORDS = st.text(st.sampled_from('abAB kKsS"\\\n\t/éßıK☃\x7f\x01\ud800'), min_size=1, max_size=12)


def plain(value: Any) -> bytes:
    """The nodes of a value, as they stand in a frame."""
    writer = TreeWriter(lambda data: __import__("hashlib").sha256(data).digest())
    writer.put(value)
    return pack.unpacked(pack.plain(writer.take()))


@given(word=WORDS, before=WORDS, after=WORDS, fold=st.booleans(), big=st.booleans(), odd=st.booleans())
def test_nothing_that_is_there_is_passed_over(word: str, before: str, after: str, fold: bool, big: bool, odd: bool) -> None:
    text = before + word + after
    value: dict[str, Any] = {"t": text + "x" * 300 if big else text, "$n": 1}
    if odd:
        value["wide"] = 1 << 80  # all of the node is written with escapes then
    found = needle(word.swapcase() if fold and word.swapcase().swapcase() == word else word, ignore_case=fold)
    data = plain(value)
    expected = any(True for _ in found.find(value["t"]))
    assert any(True for _, each in _texts(data) for _ in found.find(each)) >= expected
    if expected:
        assert found.may_hold(data)


@pytest.mark.parametrize(
    ("pattern", "required"),
    [
        ("abc", ["abc"]), (r"ab\d+cd", ["ab", "cd"]), ("a(bc)d", ["abcd"]), ("(?:ab)+c", ["ab", "c"]), ("ab|cd", []), ("x(ab|cd)y", ["x", "y"]), ("abc?d", ["ab", "d"]),
        (r"^abc$", ["abc"]), (r"a\.b", ["a.b"]), ("(ab)?cd", ["cd"]), ("[ab]c", ["c"]), ("ab.*cd", ["ab", "cd"]), (r"(?P<n>ab)c", ["abc"]), ("(?=ab)cd", ["cd"]),
        ("(?!ab)cd", ["cd"]), ("a{2}b", ["a", "b"]), ("(?i:ab)cd", ["cd"]), ("ab(?#x)cd", ["abcd"]), ("(?x) a b # c", ["ab"]), (r"(a)\1b", ["a", "b"]),
    ],
)  # fmt: skip
def test_what_a_regular_expression_needs(pattern: str, required: list[str]) -> None:
    assert list(needle(pattern, regex=True).required) == required


@given(
    st.text(st.sampled_from("abc"), max_size=12),
    st.sampled_from([r"a+b", "a(b|c)a", "ab?c", "(ab)+", "[ab]c{1,2}", "(?:a|b)c", "a.c", r"\bab"]),
)
def test_each_match_holds_what_is_required(text: str, pattern: str) -> None:
    found = needle(pattern, regex=True)
    for start, end in found.find(text):
        assert all(each in text[start:end] for each in found.required)


def test_a_text_is_taken_as_it_stands_unless_it_is_said_to_be_a_pattern() -> None:
    assert list(needle("a.c").find("abc a.c")) == [(4, 7)]
    assert list(needle("a.c", regex=True).find("abc a.c")) == [(0, 3), (4, 7)]


def test_case() -> None:
    assert list(needle("straße", ignore_case=True).find("STRASSE Straße STRAßE")) == [
        m.span() for m in re.finditer("straße", "STRASSE Straße STRAßE", re.IGNORECASE)
    ]
    assert needle("kiss", ignore_case=True).may_hold(plain({"a": "\u212aI\u017f\u017f"}))
    assert needle("(?i)KEY=", regex=True).ignore_case
    assert not needle("error", ignore_case=True).may_hold(plain({"a": "nothing"}))


@pytest.mark.parametrize(
    ("said", "regex"), [("", False), ("(", True), ("a*", True), ("x?", True), ("a" * 10_001, False), ("(?<=a*)b", True)]
)
def test_what_cannot_be_searched_for_is_refused_in_one_line(said: str, regex: bool) -> None:
    with pytest.raises(UsageError) as told:
        needle(said, regex=regex)
    assert "\n" not in str(told.value)


def test_names_of_members_are_looked_at_and_references_are_not() -> None:
    data = pack.unpacked(pack.plain([Node(b"\1" * 32, b"J", b'{"name":"v","$$odd":{"$s":"' + b"ab" * 32 + b'"},"in":[{"deep":"w"}]}')]))
    assert sorted(text for _, text in _texts(data)) == ["$odd", "deep", "in", "name", "v", "w"]

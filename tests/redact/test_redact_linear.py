from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.redact import linear

GOOD = [
    r"acme_[a-z0-9]{20,40}",
    r"(?:\d{1,3}\.){3}\d{1,3}",
    r"(?:[0-9a-f]{4}-){3}[0-9a-f]{4}",
    r"key[ \t]{0,4}[:=][ \t]{0,4}(?P<secret>[\w-]{16,200})",
    r"acme-(?:live|test)-[A-Z2-7]{16}(?![A-Z2-7])",
    r"(?<!\w)x-\d{3}",
    r"a{0,100}b{0,100}c",
    r"\w{0,90}-{0,90}\w{0,90}x",
    r"(?:-[a-z]{1,8}){8}",
    r"(?:[0-9A-F]{2}:?){1,8}z",
    r"(?:foo|bar|baz){1,30}c",
    r"(?:[ab]{2}){1,30}c",
    r"k(?:\.\d{1,5})?(?:-\w{0,50})? \w{1,200}",
]


@pytest.mark.parametrize("pattern", GOOD)
def test_good_patterns(pattern: str) -> None:
    assert linear.trouble(pattern, re.ASCII) is None


@pytest.mark.parametrize("pattern", GOOD)
@pytest.mark.parametrize("unit", ["a", "ab", "1", "1.", "foo", "f", "0:", "-a", "-", "key ", "1f-"])
def test_what_is_taken_comes_to_an_end_on_a_text_that_almost_matches(pattern: str, unit: str) -> None:
    # An exponential one does not come back from 40 characters.
    re.search(pattern, unit * 40 + "!", re.ASCII)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        (r"(a+)+b", "without an end"),
        (r"(?:a{1,100}){1,100}b", "inside of a repetition"),
        (r"(?:\w{1,64}){9}b", "inside of a repetition"),
        (r"aaa(?:[ab]{1,8}|[ac]{1,8}){1,8}z", "several ways"),
        (r"(?:[ab]{1,8}){8}z", "several ways"),
        (r"(?:a|ab|b){1,30}c", "several ways"),
        (r"(?:[ab]c|a[cd]){30}z", "several ways"),
        (r"(?:a|b[cd]|b[de]){30}z", "several ways"),
        (r"(?:ab|[ac]{2,2}|x){30}z", "several ways"),
        (r"(?:a?){8}z", "several ways"),
        (r"(?:\d{0,9}\d{0,9}\.){8}z", "several ways"),
        (r"(?:[^é]{1,8}ß){8}z", "several ways"),
        ("(?:a|aa)" * 20 + "z", "share characters"),
        ("(?:[ab]c|a[cd])-" * 20 + "z", "share characters"),
        (r"\w{0,99}\w{0,99}-" * 4, "share characters"),
        (r"(\w{0,900})?(\w{0,900})?x", "share characters"),
        (r"\w{0,900}(-{0,3})\w{0,900}x", "share characters"),
        (r"acme_\w+", "without an end"),
        (r"acme_\w{2,}", "without an end"),
        (r"acme_\w{2,9000}", "without an end"),
        (r"\w{0,900}\w{0,900}x", "share characters"),
        (r"\w{0,90}-{0,90}\w{0,90}x", None),
        (r"\w{0,90}(?:\w{0,90}|b)\w{0,90}x", "share characters"),
        (r"[\w-]{0,90}-{0,90}[\w-]{0,90}x", "share characters"),
        (r"(a)\1", "earlier group"),
        (r"(?i)acme_[a-z]{8}", "flag"),
        (r"acme_(", "does not compile"),
        (r"a{0,5}", "nothing at all"),
    ],
)
def test_what_is_refused_and_why(pattern: str, says: str | None) -> None:
    assert says in (found := linear.trouble(pattern, re.ASCII) or "") if says else linear.trouble(pattern, re.ASCII) is None, found


@given(st.text(alphabet="ab(|)*+?{},1[]\\w.-^", max_size=16))
def test_whatever_is_given_there_is_an_answer(pattern: str) -> None:
    found = linear.trouble(pattern)
    if found is None:
        re.compile(pattern)
        linear.shape(pattern)
    else:
        assert found


@pytest.mark.parametrize(
    "pattern", [r"(?:\d{1,8}[^0-9]){8}x", r"(?:\s{1,8}[^ ]){8}x", "(?:\\d{1,8}[\u0660-\u0669]){8}x", r"(?:\w{1,8}é){8}x"]
)
def test_digits_spaces_and_letters_beyond_ascii_count(pattern: str) -> None:
    assert "several ways" in (linear.trouble(pattern) or "")


@pytest.mark.parametrize(
    "pattern", [r"(?:\d{1,8}\D){8}x", r"(?:\w{1,8}\W){8}x", r"(?:\d{1,3}\s){8}x", r"(?:\S{1,8}\s){8}x", r"(?:\d{1,3}[a-z]){8}x"]
)
def test_classes_that_have_nothing_in_common(pattern: str) -> None:
    assert linear.trouble(pattern) is None


def test_literals_and_what_comes_before_them() -> None:
    found = linear.shape(r"x{0,3}acme_(live)?[a-z]{4}-end")
    assert ("acme_", 3) in found.literals
    assert ("-end", 16) in found.literals

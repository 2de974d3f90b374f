"""The first difference, where secrets were masked."""

from __future__ import annotations

from tachograph.host.recorder import output_hash
from tachograph.replay.divergence import called, first_difference

RECORDED = "key [REDACTED:env:01234567] and more"


def test_the_kind_of_a_masked_secret_is_no_difference() -> None:
    # A replay without the recorded environment finds the same secret by another rule.
    assert first_difference(RECORDED, RECORDED.replace("env", "github-token")) is None
    found = first_difference(RECORDED, RECORDED.replace("env", "github-token").replace("more", "less"))
    assert found is not None
    assert found[1:] == ("key [REDACTED:01234567] and more", "key [REDACTED:01234567] and less")


def test_another_secret_is_a_difference() -> None:
    assert first_difference(RECORDED, RECORDED.replace("01234567", "89abcdef")) is not None


def test_what_was_printed_is_compared_without_kinds() -> None:
    one, same, other = RECORDED, RECORDED.replace("env", "token"), RECORDED.replace("0123", "4567")
    hashes = [output_hash(text, len(text), lambda data: data) for text in (one, same, other)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_where_in_the_agents_code() -> None:
    assert called(None) == ""
    assert called("a.py:3") == ", called at a.py:3"
    assert called("started at a.py:3") == ", in a thread or task started at a.py:3"

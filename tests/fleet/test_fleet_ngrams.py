"""A filter never rules out a session that holds the text, rules out most that do not, and tells nothing without the key."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.fleet import ngrams
from tachograph.fleet.ngrams import LEAST

KEY = b"\x07" * 32


def holds(filters: list[bytes], *texts: str, ids: list[str] | None = None) -> list[bool]:
    return ngrams.may_hold(KEY, ngrams.asked(texts), ids or ["ses_a"] * len(filters), filters)


@given(st.binary(max_size=400), st.binary(min_size=1, max_size=30), st.binary(max_size=400))
def test_what_is_there_is_never_ruled_out(before: bytes, inside: bytes, after: bytes) -> None:
    text = inside.decode("latin-1")
    data = before + text.encode() + after
    assert holds([ngrams.build(KEY, "ses_a", [b"other", data])], text) == [True]
    assert holds([ngrams.build(KEY, "ses_a", [data.upper() if text.isascii() else data])], text) == [True]


@pytest.mark.parametrize("shift", range(-12, 13))
def test_nothing_is_lost_where_one_chunk_ends_and_the_next_begins(shift: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngrams, "_CHUNK", 64)
    random_ = random.Random(shift)
    data = bytes(random_.randrange(97, 123) for _ in range(300))
    at = 128 + shift
    needle = data[at - LEAST // 2 : at - LEAST // 2 + LEAST].decode()
    assert set(ngrams.asked([needle]).tolist()) <= set(ngrams._kept(data).tolist())


def test_a_text_long_enough_always_has_something_to_ask_for() -> None:
    random_ = random.Random(1)
    for _ in range(200):
        text = "".join(random_.choices("abcdefgh ", k=LEAST))
        assert ngrams.asked([text]).size
    assert not ngrams.asked(["x" * (LEAST - 1)]).size


def test_most_of_the_others_are_ruled_out() -> None:
    random_ = random.Random(2)
    words = ["".join(random_.choices("etaoinshrdlu", k=random_.randrange(3, 9))) for _ in range(2000)]
    texts = [" ".join(random_.choices(words, k=3000)) for _ in range(60)]
    filters = [ngrams.build(KEY, f"ses_{number}", [text.encode()]) for number, text in enumerate(texts)]
    ids = [f"ses_{number}" for number in range(60)]
    wrong = 0
    for _ in range(20):
        asked = "".join(random_.choices("qzxjkv0123456789", k=24))
        wrong += sum(holds(filters, asked, ids=ids))
    assert wrong <= 3
    for number in range(60):
        assert holds(filters, texts[number][1000:1040], ids=ids)[number]
    for each, text in zip(filters, texts, strict=True):
        assert len(each) < len(text) // 2
        share = sum(byte.bit_count() for byte in each) / (8 * len(each))
        assert share <= ngrams.FULL


def test_without_the_key_or_for_another_session_a_filter_is_another() -> None:
    data = [b"the same text in two sessions, of one store or of two" * 9]
    one = ngrams.build(KEY, "ses_a", data)
    assert one == ngrams.build(KEY, "ses_a", data)
    for other in (ngrams.build(KEY, "ses_b", data), ngrams.build(b"\x08" * 32, "ses_a", data)):
        same = sum((a & b).bit_count() for a, b in zip(one, other, strict=False))
        whole = sum(byte.bit_count() for byte in one)
        assert same < whole * 0.6, "no more in common than chance gives"
    assert ngrams.key_of(b"\x01" * 32) != b"\x01" * 32


def test_a_filter_that_says_nothing_rules_nothing_out() -> None:
    assert holds([b"", ngrams.build(KEY, "ses_a", [])], "something to look for") == [True, False]
    assert holds([], "something to look for") == []
    assert holds([ngrams.build(KEY, "ses_a", [])], "short") == [True]


def test_bytes_of_all_kinds_and_nothing_at_all() -> None:
    assert len(ngrams.build(KEY, "ses_a", [])) == len(ngrams.build(KEY, "ses_a", [b"", b"12345678"])) == 64
    assert holds([ngrams.build(KEY, "ses_a", [bytes(range(256)) * 3])], "0123456789") == [True]

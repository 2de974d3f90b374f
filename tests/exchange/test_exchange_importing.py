from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.core import ids
from tachograph.exchange.importing import StableIds, count, label, unix_ms


@given(st.text() | st.integers() | st.none(), st.integers(2, 40))
def test_labels_fit_the_envelope(value: object, limit: int) -> None:
    text = label(value, limit)
    if text is not None:
        assert 0 < len(text) <= limit
        assert "\n" not in text
        orjson.dumps(text)
    elif isinstance(value, str):
        assert not value.strip()


def test_labels() -> None:
    assert label("main") == "main"
    assert label("a\nb\ud83d") == "a\ufffdb\ufffd"
    assert label("x" * 300) == "x" * 255 + "…"
    assert label(["main"]) is label("") is label("  ") is None


def test_times() -> None:
    assert unix_ms("1970-01-01T00:00:01.5Z") == 1500
    assert unix_ms("2026-01-01T12:00:00+02:00") == unix_ms("2026-01-01T10:00:00")
    assert unix_ms("9999-12-31T23:59:59Z") == 253402300799000
    for wrong in (None, 5, "", "yesterday", "1969-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "2026-13-01", ["x"]):
        assert unix_ms(wrong) is None


@pytest.mark.parametrize(("value", "expected"), [(0, 0), (7, 7), (-1, None), (True, None), (1.5, None), ("7", None), (1 << 63, None)])
def test_counts(value: object, expected: int | None) -> None:
    assert count(value) == expected


def test_ids_are_a_function_of_their_source() -> None:
    def made(source: str) -> list[str]:
        stable = StableIds(source)
        return [stable.next(seed, ms) for seed, ms in ((b"a", 1), (b"b", 1), (b"a", 1), (b"a", 2), (b"\xff", (1 << 48) - 1))]

    first = made("s")
    assert first == made("s")
    assert len(set(first)) == 5
    assert set(first).isdisjoint(made("other"))
    assert all(ids.EVENT_ID.match(event_id) for event_id in first)

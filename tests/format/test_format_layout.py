from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.format import layout

SESSION = "ses_01ARZ3NDEKTSV4RRFFQ69G5FAV"


def test_the_paths_of_the_format_page() -> None:
    folder = f"sessions/{SESSION}/"
    assert layout.session(SESSION) == folder
    assert layout.events(SESSION, 1) == folder + "00000001.events.jsonl"
    assert layout.content(SESSION, 12) == folder + "00000012.content.pack"
    assert layout.seals(SESSION, 99_999_999) == folder + "99999999.seals"
    assert layout.lock(SESSION) == folder + "lock"
    assert layout.keys(SESSION) == f"keys/{SESSION}.json"
    assert (layout.STORE, layout.STORE_KEYS, layout.SESSIONS) == ("store.json", "keys/store.json", "sessions/")


@given(st.integers(1, 99_999_999))
def test_names_are_read_as_they_are_written(segment: int) -> None:
    for write, kind in ((layout.events, "events.jsonl"), (layout.content, "content.pack"), (layout.seals, "seals")):
        name = write(SESSION, segment).removeprefix(layout.session(SESSION))
        assert layout.segment_of(name) == (segment, kind)


@pytest.mark.parametrize(
    "name",
    [
        "", "lock", "1.seals", "00000001.events.json", "00000001.events.jsonl.bak", "x00000001.events.jsonl", "00000001.events.jsonl\n",
        "deeper/00000001.events.jsonl", "000000001.seals", "-0000001.seals",
        "٠٠٠٠٠٠٠١.events.jsonl",  # digits, to Python, of another script
    ],
)  # fmt: skip
def test_any_other_name_is_no_segment(name: str) -> None:
    assert layout.segment_of(name) is None

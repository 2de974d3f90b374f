from __future__ import annotations

import doctest
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tachograph.format import sse
from tachograph.format.sse import SseEvent, encode, parse


def pairs(body: bytes) -> list[tuple[str | None, str]]:
    return [(e.event, e.data) for e in parse(body) if e.complete]


# Bytes in which every rule of the format is likely to come up.
wire = st.lists(
    st.sampled_from(
        [b"data", b"data:", b"data: x", b"event: e", b":", b": c", b"id: 1", b"retry: 5", b"\n", b"\r", b"\r\n",
         b"\n\n", b" ", b"\xef\xbb\xbf", "é€😀".encode(), b"\xff", b"\x00"]
    ),
    max_size=30,
).map(b"".join)  # fmt: skip


def test_the_docstring_example() -> None:
    assert doctest.testmod(sse).failed == 0


def test_examples_of_the_specification() -> None:
    assert pairs(b"data: YHOO\ndata: +2\ndata: 10\n\n") == [(None, "YHOO\n+2\n10")]
    stream = b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"
    assert pairs(stream) == [(None, "first event"), (None, "second event"), (None, " third event")]
    # Two events; the last block is never dispatched because the stream ends before its blank line.
    assert pairs(b"data\n\ndata\ndata\n\ndata:") == [(None, ""), (None, "\n")]
    assert pairs(b"data:test\n\ndata: test\n\n") == [(None, "test"), (None, "test")]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_each_line_end(end: bytes) -> None:
    body = end.join([b"event: a", b"data: 1", b"data: 2", b"", b"data: 3", b"", b""])
    first, second = parse(body)
    assert (first.event, first.data, second.event, second.data) == ("a", "1\n2", None, "3")
    assert body[first.start : first.end].endswith(b"data: 2" + end + end)
    assert (first.start, first.end, second.end) == (0, second.start, len(body))


def test_byte_order_mark_only_at_the_start() -> None:
    assert pairs(b"\xef\xbb\xbfdata: x\n\n") == [(None, "x")]
    assert parse(b"\xef\xbb\xbfdata: x\n\n")[0].start == 0
    assert pairs(b"data: x\n\n\xef\xbb\xbfdata: y\n\n") == [(None, "x")]


def test_a_block_without_data_is_no_event_and_drops_its_name() -> None:
    body = b"event: lost\n\n: comment\n\ndata: x\n\n"
    assert parse(body) == [SseEvent(None, "x", 0, len(body), complete=True)]


def test_an_empty_event_name_is_none() -> None:
    assert pairs(b"event:\ndata: x\n\n") == [(None, "x")]


def test_what_came_of_a_cut_event() -> None:
    body = b'data: 1\n\nevent: delta\ndata: {"a\xe2\x82'
    assert parse(body)[1:] == [SseEvent("delta", '{"a', 9, len(body), complete=False)]
    assert parse(b"data: 1\n\ndat")[1:] == [SseEvent(None, "", 9, 12, complete=False)]
    assert parse(b": keep-alive\n\n") == [SseEvent(None, "", 0, 14, complete=False)]
    assert parse(b"") == []


def test_bytes_that_are_not_utf8() -> None:
    assert pairs(b"data: a\xffb\n\n") == [(None, "a�b")]


@given(wire)
@example(b"data: x\r\n\r")
@example(b"\xef\xbb\xbf")
def test_events_tile_the_body(body: bytes) -> None:
    events = parse(body)
    assert [e.start for e in events] == [0, *(e.end for e in events[:-1])][: len(events)]
    assert (events[-1].end if events else 0) == len(body)
    assert all(e.start < e.end for e in events)
    assert all(e.complete for e in events[:-1])


@given(wire)
def test_a_cut_body_gives_the_same_events_up_to_the_cut(body: bytes) -> None:
    whole = parse(body)
    for cut in range(len(body)):
        got = [e for e in parse(body[:cut]) if e.complete]
        # A cut between CR and LF ends the event one byte early; nothing else may differ.
        assert [(e.event, e.data) for e in got] == [(e.event, e.data) for e in whole[: len(got)]]


@given(wire)
def test_each_event_parses_alone(body: bytes) -> None:
    for event in parse(body)[1:]:  # not the first: only that one may skip a byte order mark
        if body[event.start :].startswith(b"\xef\xbb\xbf"):
            continue
        (alone,) = parse(body[event.start : event.end])
        assert (alone.event, alone.data, alone.complete) == (event.event, event.data, event.complete)


@given(st.none() | st.text(st.characters(exclude_characters="\r\n", codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_round_trip(event: str | None, data: str) -> None:
    body = encode(event, data)
    assert parse(body) == [SseEvent(event or None, re.sub(r"\r\n|\r", "\n", data), 0, len(body), complete=True)]


@pytest.mark.parametrize(("event", "data"), [("a\nb", ""), ("a\rb", ""), (None, "\ud800")])
def test_what_cannot_be_encoded_is_refused(event: str | None, data: str) -> None:
    with pytest.raises(ValueError):
        encode(event, data)

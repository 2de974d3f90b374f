"""A writer that ends its segments by choice, and what a verifier makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_helpers import SESSION, Clock, check, draft, new_store, new_writer

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.ports import SegmentLimit
from tachograph.log import recover
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.stores.local import LocalStore


def write(opened: OpenStore, *, per_segment: int = 3, segments: int = 3, end: bool = True) -> None:
    writer = new_writer(opened)
    writer.append(Draft(event=events.SessionStart(name="test")))
    for number in range(per_segment * segments):
        writer.append(draft(number % 4, chr(97 + number % 4)))  # the same contents again and again
        if (number + 1) % per_segment == 0 and number + 1 < per_segment * segments:
            writer.roll()
    if end:
        writer.append(Draft(event=events.SessionEnd()))
    writer.seal()
    writer.close()


@pytest.fixture
def opened(tmp_path: Path) -> OpenStore:
    return new_store(tmp_path / "store")


def folder(opened: OpenStore) -> Path:
    return Path(opened.store.url) / "sessions" / SESSION


def test_the_chain_and_the_content_go_on(opened: OpenStore) -> None:
    write(opened)
    verified = check(opened)
    assert (verified.verdict, verified.sealed, verified.ended, verified.content) == ("verified", verified.events, True, "opened")
    read = Recording(opened, SESSION)
    assert [entry.event.TYPE for entry in read.entries].count("segment") == 2
    texts = [read.content(entry.line["text_uri"])["text"][0] for entry in read.entries if "text_uri" in entry.line]
    assert texts == [chr(97 + number % 4) for number in range(9)]
    # What an earlier pack holds is not stored again.
    sizes = [(folder(opened) / f"0000000{number}.content.pack").stat().st_size for number in (1, 2, 3)]
    assert sizes[2] == 0 < sizes[1] < sizes[0]


def test_nothing_new_is_no_new_segment(opened: OpenStore) -> None:
    writer = new_writer(opened)
    writer.roll()
    writer.append(draft(1))
    writer.roll()
    writer.roll()
    writer.close()
    assert sorted(path.name[:8] for path in folder(opened).glob("*.seals")) == ["00000001", "00000002"]


def test_a_segment_is_full_by_size_or_by_age(opened: OpenStore) -> None:
    assert isinstance(opened.store, LocalStore)
    writer = new_writer(opened)
    writer.append(draft(1))
    assert not writer.full
    opened.store.segments = SegmentLimit(size=1 << 30, seconds=0.02)  # the test's clock ticks a millisecond a look
    assert not writer.full
    for _ in range(40):
        writer.append(draft(1))
    assert writer.full
    writer.roll()
    assert not writer.full
    opened.store.segments = SegmentLimit(size=200, seconds=1e9)
    writer.append(draft(2))
    writer.flush()
    assert writer.full
    writer.close()


@pytest.mark.parametrize("kind", ["events.jsonl", "content.pack", "seals"])
@pytest.mark.parametrize("how", ["cut", "more", "flip", "gone"])
def test_a_closed_segment_is_pinned_by_the_next(opened: OpenStore, kind: str, how: str) -> None:
    write(opened)
    file = folder(opened) / f"00000001.{kind}"
    data = file.read_bytes()
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes({"cut": data[:-1], "more": data + b"x", "flip": data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]}[how])
    assert check(opened).verdict == "tampered"


def test_a_whole_seal_less_is_noticed(opened: OpenStore) -> None:
    """Without the pin this would pass: the seals of later segments cover the same lines."""
    write(opened)
    file = folder(opened) / "00000001.seals"
    file.write_bytes(b"")
    assert check(opened).verdict == "tampered"


def test_a_crash_behind_a_rolled_segment_is_continued(opened: OpenStore) -> None:
    write(opened, end=False)
    torn = folder(opened) / "00000003.events.jsonl"
    torn.write_bytes(torn.read_bytes() + b'{"v":1')
    entropy = iter(range(1, 1000))
    writer = recover.resume(opened, SESSION, clock=Clock(), entropy=lambda size: next(entropy).to_bytes(size, "big"), reason="host_lost")
    writer.roll()
    writer.append(Draft(event=events.SessionEnd(status="lost")))
    writer.seal()
    writer.close()
    verified = check(opened)
    assert (verified.verdict, verified.good, verified.ended) == ("torn", True, True)

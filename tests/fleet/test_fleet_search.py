"""A search finds exactly what is there, with filters and without, and says what it could not look at."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from fleet_helpers import Clock, Fleet, call, tool

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.fleet import catalogue, needle, ngrams, scan, searching, workers
from tachograph.fleet.scan import Found
from tachograph.host import custody
from tachograph.log import recover
from tachograph.log.reader import Recording


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path / "store")


def search(fleet: Fleet, text: str, *, make: bool = True, **more: Any) -> dict[str, Found]:
    """As the verb does: by session, of those that were looked through."""
    wanted = needle.needle(text, **more)
    with fleet.catalogue.held(0):
        fleet.catalogue.update()
        todo = searching.plan(fleet.catalogue, searching.listed(fleet.catalogue), wanted)
    found = list(searching.search(fleet.opened, todo.look, wanted, todo.without if make else ()))
    with fleet.catalogue.held(0):
        searching.keep(fleet.catalogue, found, lambda _: False)
    return {one.session_id: one for one in found}


def hits(found: dict[str, Found]) -> list[tuple[str, int, str]]:
    return sorted((hit.session_id, hit.seq, hit.match) for one in found.values() for hit in one.hits)


def test_places_are_said_with_the_line_that_brought_them(fleet: Fleet) -> None:
    one = fleet.session(
        [tool("fetch", "before the needle in the page and after"), call(contents={"output_uri": {"text": "no such thing"}})]
    )
    fleet.session([tool("fetch", "nothing")])
    (hit,) = search(fleet, "needle in the page")[one].hits
    assert (hit.seq, hit.type, hit.name, hit.before, hit.after) == (2, "tool_call", "fetch", "before the ", " and after")


def test_what_is_sent_again_and_again_is_one_place(fleet: Fleet) -> None:
    """An agent resends its history at every turn."""
    history = [{"role": "user", "content": f"message {number} " + "with some length " * 30} for number in range(12)]
    one = fleet.session([call(contents={"prompt_redacted_uri": {"messages": history[:end]}}) for end in range(1, 13)])
    assert hits(search(fleet, "message 3 with")) == [(one, 5, "message 3 with")]


@pytest.mark.parametrize("where", ["short", "long", "name", "bytes", "deep", "escaped", "wide"])
def test_wherever_it_is_it_is_found(fleet: Fleet, where: str) -> None:
    text = 'the "needle" of\nthis ☃ test'
    value: Any = {
        "short": {"a": text}, "long": {"a": text + "x" * 400}, "name": {text: 1}, "bytes": {"a": b"\xff\x00" + text.encode() + b"\xfe"}, "deep": [[{"a": [text]}]],
        "escaped": {"a": text, "b": "\\" * 9}, "wide": {"a": text, "n": 1 << 80},
    }[where]  # fmt: skip
    one = fleet.session([tool("t", value)])
    fleet.session([tool("t", {"a": "other"})])
    for _ in range(2):  # the second time by filters
        assert hits(search(fleet, text)) == [(one, 2, text)]
        assert hits(search(fleet, r"needle\W+of\s+this", regex=True)) == [(one, 2, 'needle" of\nthis')]
        assert hits(search(fleet, 'THE "NEEDLE"', ignore_case=True)) == [(one, 2, 'the "needle"')]


def test_a_text_across_parts_of_long_bytes_is_found_once(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tachograph.format.tree.BLOB", 64)
    monkeypatch.setattr("tachograph.fleet.scan.BLOB", 64)
    data = b"." * 55 + b"across the border" + b"." * 60 + b"inside" + b"." * 99
    one = fleet.session([tool("t", {"a": data})])
    for _ in range(2):
        assert hits(search(fleet, "across the border")) == [(one, 2, "across the border")]
        assert hits(search(fleet, "inside")) == [(one, 2, "inside")]


def test_by_filters_as_without_them(fleet: Fleet) -> None:
    random_ = random.Random(4)
    words = ["".join(random_.choices("etaoinshr", k=random_.randrange(3, 8))) for _ in range(400)]
    texts = [" ".join(random_.choices(words, k=150)) for _ in range(30)]
    made = [fleet.session([tool("t", text)], day=number % 3) for number, text in enumerate(texts)]
    first = search(fleet, "nothing of the kind")
    assert set(first) == set(made)
    assert all(one.filter for one in first.values())
    assert search(fleet, "nothing of the kind") == {}
    for number in range(0, 30, 7):
        phrase = texts[number][200:230]
        expected = sorted(session_id for session_id, text in zip(made, texts, strict=True) if phrase in text)
        found = search(fleet, phrase)
        assert sorted({session_id for session_id, _, _ in hits(found)}) == expected
        assert len(found) < 10, "most are ruled out"


def test_a_session_that_has_grown_is_looked_through_again(fleet: Fleet) -> None:
    one = fleet.session([tool("t", "what there is so far")], end=False)
    search(fleet, "the later phrase")
    assert search(fleet, "the later phrase") == {}
    writer = recover.resume(fleet.opened, one, clock=Clock(), entropy=fleet.entropy, reason="host_lost")
    writer.append(tool("t", "and now the later phrase"))
    writer.seal()
    writer.close()
    for _ in range(2):
        assert [session_id for session_id, _, _ in hits(search(fleet, "the later phrase"))] == [one]
    state = fleet.catalogue.state()
    assert sum(one in told for told in state.filters.values()) == 1


def test_what_was_deleted_or_shredded_is_not_looked_through_and_its_filter_goes(fleet: Fleet) -> None:
    gone, shredded, stays = (fleet.session([tool("t", f"the phrase {number}")], entered=True) for number in range(3))
    assert set(search(fleet, "the phrase ")) == {gone, shredded, stays}
    fleet.remove(gone)
    custody.shred(custody.keeper(fleet.opened, clock=fleet.clock, entropy=fleet.entropy), shredded, "must go")
    assert set(search(fleet, "the phrase ")) == {stays}
    assert [session_id for told in fleet.catalogue.state().filters.values() for session_id in told] == [stays]
    for file in Path(fleet.store.root, "catalogue", "filters").rglob("*.parquet"):
        from tachograph.fleet import parquet

        assert parquet.load(file.read_bytes(), "").column("session_id").to_pylist() == [stays]
    assert fleet.ask("SELECT count(*) FROM events WHERE session_id = ?", [shredded]) == [(3,)], "its envelope stays"


def test_a_session_that_is_shredded_at_this_moment_is_said_to_be(fleet: Fleet) -> None:
    one = fleet.session([tool("t", "the phrase")], entered=True)
    custody.shred(custody.keeper(fleet.opened, clock=fleet.clock, entropy=fleet.entropy), one, "must go")
    found = scan.search(fleet.opened, one, needle.needle("the phrase"))
    assert (found.shredded, found.count, found.problem) == (True, 0, None)


def test_what_is_damaged_is_said_and_keeps_nobody_from_the_others(fleet: Fleet) -> None:
    bad, good = fleet.session([tool("t", "the phrase")]), fleet.session([tool("t", "the phrase")])
    name = Path(fleet.store._path(f"sessions/{bad}/00000001.content.pack"))
    data = bytearray(name.read_bytes())
    data[60] ^= 1
    name.write_bytes(bytes(data))
    found = search(fleet, "the phrase")
    assert "tacho verify" in str(found[bad].problem)
    assert found[good].count == 1
    assert found[bad].filter is None, "it has to be looked at, and said, each time"


def test_the_beginning_of_a_frame_that_a_dead_writer_left_is_passed_over(fleet: Fleet) -> None:
    one = fleet.session([tool("t", "the phrase")], end=False)
    with open(fleet.store._path(f"sessions/{one}/00000001.content.pack"), "ab") as file:
        file.write(b"\x00\x00\x01\x00abc")
    found = search(fleet, "the phrase")
    assert (found[one].problem, found[one].count) == (None, 1)


def test_content_that_no_line_speaks_of_is_no_part_of_the_session(fleet: Fleet) -> None:
    writer = fleet.writer()
    writer.append(Draft(event=events.SessionStart(name="x")))
    writer.commit()
    writer.append(tool("t", "never acknowledged"))
    writer._content_first()
    name = fleet.store._path(f"sessions/{writer.session_id}/00000001.events.jsonl")
    assert len(Path(name).read_bytes().splitlines()) == 1
    assert search(fleet, "never acknowledged")[writer.session_id].count == 0
    writer.close()


def test_everything_that_reading_shows_is_found(fleet: Fleet) -> None:
    """Against the reader itself: each string of each content."""
    one = fleet.session(
        [
            call(contents={"prompt_redacted_uri": [{"a": "first text"}, "second text " * 40], "output_uri": {"third text": None}}),
            tool("t", ["fourth text"] * 9),
        ]
    )
    recording = Recording(fleet.opened, one)
    texts = [
        text
        for entry in recording.entries
        for uri in entry.line.values()
        if isinstance(uri, str) and uri.startswith("content:")
        for text in scan._strings(recording.content(uri))
    ]
    assert len(texts) > 10
    for text in texts:
        assert search(fleet, text)[one].count >= 1, text


def test_by_several_processes(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [fleet.session([tool("t", f"the phrase {number}")]) for number in range(8)]
    monkeypatch.setattr(searching, "_LITTLE", 1)
    monkeypatch.setattr(searching, "_PART", 2)
    monkeypatch.setattr(workers, "processors", lambda: 2)
    for _ in range(2):
        assert [session_id for session_id, _, _ in hits(search(fleet, "the phrase"))] == sorted(made)


def test_many_small_files_of_filters_become_one(fleet: Fleet) -> None:
    for number in range(catalogue.MANY + 2):
        fleet.session([tool("t", f"the phrase {number}")])
        search(fleet, "nothing of the kind")
    state = fleet.catalogue.state()
    assert len(state.filters) < catalogue.MANY
    assert sum(map(len, state.filters.values())) == catalogue.MANY + 2
    assert search(fleet, "nothing of the kind") == {}
    assert len(hits(search(fleet, "the phrase 1"))) == 1 + sum(str(number).startswith("1") for number in range(10, catalogue.MANY + 2))


def test_the_filters_are_of_this_store_only(fleet: Fleet, tmp_path: Path) -> None:
    one = fleet.session([tool("t", "the phrase")])
    found = search(fleet, "the phrase")[one]
    other = Fleet(tmp_path / "other")
    key = ngrams.key_of(fleet.opened.content_key)
    assert found.filter == ngrams.build(key, one, scan.parts(fleet.opened, one))
    other_key = ngrams.key_of(other.opened.content_key[::-1])
    assert found.filter != ngrams.build(other_key, one, scan.parts(fleet.opened, one))


def test_a_rebuild_forgets_the_filters_and_they_are_made_anew(fleet: Fleet) -> None:
    one = fleet.session([tool("t", "the phrase")])
    search(fleet, "nothing of the kind")
    fleet.update(rebuild=True)
    assert fleet.catalogue.state().filters == {}
    assert not list(Path(fleet.store.root, "catalogue", "filters").rglob("*.parquet"))
    assert set(search(fleet, "nothing of the kind")) == {one}
    assert search(fleet, "nothing of the kind") == {}

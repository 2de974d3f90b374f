"""The acknowledgement contract (the docstring of ``log/writer.py``), operation by operation."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_helpers import SESSION, Clock, Entropy, check, draft, new_store

from fake_store import FakeStore
from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import ConflictError, FormatError, StoreError
from tachograph.crypto import keys
from tachograph.format import layout, line
from tachograph.log import opening
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording
from tachograph.log.writer import FRAMES_ROOM, SessionWriter, timestamp
from tachograph.stores.local import LocalStore

BARE = Draft(event=events.Git(sha="c0ffee"))
LINES, PACK, SEALS = "events.jsonl", "content.pack", "seals"


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def opened(store: FakeStore) -> OpenStore:
    key = keys.generate(Entropy())
    opening.create(store, key, Entropy())
    return opening.open_store(store, key)


@pytest.fixture
def writer(opened: OpenStore, store: FakeStore) -> SessionWriter:
    made = SessionWriter(opened, SESSION, opened.new_data_key(SESSION, Entropy()), clock=Clock(), entropy=Entropy())
    store.done.clear()
    return made


def test_keys_lock_and_files_are_there_before_the_first_line(store: FakeStore, opened: OpenStore) -> None:
    """In this order: a line never lacks its key, and what a crash leaves of a segment is never without its file of lines."""
    SessionWriter(opened, SESSION, opened.new_data_key(SESSION, Entropy()), clock=Clock(), entropy=Entropy())
    assert store.done == [
        ("put_new", "store.json"), ("put_new", "store.json"), ("put_new", f"{SESSION}.json"),
        ("lock", "lock"), ("create", LINES), ("create", SEALS), ("create", PACK),
    ]  # fmt: skip


def test_append_touches_nothing(store: FakeStore, writer: SessionWriter) -> None:
    for number in range(10):
        writer.append(draft(number))
    assert store.done == []
    assert writer.size == 10


def test_flush_hands_over_lines_when_their_content_is_on_the_device(store: FakeStore, writer: SessionWriter) -> None:
    for number in range(10):
        writer.append(draft(number))
    writer.flush()
    assert store.done == [("write", PACK), ("sync", PACK), ("write", LINES)]
    writer.flush()
    assert len(store.done) == 3


def test_commit_is_content_then_lines_in_two_syncs_however_many(store: FakeStore, writer: SessionWriter) -> None:
    for number in range(100):
        writer.append(draft(number))
    writer.commit()
    assert store.done == [("write", PACK), ("sync", PACK), ("write", LINES), ("sync", LINES)]
    writer.commit()
    writer.flush()
    assert len(store.done) == 4


def test_commit_after_flush_syncs_lines_only(store: FakeStore, writer: SessionWriter) -> None:
    writer.append(draft(1))
    writer.flush()
    store.done.clear()
    writer.commit()
    assert store.done == [("sync", LINES)]


def test_what_came_after_the_flush_is_part_of_the_commit(store: FakeStore, writer: SessionWriter) -> None:
    writer.append(draft(1))
    writer.flush()
    writer.append(draft(2))
    store.done.clear()
    writer.commit()
    assert store.done == [("write", PACK), ("sync", PACK), ("write", LINES), ("sync", LINES)]


def test_lines_without_content_cost_one_sync(store: FakeStore, writer: SessionWriter) -> None:
    writer.append(draft(1))
    writer.commit()
    store.done.clear()
    writer.append(BARE)
    writer.commit()
    assert store.done == [("write", LINES), ("sync", LINES)]


def test_a_line_on_the_device_never_refers_to_content_that_is_not(store: FakeStore, writer: SessionWriter) -> None:
    """With commits alone, after each operation: what is synced is a log that a power cut may leave."""
    for number in range(5):
        writer.append(draft(number))
        writer.commit()
        lines, content = store.synced[layout.events(SESSION, 1)], store.synced[layout.content(SESSION, 1)]
        assert lines == store.objects[layout.events(SESSION, 1)]
        assert content == store.objects[layout.content(SESSION, 1)]


def test_seal_is_a_commit_and_a_note(store: FakeStore, writer: SessionWriter) -> None:
    assert writer.seal() is None
    assert store.done == []
    writer.append(draft(1))
    assert writer.unsealed == 1
    signed = writer.seal()
    assert store.done == [("write", PACK), ("sync", PACK), ("write", LINES), ("sync", LINES), ("write", SEALS), ("sync", SEALS)]
    assert signed is not None
    assert store.objects[layout.seals(SESSION, 1)] == signed.encode() + b"\n"
    assert writer.unsealed == 0
    assert writer.seal() is None
    assert len(store.done) == 6


@pytest.mark.parametrize("kind", [LINES, PACK, SEALS])
@pytest.mark.parametrize("operation", ["write", "sync"])
def test_after_a_failure_the_writer_refuses_to_go_on(store: FakeStore, writer: SessionWriter, operation: str, kind: str) -> None:
    writer.append(draft(1))
    store.fail.add((operation, kind))
    with pytest.raises(StoreError, match=f"cannot {operation}"):
        writer.seal()
    seen = len(store.done)
    for act in (lambda: writer.append(draft(2)), writer.flush, writer.commit, writer.seal):
        with pytest.raises(StoreError, match=f"cannot {operation}"):
            act()
    assert len(store.done) == seen, "a broken writer must not try again: the kernel may have dropped what it could not write"
    writer.close()
    assert store.locked == set()


@pytest.mark.parametrize("kind", [LINES, PACK, SEALS])
@pytest.mark.parametrize("given", [False, True])
def test_a_writer_that_does_not_come_about_gives_the_lock_back(store: FakeStore, opened: OpenStore, kind: str, given: bool) -> None:
    lock = store.lock(layout.lock(SESSION)) if given else None
    store.fail.add(("create", kind))
    with pytest.raises(StoreError):
        SessionWriter(opened, SESSION, b"k" * 32, clock=Clock(), entropy=Entropy(), lock=lock)
    assert store.locked == set()


def test_a_segment_is_never_opened_again(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    data_key = opened.new_data_key(SESSION, Entropy())
    SessionWriter(opened, SESSION, data_key, clock=Clock(), entropy=Entropy()).close()
    with pytest.raises(ConflictError, match="never opened again"):
        SessionWriter(opened, SESSION, data_key, clock=Clock(), entropy=Entropy())


def test_the_names_are_durable_before_the_first_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = new_store(tmp_path / "store")
    data_key = opened.new_data_key(SESSION, Entropy())
    synced: list[set[str]] = []
    real = LocalStore._sync_directory

    def sync(path: str) -> None:
        real(path)
        if Path(path).name == SESSION:
            synced.append({entry.name for entry in Path(path).iterdir()})

    monkeypatch.setattr(LocalStore, "_sync_directory", staticmethod(sync))
    SessionWriter(opened, SESSION, data_key, clock=Clock(), entropy=Entropy()).close()
    assert synced[-1] == {"lock", "00000001.events.jsonl", "00000001.content.pack", "00000001.seals"}


REFUSED = {
    "too long": (Draft(event=events.Note(extra={"text": "x" * line.MAX_LINE}), contents={"text_uri": "y" * 400}), StoreError),
    "just too long": (Draft(event=events.Note(extra={"text": "x" * (line.MAX_LINE - FRAMES_ROOM)})), StoreError),
    "a field of the stamp": (Draft(event=events.Note(extra={"seq": 9}), contents={"text_uri": "y" * 400}), FormatError),
    "a hash of its own": (Draft(event=events.Note(extra={"hash": "0" * 64})), FormatError),
    "content that is none": (Draft(event=events.Note(), contents={"text_uri": "y" * 400, "seq": "z"}), FormatError),
    "content as the id": (Draft(event=events.Note(), contents={"id": "z" * 400}), FormatError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_draft_that_is_refused_leaves_no_trace(opened: OpenStore, writer: SessionWriter, name: str) -> None:
    bad, error = REFUSED[name]
    writer.append(draft(1))
    with pytest.raises(error) as caught:
        writer.append(bad)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    assert writer.size == 1
    writer.append(draft(2))
    writer.append(Draft(event=events.SessionEnd()))
    writer.seal()
    result = check(opened)
    assert (result.verdict, result.events, result.problems) == ("verified", 3, [])


def test_the_longest_line_with_content_fits(opened: OpenStore, writer: SessionWriter) -> None:
    size = line.MAX_LINE - FRAMES_ROOM - 1000
    writer.append(Draft(event=events.Note(extra={"text": "x" * size}), contents={"text_uri": "y" * 400}))
    writer.seal()
    assert check(opened).verdict == "verified"


def test_the_event_comes_back_as_it_was_written(tmp_path: Path) -> None:
    opened = new_store(tmp_path / "store")
    writer = SessionWriter(opened, SESSION, opened.new_data_key(SESSION, Entropy()), clock=Clock(), entropy=Entropy())
    call = events.ModelCall(provider="p", operation="o")
    contents = {"prompt_redacted_uri": {"q": 1}, "output_uri": "a" * 300, "error_uri": None, "record_uri": {"raw": True}}
    written = writer.append(Draft(event=call, contents=contents, unix_ms=1_700_000_000_123))
    writer.seal()
    writer.close()
    (entry,) = Recording(opened, SESSION).entries
    assert entry.event == written
    assert entry.ts == "2023-11-14T22:13:20.123Z"
    assert isinstance(written, events.ModelCall)
    assert written.prompt_redacted_uri is not None
    assert written.prompt_hash == "hmac-sha256:" + written.prompt_redacted_uri.removeprefix("content:")
    assert written.error_uri is None
    assert set(written.extra) == {"record_uri"}
    assert check(opened).verdict == "verified"


@pytest.mark.parametrize(
    ("unix_ms", "text"),
    [(0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"), (253402300799999, "9999-12-31T23:59:59.999Z")],
)  # fmt: skip
def test_timestamps(unix_ms: int, text: str) -> None:
    assert timestamp(unix_ms) == text

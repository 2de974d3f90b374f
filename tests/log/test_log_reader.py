"""Reading: the shape of ``tacho cat``, names of sessions, keys that are gone, and logs that are not to be read on."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from log_helpers import SESSION, Clock, Entropy, draft, new_store, new_writer, write_session

from tachograph.core import events
from tachograph.core.drafts import Draft
from tachograph.core.errors import (
    FormatError,
    KeyUnavailableError,
    NewerFormatError,
    NotFoundError,
    TachographError,
    TamperedError,
    UsageError,
)
from tachograph.format import line
from tachograph.log import recover
from tachograph.log.opening import OpenStore
from tachograph.log.reader import Recording, resolve, segments, session_ids

CONVERSATION = {"messages": [{"role": "user", "content": "fix the test " * 40}], "temperature": 0}


def write(opened: OpenStore, *drafts: Draft) -> None:
    writer = new_writer(opened)
    for one in drafts:
        writer.append(one)
    writer.seal()
    writer.close()


def shown(opened: OpenStore) -> list[dict[str, Any]]:
    found = list(Recording(opened, SESSION).expanded())
    assert json.loads(json.dumps(found)) == found, "the expanded form is JSON"
    return found


@pytest.fixture
def opened(tmp_path: Path) -> OpenStore:
    return new_store(tmp_path / "store")


# -- tacho cat: DESIGN §9, "Shapes that others rely on" ------------------------------------------------------------------------


def test_a_model_call_has_input_and_output_in_place(opened: OpenStore) -> None:
    call = events.ModelCall(
        provider="bedrock", operation="Converse", model_id="m", params={"temperature": 0}, tool_calls=[{"id": "c", "name": "t"}]
    )
    request = {"method": "POST", "body": CONVERSATION}
    contents = {
        "prompt_redacted_uri": CONVERSATION, "output_uri": {"text": "done"}, "request_uri": request, "wire_uri": {"head": None, "data": b"x"},
        "error_uri": "it broke",
    }  # fmt: skip
    write(opened, Draft(event=call, contents=contents))
    (line,) = shown(opened)
    assert list(line)[:5] == ["v", "seq", "ts", "session_id", "type"]
    assert {"seq", "id", "ts", "type"} <= set(line)
    assert (line["seq"], line["type"], line["model_id"], line["params"]) == (1, "model_call", "m", {"temperature": 0})
    assert line["input"] == CONVERSATION
    assert line["output"] == {"text": "done"}
    assert line["error"] == "it broke"
    assert line["tool_calls"] == [{"id": "c", "name": "t"}]
    assert line["prompt_hash"].startswith("hmac-sha256:")
    # Neither the wire, nor where bytes lie, nor the request a second time, nor a reference that leads nowhere outside the store.
    assert not {"request", "request_uri", "wire", "wire_uri", "frames", "prompt_redacted", "prompt_redacted_uri", "output_uri"} & set(line)


def test_a_tool_call(opened: OpenStore) -> None:
    tool = events.ToolCall(name="apply_patch", call_id="call_1", source="wire", outcome="error")
    write(opened, Draft(event=tool, contents={"input_uri": {"path": "a"}, "output_uri": "no", "error_uri": {"type": "E"}}))
    (line,) = shown(opened)
    assert {key: line[key] for key in ("name", "call_id", "input", "output", "error", "source")} == {
        "name": "apply_patch", "call_id": "call_1", "input": {"path": "a"}, "output": "no", "error": {"type": "E"}, "source": "wire",
    }  # fmt: skip


def test_git_the_end_and_a_gap(opened: OpenStore) -> None:
    git = events.Git(sha="c0ffee", branch="main")
    write(opened, Draft(event=git), Draft(event=events.SessionEnd(status="killed", signal=9)))
    first, last = shown(opened)
    assert (first["sha"], first["branch"]) == ("c0ffee", "main")
    assert (last["type"], last["status"], last["signal"]) == ("session_end", "killed", 9)
    recover.resume(opened, SESSION, clock=Clock(), entropy=lambda size: b"r" * size, reason="host_lost").close()
    gap = shown(opened)[-1]
    assert (gap["seq"], gap["type"], gap["reason"]) == (3, "gap", "host_lost")


def test_a_request_that_is_no_input_is_shown(opened: OpenStore) -> None:
    write(opened, Draft(event=events.Http(method="GET"), contents={"request_uri": {"url": "http://127.0.0.1/"}}))
    (line,) = shown(opened)
    assert line["request"] == {"url": "http://127.0.0.1/"}


def test_what_only_looks_like_a_reference_stays(opened: OpenStore) -> None:
    write(opened, Draft(event=events.Note(extra={"page_uri": "https://example.invalid/", "text": "content:none"})))
    (line,) = shown(opened)
    assert (line["page_uri"], line["text"]) == ("https://example.invalid/", "content:none")


def test_unknown_types_and_fields_are_shown_with_their_content(opened: OpenStore) -> None:
    unknown = events.Unknown(type_name="weather", extra={"rain": [1, {"mm": 2.5}]})
    write(opened, Draft(event=unknown, contents={"map_uri": {"cells": list(range(100))}}))
    (line,) = shown(opened)
    assert (line["type"], line["rain"], line["map"]) == ("weather", [1, {"mm": 2.5}], {"cells": list(range(100))})


def test_entries_are_found_by_id(opened: OpenStore) -> None:
    write_session(opened)
    recording = Recording(opened, SESSION)
    assert [entry.seq for entry in recording.entries] == list(range(1, 9))
    for entry in recording.entries:
        assert recording.by_id(entry.event.id) is entry
    assert recording.by_id("evt_none") is None
    assert recording.content(None) is None


# -- names -------------------------------------------------------------------------------------------------------------------

IDS = ["ses_01K0000000000000000000000A", "ses_01K0000000000000000000000B", "ses_01M0000000000000000000000A"]


@pytest.fixture
def three(opened: OpenStore) -> OpenStore:
    for name in reversed(IDS):
        write_session(opened, 1, session_id=name)
    return opened


@pytest.mark.parametrize(
    ("name", "index"),
    [
        (IDS[0], 0), (IDS[1].lower(), 1), (IDS[2].removeprefix("ses_"), 2), ("ses_01M", 2), ("01m", 2), ("SES_01M", 2), ("@last", 2),
        ("ses_01K0000000000000000000000B", 1),
    ],
)  # fmt: skip
def test_a_session_is_named_by_id_prefix_or_last(three: OpenStore, name: str, index: int) -> None:
    assert session_ids(three.store) == IDS
    assert resolve(three.store, name) == IDS[index]


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("01K", UsageError, "2 sessions"), ("ses_01", UsageError, "3 sessions"), ("", UsageError, "empty"), ("ses_", UsageError, "empty"),
        ("01Z", NotFoundError, "tacho ls"), ("@first", NotFoundError, "tacho ls"), ("../keys", NotFoundError, "tacho ls"),
        (IDS[0] + "0", NotFoundError, "tacho ls"), ("ses_\0", NotFoundError, "tacho ls"), ("x" * 10_000, NotFoundError, "tacho ls"),
    ],
)  # fmt: skip
def test_a_name_that_names_no_session(three: OpenStore, name: str, error: type[TachographError], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        resolve(three.store, name)
    assert "\n" not in str(caught.value)


def test_the_last_of_none(opened: OpenStore) -> None:
    with pytest.raises(NotFoundError, match="tacho record"):
        resolve(opened.store, "@last")
    with pytest.raises(NotFoundError, match="tacho ls"):
        Recording(opened, SESSION)


def test_other_things_in_the_folder_of_sessions_are_no_sessions(three: OpenStore, tmp_path: Path) -> None:
    folder = tmp_path / "store/sessions"
    (folder / "notes.txt").write_text("x")
    (folder / "ses_short").mkdir()
    (folder / "ses_short/00000001.events.jsonl").write_text("")
    assert session_ids(three.store) == IDS


# -- keys that are gone --------------------------------------------------------------------------------------------------------


def test_shredded_content_is_a_clear_line_and_the_envelope_stays(opened: OpenStore, tmp_path: Path) -> None:
    write_session(opened)
    (tmp_path / "store/keys" / f"{SESSION}.json").unlink()
    recording = Recording(opened, SESSION)
    assert len(recording.entries) == 8
    with pytest.raises(KeyUnavailableError, match="shredded") as caught:
        list(recording.expanded())
    assert "\n" not in str(caught.value)
    assert "backup" in str(caught.value)


def test_a_key_for_somebody_else_says_whose(opened: OpenStore, tmp_path: Path) -> None:
    write_session(opened)
    file = tmp_path / "store/keys" / f"{SESSION}.json"
    file.write_text(file.read_text().replace(opened.key.id, "0123456789abcdef"))
    with pytest.raises(KeyUnavailableError, match="0123456789abcdef"):
        list(Recording(opened, SESSION).expanded())


@pytest.mark.parametrize("wraps", ["[]", "5", "[5]", '[{"type":"keyfile"}]', "null"])
def test_keys_that_are_none(opened: OpenStore, tmp_path: Path, wraps: str) -> None:
    write_session(opened)
    (tmp_path / "store/keys" / f"{SESSION}.json").write_text('{"v":1,"wraps":' + wraps + "}")
    with pytest.raises((KeyUnavailableError, FormatError)) as caught:
        list(Recording(opened, SESSION).expanded())
    assert "\n" not in str(caught.value)


def test_content_that_is_not_there(opened: OpenStore) -> None:
    write_session(opened)
    recording = Recording(opened, SESSION)
    for uri in ("content:" + "00" * 32, "content:", "content:xyz", "nothing"):
        with pytest.raises(FormatError, match="tacho verify"):
            recording.content(uri)


# -- logs that are not to be read on -------------------------------------------------------------------------------------------


def lines_of(folder: Path) -> list[bytes]:
    return (folder / "00000001.events.jsonl").read_bytes().splitlines(keepends=True)


def chained(bodies: list[bytes]) -> bytes:
    """Lines with these bytes before their hash, as a forger without the key would chain them."""
    previous, out = line.genesis(SESSION), []
    for body in bodies:
        previous = hashlib.sha256(previous.encode() + body).hexdigest()
        out.append(body + b',"hash":"' + previous.encode() + b'"}\n')
    return b"".join(out)


HEAD = b'{"v":1,"seq":1,"ts":"2026-09-11T07:12:01.412Z","session_id":"' + SESSION.encode() + b'","type":"note"'


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (HEAD.replace(b'"v":1', b'"v":2'), NewerFormatError), (HEAD.replace(b'"v":1', b'"v":0'), FormatError),
        (HEAD.replace(b'"v":1', b'"v":true'), FormatError), (HEAD.replace(b'"v":1', b'"v":"1"'), FormatError),
        (HEAD.replace(b'"seq":1', b'"seq":"1"'), FormatError), (HEAD.replace(b'"seq":1', b'"seq":1.0'), FormatError),
        (HEAD + b',"type":"note"', FormatError), (HEAD + b',"x":{"a":1,"a":2}', FormatError), (HEAD + b',"x":NaN', FormatError),
        (b"{nothing", FormatError), (b"\xef\xbb\xbf" + HEAD, FormatError), (HEAD + b',"x":"\xff"', FormatError),
        (HEAD + b',"x":' + b"[" * 5000 + b"]" * 5000, FormatError), (HEAD + b',"x":' + b"1" * 5000, FormatError),
        (HEAD + b',"frames":5', FormatError), (HEAD + b',"frames":[5]', FormatError), (HEAD + b',"frames":[{"n":0,"at":40}]', FormatError),
        (HEAD + b',"frames":[{"n":-1,"at":40,"len":9}]', FormatError), (HEAD + b',"frames":[{"n":0,"at":40.0,"len":9}]', FormatError),
    ],
)  # fmt: skip
def test_a_chained_line_that_no_writer_makes(opened: OpenStore, tmp_path: Path, body: bytes, error: type[TachographError]) -> None:
    new_writer(opened).close()
    (tmp_path / "store/sessions" / SESSION / "00000001.events.jsonl").write_bytes(chained([body]))
    with pytest.raises(error, match=r"tacho verify|update") as caught:
        Recording(opened, SESSION)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("tail", [b"\n\n", b"x\n\n", b"x\n\n\n", b"x\ny", b"\ny\n"])
def test_a_tail_with_a_line_feed_inside_is_no_torn_one(opened: OpenStore, tmp_path: Path, tail: bytes) -> None:
    """The verifier says so, and whoever continues a log must think the same."""
    write_session(opened, end=False)
    file = tmp_path / "store/sessions" / SESSION / "00000001.events.jsonl"
    file.write_bytes(file.read_bytes() + tail)
    with pytest.raises(TamperedError, match="offset"):
        Recording(opened, SESSION)
    with pytest.raises(TamperedError, match="offset"):
        recover.resume(opened, SESSION, clock=Clock(), entropy=Entropy(), reason="host_lost")


@pytest.mark.parametrize("tail", [b"\n", b"x", b"x\n", b'{"v":1,"seq":8'])
def test_a_torn_tail_is_kept_apart(opened: OpenStore, tmp_path: Path, tail: bytes) -> None:
    write_session(opened, end=False)
    file = tmp_path / "store/sessions" / SESSION / "00000001.events.jsonl"
    size = file.stat().st_size
    file.write_bytes(file.read_bytes() + tail)
    recording = Recording(opened, SESSION)
    assert [(found.segment, found.offset, found.data) for found in recording.tails] == [(1, size, tail)]
    assert len(recording.entries) == 7


def test_leniently_what_comes_before_the_break_is_read(opened: OpenStore, tmp_path: Path) -> None:
    write_session(opened)
    file = tmp_path / "store/sessions" / SESSION / "00000001.events.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:3], lines[4], lines[3], *lines[5:]]))
    with pytest.raises(TamperedError):
        Recording(opened, SESSION)
    assert [entry.seq for entry in Recording(opened, SESSION, strict=False).entries] == [1, 2, 3]


def test_a_segment_that_is_missing_is_not_read_over(opened: OpenStore, tmp_path: Path) -> None:
    """With one line in it, what follows the hole looks like a torn tail."""
    write_session(opened, end=False)
    for _ in range(2):
        recover.resume(opened, SESSION, clock=Clock(), entropy=lambda size: b"r" * size, reason="host_lost").close()
    assert segments(opened.store, SESSION) == [1, 2, 3]
    for file in (tmp_path / "store/sessions" / SESSION).glob("00000002.*"):
        file.unlink()
    with pytest.raises(TamperedError, match="missing"):
        Recording(opened, SESSION)
    with pytest.raises(TamperedError, match="missing"):
        recover.resume(opened, SESSION, clock=Clock(), entropy=Entropy(), reason="host_lost")


def test_strange_names_are_no_segments(opened: OpenStore, tmp_path: Path) -> None:
    write_session(opened)
    folder = tmp_path / "store/sessions" / SESSION
    (folder / "deeper").mkdir()
    for name in ("deeper/00000002.events.jsonl", "٠٠٠٠٠٠٠2.events.jsonl", "x00000002.events.jsonl"):
        shutil.copy(folder / "00000001.events.jsonl", folder / name)
    assert segments(opened.store, SESSION) == [1]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:45], lambda data: b"", lambda data: b"X" + data[1:], lambda data: data[:60] + b"\0" + data[61:],
        lambda data: data[:9] + bytes([data[9] ^ 1]) + data[10:],
    ],
)  # fmt: skip
def test_damaged_content_is_a_clear_line(opened: OpenStore, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    write_session(opened)
    file = tmp_path / "store/sessions" / SESSION / "00000001.content.pack"
    file.write_bytes(damage(file.read_bytes()))
    recording = Recording(opened, SESSION)
    with pytest.raises(FormatError, match="tacho verify") as caught:
        list(recording.expanded())
    assert "\n" not in str(caught.value)


def test_a_resumed_session_is_read_over_its_segments(opened: OpenStore) -> None:
    write_session(opened, 2, end=False)
    writer = recover.resume(opened, SESSION, clock=Clock(), entropy=lambda size: b"r" * size, reason="host_lost")
    writer.append(draft(7))
    writer.seal()
    writer.close()
    found = shown(opened)
    assert [line["seq"] for line in found] == [1, 2, 3, 4, 5]
    assert found[-1]["text"]["number"] == 7

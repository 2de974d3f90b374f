"""What a launcher says is believed no further than that it says it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tachograph.client.frames import Splitter, pack
from tachograph.core.errors import StoreError, UsageError
from tachograph.host import caller, calling, hosted, surroundings
from tachograph.host.workspace import OwnEyes, Seen


def pair(answer: Callable[[dict[str, Any]], bytes | None]) -> caller.Caller:
    """A caller whose launcher answers each question with ``answer``; with None it hangs up."""
    ours, theirs = socket.socketpair()

    def run() -> None:
        splitter = Splitter()
        with theirs:
            while data := theirs.recv(1 << 16):
                splitter.feed(data)
                for header, _ in splitter.frames():
                    said = answer(header)
                    if said is None:
                        return
                    theirs.sendall(said)

    threading.Thread(target=run, daemon=True).start()
    return caller.Caller(ours, Splitter())


def marks(changed: Any, gone: Any = ()) -> bytes:
    return pack({"m": "marks", "changed": changed, "gone": list(gone)})


FILE = [0o100644, 3, 1, 1]


def test_what_changed_is_kept_and_what_is_gone_is_forgotten() -> None:
    said = iter([marks({"a": FILE, "b/c": FILE}), marks({"a": [0o100644, 4, 2, 1]}, ["b/c"])])
    eyes = caller.Eyes(pair(lambda _: next(said)), "/w")
    first, second = eyes.scan(), eyes.scan()
    assert first is not None
    assert second is not None
    assert sorted(first) == ["a", "b/c"]
    assert {name: mark.size for name, mark in second.items()} == {"a": 4}


@pytest.mark.parametrize(
    "answer",
    [
        marks({"../out": FILE}), marks({"/etc/passwd": FILE}), marks({"a//b": FILE}), marks({"a/./b": FILE}), marks({"": FILE}), marks({"a\0": FILE}),
        marks({"a": ["x", 1, 1, 1]}), marks({"a": [1]}), marks([1]), marks({"a": FILE}, [["x"]]), pack({"m": "other"}), b"\xff" * 64,
        b"\0\0\0\x04\0\0\0\0{[x}", None,
    ],
)  # fmt: skip
def test_who_names_what_cannot_be_or_says_nothing_is_blind_from_then_on(answer: bytes | None) -> None:
    asked: list[str] = []

    def say(header: dict[str, Any]) -> bytes | None:
        asked.append(header["m"])
        return answer

    eyes = caller.Eyes(pair(say), "/w")
    assert eyes.scan() is None
    assert eyes.lost is not None
    assert eyes.read("a", link=False) == Seen(why="the launcher is gone")
    assert eyes.tracked("0" * 40) is None
    assert asked == ["scan"]


def test_how_the_command_ended_may_come_while_a_question_is_open() -> None:
    line = pair(lambda header: pack({"m": "exit", "exit_code": 3, "signal": None, "seconds": 1.5}) + marks({"a": FILE}))
    assert caller.Eyes(line, "/w").scan() is not None
    assert line.waiting
    assert line.heard() == {"exit_code": 3, "signal": None, "seconds": 1.5}


def test_an_exit_that_is_no_exit_says_nothing() -> None:
    line = pair(lambda header: pack({"m": "exit", "exit_code": "rm", "signal": [9], "seconds": {}}) + marks({}))
    caller.Eyes(line, "/w").scan()
    assert line.heard() == {"exit_code": None, "signal": None, "seconds": None}


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "a/../../b", "", "a\0b"])
def test_a_host_reads_nothing_outside_of_the_workspace_through_the_launcher(tmp_path: Path, name: str) -> None:
    ours, theirs = socket.socketpair()
    around = surroundings.Surroundings(cwd=str(tmp_path), umask=0o022, host={}, repository={}, eyes=OwnEyes(str(tmp_path)))
    theirs.sendall(pack({"m": "session", "session": "ses_x", "socket": "/s", "token": "t"}) + pack({"m": "read", "name": name}))
    with ours, theirs, pytest.raises(StoreError, match="no business"):
        calling.Calling(ours, around, "/s").begin({"m": "session"}, None)


REQUEST = {
    "m": "session", "v": 2, "argv": ["python"], "env": {}, "cwd": "/w", "umask": 0o022, "host": {}, "repository": {}, "root": "/w", "name": None,
    "links": [], "on_loss": "stop", "given": [], "policy": None, "vault": False,
}  # fmt: skip


def parsed(**changed: Any) -> dict[str, Any]:
    raw = Splitter()
    raw.feed(pack({**REQUEST, **changed}))
    found = hosted.request(raw)
    assert found is not None
    return hosted._parsed(found)


def test_a_request_as_a_launcher_makes_it_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = calling.Asked(where="/s", command=["true"], environment={}, entropy=bytes)
    made = calling.request(asked, {"A": "\udcff"}, surroundings.here())
    del made["m"], made["v"]
    assert parsed(**made) == made


@pytest.mark.parametrize(
    "wrong",
    [
        {"argv": []}, {"argv": "ls"}, {"argv": [1]}, {"env": {"A": 1}}, {"env": []}, {"cwd": "w"}, {"cwd": None}, {"root": "../w"}, {"umask": -1},
        {"umask": "0"}, {"host": None}, {"repository": {"sha": 1}}, {"repository": {"other": "x"}}, {"name": "x" * 5000}, {"name": 1},
        {"links": ["x"] * 65}, {"links": [None]}, {"on_loss": "maybe"}, {"given": [1]}, {"policy": []}, {"vault": 1}, {"v": 1}, {"m": "other"},
    ],
    ids=repr,
)  # fmt: skip
def test_a_request_of_another_shape_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        parsed(**wrong)

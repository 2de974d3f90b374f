"""Which opened files a client tells of."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tachograph.client import ambient, link, outside
from tachograph.client.guard import WriteWatch


class FakeLink:
    lost, mode = False, "record"

    def __init__(self) -> None:
        self.reads: list[Any] = []

    def writing(self) -> bool:
        return False

    def flush(self) -> None:
        pass


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    at = FakeLink()
    monkeypatch.setattr(link, "_link", at)
    monkeypatch.setattr(ambient, "here", lambda: True)
    return at.reads


def test_each_file_is_told_once_with_what_stat_says(told: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    path = tmp_path / "f"
    path.write_text("four")
    watch = outside.Outside(str(workspace))
    monkeypatch.chdir(tmp_path)
    for name in (str(path), "f", b"f", path, "./f", str(tmp_path / "x" / ".." / "f"), 3, None, object()):
        watch.opened(name)
    watch.opened(str(tmp_path / "gone"))
    found = path.stat()
    assert told == [
        ("", "files.open", "", [str(path), 4, found.st_ctime_ns]),
        ("", "files.open", "", [str(tmp_path / "gone")]),
    ]


def test_code_libraries_the_workspace_and_devices_are_not_told(told: list[Any], tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    watch = outside.Outside(str(workspace))
    for name in (
        str(workspace / "f"), str(workspace / "x" / ".." / "f"), os.path.join(os.path.dirname(os.__file__), "LICENSE.txt"), str(tmp_path / "a.py"),
        str(tmp_path / "site-packages" / "x" / "data.json"), "/proc/self/maps", "/dev/null", "/sys/x", outside.__file__ + ".txt",
    ):  # fmt: skip
        watch.opened(name)
    assert told == []
    watch.opened(str(tmp_path / "workspace2"))  # only looks like it
    assert len(told) == 1


def test_what_was_written_before_is_not_told(told: list[Any], tmp_path: Path) -> None:
    watch = WriteWatch(outside.Outside(None))
    path = str(tmp_path / "f")
    watch("open", (path, "w", os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    watch("os.rename", (path, path + "2", -1, -1))
    for name in (path, path + "2", path + "3"):
        watch("open", (name, "r", os.O_RDONLY | os.O_CLOEXEC))
    assert [value for *_, (value, *_) in told] == [path + "3"]
    assert watch.read() == 2


def test_no_more_than_so_many_are_told(told: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "MOST", 3)
    watch = outside.Outside(None)
    for number in range(9):
        watch.opened(str(tmp_path / str(number)))
    assert len(told) == 3

"""The cache of compiled patterns: what may be loaded, and that nothing else is."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tachograph.host import patterns
from tachograph.redact.prefilter.index import Index
from tachograph.redact.prefilter.trigger import Trigger

KEY = b"a store's key"


def index() -> Index:
    return Index([Trigger(("abc",), r"abc\d")])


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "cache" / "tachograph"
    patterns.compile_and_keep(index(), str(folder), KEY)
    assert len(list(folder.iterdir())) == 1
    return folder


def only(cache: Path) -> Path:
    return next(iter(cache.iterdir()))


def test_what_was_kept_is_loaded(cache: Path) -> None:
    again = index()
    assert patterns.load(again, str(cache), KEY)
    assert again.ready
    assert again.engine(None).scan("abc1") == [(0, 0)]
    assert only(cache).stat().st_mode & 0o777 == 0o600
    assert cache.stat().st_mode & 0o777 == 0o700


def test_another_store_does_not_load_it(cache: Path) -> None:
    assert not patterns.load(index(), str(cache), b"another key")
    made = only(cache)
    other = index()
    patterns.compile_and_keep(other, str(cache), b"another key")
    theirs = next(path for path in cache.iterdir() if path != made)
    theirs.write_bytes(made.read_bytes())
    assert not patterns.load(index(), str(cache), b"another key")


def test_other_patterns_do_not_load_it(cache: Path) -> None:
    assert not patterns.load(Index([Trigger(("abd",))]), str(cache), KEY)


@pytest.mark.parametrize("at", [0, 31, 32, 40, -1])
def test_a_changed_byte_is_seen(cache: Path, at: int) -> None:
    data = bytearray(only(cache).read_bytes())
    data[at] ^= 1
    only(cache).write_bytes(data)
    again = index()
    assert not patterns.load(again, str(cache), KEY)
    assert not again.ready
    assert again.engine(None).scan("abc1") == [(0, 0)]


@pytest.mark.parametrize("size", [0, 5, 32, 100])
def test_a_short_file_is_seen(cache: Path, size: int) -> None:
    only(cache).write_bytes(only(cache).read_bytes()[:size])
    assert not patterns.load(index(), str(cache), KEY)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_not_loaded(cache: Path, mode: int) -> None:
    only(cache).chmod(mode)
    assert not patterns.load(index(), str(cache), KEY)


@pytest.mark.parametrize("mode", [0o770, 0o777])
def test_a_folder_that_others_can_write_is_not_used(cache: Path, mode: int) -> None:
    cache.chmod(mode)
    assert not patterns.load(index(), str(cache), KEY)
    only(cache).unlink()
    again = index()
    patterns.compile_and_keep(again, str(cache), KEY)
    assert again.ready
    assert list(cache.iterdir()) == []


def test_no_link_is_followed(cache: Path, tmp_path: Path) -> None:
    file = only(cache)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert not patterns.load(index(), str(cache), KEY)
    (tmp_path / "link").symlink_to(cache)
    assert not patterns.load(index(), str(tmp_path / "link"), KEY)


def test_a_pipe_in_its_place_does_not_block(cache: Path) -> None:
    file = only(cache)
    file.unlink()
    os.mkfifo(file, 0o600)
    assert not patterns.load(index(), str(cache), KEY)


def test_no_folder() -> None:
    assert not patterns.load(index(), "/nonexistent/tachograph", KEY)


def test_a_full_disk_or_a_closed_folder_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    again = index()
    patterns.compile_and_keep(again, str(blocked / "tachograph"), KEY)
    assert again.ready


def test_old_ones_go(cache: Path) -> None:
    for n in range(8):
        patterns.compile_and_keep(Index([Trigger((f"abc{n}",))]), str(cache), KEY)
    assert len(list(cache.iterdir())) == 6
    assert patterns.load(Index([Trigger(("abc7",))]), str(cache), KEY)


def test_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "PATIENCE", 0.0)
    again = index()
    patterns.later(again, str(tmp_path / "c"), KEY)
    for thread in threading.enumerate():
        if thread.name == "patterns":
            thread.join(60)
    assert again.ready
    before = threading.active_count()
    patterns.later(again, str(tmp_path / "c"), KEY)
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/tachograph"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/tachograph"),
        ({"HOME": "/h"}, "/h/.cache/tachograph"),
    ],
)
def test_the_folder(environment: dict[str, str], expected: str) -> None:
    assert patterns.folder(environment) == expected

"""The conformance suite for stores: subclass it with a way to open your store.

Needs pytest.

    from tachograph.testing.store_suite import StoreSuite

    class TestAcme(StoreSuite):
        folders = False

        @classmethod
        def open(cls, place: str) -> Store:
            return AcmeStore(place)

        @pytest.fixture
        def place(self) -> str:
            return "acme://test/" + fresh_prefix()

It checks what the log relies on (``core.ports.Store``): a name is created once, by one of many; what was written outlives the
writer's process; small objects are seen whole or not at all; a lock is exclusive and dies with its holder; nothing leads out of the
store; whatever goes wrong is one of our errors, in one line that says what to do. Other processes open the store anew, so the
class must be importable and ``open`` must need nothing but the place.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tachograph.core.errors import ConflictError, NotFoundError, StoreError, TachographError
from tachograph.core.ports import AppendFile, Store

#: Names of no store. Each of them led out of some store, or into the middle of another name.
BAD_NAMES = (
    "", "/", ".", "..", "../x", "a/../../x", "a/..", "a/./b", "a//b", "/etc/passwd", "//a", "a/", "a\0b", "\0", "../../../../../etc/passwd",
    "\ud800",
)  # fmt: skip
#: As ``format/layout.py`` spells them, and what a file system might stumble over.
GOOD_NAMES = (
    "store.json", "keys/store.json", "sessions/ses_01ARZ3NDEKTSV4RRFFQ69G5FAV/00000001.events.jsonl",
    "sessions/ses_01ARZ3NDEKTSV4RRFFQ69G5FAV/lock", "a b/c+d", "é/ü.json", ".hidden", "a..b", "..a", "x" * 200,
)  # fmt: skip
_NOBODY = 65534
_spawn = multiprocessing.get_context("spawn")


class StoreSuite:
    """See the module's docstring."""

    #: The place is a folder of the local file system, and a name a path in it: files can be damaged and disks be full.
    folders: ClassVar[bool] = True

    @classmethod
    def open(cls, place: str) -> Store:
        """The store at that place, new or not."""
        raise NotImplementedError

    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        """A new, empty place."""
        return str(tmp_path / "store")

    @pytest.fixture
    def store(self, place: str) -> Store:
        return self.open(place)

    @pytest.fixture
    def path(self, place: str) -> Path:
        """The place, where it is a folder."""
        if not self.folders:
            pytest.skip("this store keeps no files")
        return Path(place)

    # --- create

    def test_a_created_file_is_empty_and_grows(self, store: Store, place: str) -> None:
        file = store.create("a/b")
        assert (file.name, file.size, store.read("a/b")) == ("a/b", 0, b"")
        for number in range(1, 4):
            file.write(b"x" * number)
        assert file.size == 6
        file.sync()
        assert self.open(place).read("a/b") == b"xxxxxx"
        file.write(b"y")
        file.close()
        assert self.open(place).read("a/b") == b"xxxxxxy"

    @pytest.mark.parametrize("name", GOOD_NAMES)
    def test_names_that_occur(self, store: Store, name: str) -> None:
        write(store.create(name), b"data")
        assert store.read(name) == b"data"
        assert store.exists(name)
        assert list(store.names("")) == [name]

    def test_what_another_has_left_is_synced_by_its_name(self, store: Store, place: str) -> None:
        file = store.create("a/b")
        file.write(b"x")
        self.open(place).sync("a/b")
        self.open(place).sync("a/none")
        file.write(b"y")
        file.close()
        assert self.open(place).read("a/b") == b"xy"
        assert list(store.names("")) == ["a/b"]

    def test_a_large_write_is_whole(self, store: Store) -> None:
        data = bytes(range(256)) * (32 << 10)
        file = store.create("large")
        file.write(data)
        write(file, b"end")
        assert store.read("large") == data + b"end"

    def test_a_name_is_created_once_even_if_it_is_empty(self, store: Store, place: str) -> None:
        store.create("a/b").close()
        for opened in (store, self.open(place)):
            with refused(ConflictError):
                opened.create("a/b")
        store.put_new("a/c", b"")
        with refused(ConflictError):
            store.create("a/c")
        assert store.read("a/b") == b""

    def test_several_are_created_as_each_is(self, store: Store, place: str) -> None:
        names = ["s/b", "s/a", "s/deep/c"]
        files = store.create_all(names)
        assert [(file.name, file.size) for file in files] == [(name, 0) for name in names]
        for file, name in zip(files, names, strict=True):
            write(file, name.encode())
        assert [self.open(place).read(name) for name in names] == [name.encode() for name in names]

    def test_several_of_which_one_exists_are_not_begun_over_it(self, store: Store, place: str) -> None:
        write(store.create("s/b"), b"old")
        with refused(ConflictError):
            self.open(place).create_all(["s/a", "s/b", "s/c"])
        assert store.read("s/b") == b"old"
        assert not store.exists("s/c")

    def test_a_closed_file_is_not_written_to(self, store: Store) -> None:
        file = store.create("a")
        file.write(b"x")
        file.close()
        file.close()
        with refused(StoreError):
            file.write(b"y")
        with refused(StoreError):
            file.sync()
        assert store.read("a") == b"x"

    def test_what_was_written_outlives_its_writer(self, place: str) -> None:
        """Without sync and without close: the writer is killed."""
        writer = self.process(_write_and_wait, place)
        assert writer.said() == "written"
        writer.kill()
        assert self.open(place).read("a/b") == b"one\ntwo\n"

    def test_of_many_creators_one_wins(self, place: str) -> None:
        self.open(place).put_new("there", b"")
        processes = [self.process(_create, place, f"creator {number}") for number in range(3)]
        for process in processes:
            assert process.said() == "ready"
        for process in processes:
            process.say("go")
        outcomes = {process.said() for process in processes}
        winners = outcomes - {"ConflictError"}
        assert len(winners) == 1
        assert self.open(place).read("new/file") == winners.pop().encode()

    # --- put_new

    def test_put_new_writes_once(self, store: Store, place: str) -> None:
        store.put_new("keys/a.json", b"first")
        store.put_new("keys/a.json", b"first")
        for other in (b"second", b"", b"first and more"):
            with refused(ConflictError):
                self.open(place).put_new("keys/a.json", other)
        assert self.open(place).read("keys/a.json") == b"first"
        assert list(store.names("")) == ["keys/a.json"], "nothing else may be left lying about"

    def test_put_new_does_not_fill_what_was_created(self, store: Store) -> None:
        store.create("a").close()
        with refused(ConflictError):
            store.put_new("a", b"data")
        assert store.read("a") == b""

    def test_put_new_is_seen_whole_or_not_at_all(self, store: Store, place: str) -> None:
        data = os.urandom(64) * (1 << 16)
        with reading(self.open(place), [f"new/{number}" for number in range(6)], {data}):
            for number in range(6):
                store.put_new(f"new/{number}", data)

    def test_of_many_that_put_one_wins(self, place: str) -> None:
        self.open(place).put_new("there", b"")
        processes = [self.process(_put, place, f"putter {number}") for number in range(3)]
        for process in processes:
            assert process.said() == "ready"
        for process in processes:
            process.say("go")
        winners = {process.said() for process in processes} - {"ConflictError"}
        assert len(winners) == 1
        assert self.open(place).read("new/object") == winners.pop().encode()

    # --- replace

    def test_replace_makes_and_swaps(self, store: Store, place: str) -> None:
        for data in (b"first", b"", b"third" * 10_000, b"4"):
            store.replace("a/b", data)
            assert self.open(place).read("a/b") == data
        assert list(store.names("")) == ["a/b"], "nothing else may be left lying about"

    def test_replace_is_atomic(self, store: Store, place: str) -> None:
        values = [bytes([65 + number]) * (1 << 20) for number in range(4)]
        store.replace("a", values[0])
        with reading(self.open(place), ["a"], set(values), always=True):
            for number in range(12):
                store.replace("a", values[number % 4])

    # --- read, exists

    def test_what_is_not_there_is_not_found(self, store: Store) -> None:
        for name in ("a", "a/b/c"):
            with refused(NotFoundError):
                store.read(name)
            assert not store.exists(name)
        store.put_new("a/b", b"x")
        with refused(NotFoundError):
            store.read("a/b/c")
        assert store.exists("a/b")
        assert not store.exists("a/b/c")

    def test_a_folder_is_no_object(self, store: Store) -> None:
        store.put_new("a/b", b"x")
        assert not store.exists("a")
        with refused(TachographError):
            store.read("a")
        if self.folders:  # where names are only names, one may begin another
            with refused(StoreError):
                store.put_new("a/b/c", b"below an object")

    def test_a_limit_bounds_what_is_read(self, store: Store) -> None:
        store.put_new("a", b"12345")
        store.put_new("empty", b"")
        for limit in (None, 5, 6, 1 << 20):
            assert store.read("a", limit=limit) == b"12345"
        for limit in (0, 1, 4):
            with refused(StoreError):
                store.read("a", limit=limit)
        assert store.read("empty", limit=0) == b""

    # --- names

    def test_names_are_sorted_and_below_their_prefix(self, store: Store) -> None:
        made = ["b", "a/z", "a/b/c", "a/b.d", "ab/x", "a/B", "c/10", "c/9"]
        for name in made:
            store.put_new(name, b"x")
        assert list(store.names("")) == sorted(made)
        assert list(store.names("a/")) == ["a/B", "a/b.d", "a/b/c", "a/z"]
        assert list(store.names("a/b/")) == ["a/b/c"]
        assert list(store.names("c/")) == ["c/10", "c/9"]

    def test_sizes_are_those_of_what_is_read(self, store: Store) -> None:
        made = {"b": b"", "a/z": b"12", "a/b/c": b"x" * 70_000, "ab/x": b"1"}
        for name, data in made.items():
            store.put_new(name, data)
        assert list(store.sizes("")) == sorted((name, len(data)) for name, data in made.items())
        assert list(store.sizes("a/")) == [("a/b/c", 70_000), ("a/z", 2)]
        assert list(store.sizes("nothing/")) == []
        store.replace("keys/k", b"12345")
        store.replace("keys/k", b"123")
        assert list(store.sizes("keys/")) == [("keys/k", 3)]

    def test_the_size_of_a_file_that_is_being_written_grows(self, store: Store) -> None:
        file = store.create("sessions/s/1")
        file.write(b"123")
        assert list(store.sizes("sessions/")) == [("sessions/s/1", 3)]
        file.write(b"45")
        assert list(store.sizes("sessions/")) == [("sessions/s/1", 5)]
        file.close()

    def test_of_nothing_there_are_no_names(self, store: Store) -> None:
        assert list(store.names("")) == []
        assert list(store.names("sessions/")) == []
        store.put_new("a", b"x")
        assert list(store.names("sessions/")) == []
        assert list(store.names("a/")) == []

    @pytest.mark.parametrize("name", BAD_NAMES)
    def test_a_bad_name_is_refused_by_all(self, store: Store, name: str) -> None:
        store.put_new("a/b", b"x")
        acts: tuple[Callable[[], Any], ...] = (
            lambda: store.create(name), lambda: store.put_new(name, b""), lambda: store.replace(name, b""), lambda: store.read(name),
            lambda: store.exists(name), lambda: store.lock(name), lambda: store.sync(name),
        )  # fmt: skip
        for act in acts:
            with refused(StoreError):
                act()
        if name not in ("", "a/"):
            with refused(StoreError):
                list(store.names(name))
        assert list(store.names("")) == ["a/b"]

    # --- lock

    def test_what_is_removed_is_gone_and_nothing_else(self, store: Store, place: str) -> None:
        for name in ("a/b", "a/bb", "a/b.c"):
            write(store.create(name), b"x")
        store.put_new("a/small", b"y")
        assert store.settle(30) == 0
        for name in ("a/b", "a/small", "a/none"):
            store.remove(name)
            store.remove(name)
        for opened in (store, self.open(place)):
            assert list(opened.names("")) == ["a/b.c", "a/bb"]
            with refused(NotFoundError):
                opened.read("a/b")
        for name in ("a/bb", "a/b.c", "a/"):
            store.remove(name)
        assert list(self.open(place).names("")) == []
        write(store.create("a/b"), b"again")
        assert store.read("a/b") == b"again"

    def test_a_lock_is_exclusive(self, store: Store, place: str) -> None:
        held = store.lock("sessions/a/lock")
        for opened in (store, self.open(place)):
            with refused(ConflictError):
                opened.lock("sessions/a/lock")
        store.lock("sessions/b/lock").release()
        store.put_new("sessions/a/file", b"a lock hinders no other name")
        held.release()
        held.release()
        self.open(place).lock("sessions/a/lock").release()

    def test_a_lock_is_exclusive_between_processes_and_dies_with_its_holder(self, store: Store, place: str) -> None:
        holder = self.process(_lock_and_wait, place)
        assert holder.said() == "held"
        with refused(ConflictError):
            store.lock("sessions/a/lock")
        holder.kill()
        held = store.lock("sessions/a/lock")
        late = self.process(_lock_and_wait, place)
        assert late.said() == "ConflictError"
        held.release()

    # --- what goes wrong

    def test_it_says_where_it_is(self, store: Store) -> None:
        assert store.url
        assert "\n" not in store.url

    def test_what_cannot_be_read_is_not_missing(self, store: Store, path: Path) -> None:
        store.put_new("a/b", b"x")
        (path / "a/b").chmod(0)
        with unprivileged(), refused(StoreError, "owner and mode"):
            store.read("a/b")
        (path / "a").chmod(0)
        try:
            for act in (lambda: list(store.names("")), lambda: list(store.names("a/")), lambda: store.exists("a/b")):
                with unprivileged(), refused(StoreError):
                    act()
        finally:
            (path / "a").chmod(0o700)

    def test_what_cannot_be_written_is_refused(self, store: Store, path: Path) -> None:
        store.put_new("a/b", b"x")
        (path / "a").chmod(0o500)
        acts: tuple[Callable[[], Any], ...] = (
            lambda: store.create("a/c"), lambda: store.put_new("a/d", b""), lambda: store.replace("a/b", b"y"),
            lambda: store.lock("a/lock"), lambda: store.create("a/new/e"),
        )  # fmt: skip
        try:
            for act in acts:
                with unprivileged(), refused(StoreError, "owner and mode"):
                    act()
        finally:
            (path / "a").chmod(0o700)
        assert list(store.names("")) == ["a/b"]
        assert store.read("a/b") == b"x"

    def test_something_else_in_a_files_place_is_refused(self, store: Store, path: Path) -> None:
        (path / "folder").mkdir(parents=True)
        os.mkfifo(path / "pipe")
        (path / "device").symlink_to("/dev/zero")
        for name in ("folder", "pipe", "device"):
            assert not store.exists(name)
            with refused(StoreError):
                store.read(name, limit=1 << 20)
            with refused(ConflictError):
                store.create(name)
            with refused(StoreError):
                store.put_new(name, b"")

    def test_a_full_disk_loses_nothing_that_was_synced(self, path: Path) -> None:
        path.mkdir(parents=True)
        with small_disk(path, 256 << 10):
            store = self.open(str(path / "store"))
            store.replace("head", b"old")
            file = store.create("log")
            kept = b""
            with refused(StoreError, "free some space"):
                for _ in range(1000):
                    file.write(b"x" * 4096)
                    file.sync()
                    kept += b"x" * 4096
            with refused(StoreError):
                file.write(b"y")
            assert store.read("log")[: len(kept)] == kept
            before = list(store.names(""))
            with refused(StoreError, "free some space"):
                store.put_new("object", b"z" * (64 << 10))
            with refused(StoreError, "free some space"):
                store.replace("head", b"z" * (64 << 10))
            assert store.read("head") == b"old"
            assert list(store.names("")) == before, "what does not fit must leave nothing behind"

    # --- other processes

    def process(self, act: Callable[..., None], place: str, *more: str) -> _Process:
        """Another process that opens the store anew."""
        return _Process(act, type(self), place, *more)


def write(file: AppendFile, data: bytes) -> None:
    """All of a file."""
    file.write(data)
    file.sync()
    file.close()


@contextlib.contextmanager
def refused(kind: type[TachographError], advice: str = "") -> Iterator[None]:
    """What is inside raises that error of ours, in one line: what, where; what to do next (with ``advice`` in it)."""
    with pytest.raises(kind) as caught:
        yield
    text = str(caught.value)
    assert "\n" not in text
    assert "; " in text, f"says what went wrong, not what to do next: {text}"
    assert advice in text


@contextlib.contextmanager
def reading(store: Store, names: list[str], values: set[bytes], *, always: bool = False) -> Iterator[None]:
    """While the body runs, somebody reads these names: each is one of the values, or (unless ``always``) not there yet."""
    done, wrong = threading.Event(), []

    def look() -> None:
        while not done.is_set():
            for name in names:
                try:
                    if store.read(name) not in values:
                        wrong.append(f"{name} was seen in part")
                except NotFoundError:
                    if always:
                        wrong.append(f"{name} was not there")
                except TachographError as error:
                    wrong.append(str(error))

    reader = threading.Thread(target=look)
    reader.start()
    try:
        yield
    finally:
        done.set()
        reader.join()
    assert not wrong, wrong[0]


@contextlib.contextmanager
def unprivileged() -> Iterator[None]:
    """Root may read everything: be nobody meanwhile."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextlib.contextmanager
def small_disk(folder: Path, size: int) -> Iterator[None]:
    """A file system of that many bytes in the folder; skips where we may not mount one."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root on Linux may mount a small file system")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no small file system here ({mounted.stderr.decode().strip()})")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


class _Process:
    """Another process, that says things and is told things; it is killed when it is dropped, and dies with its parent."""

    def __init__(self, act: Callable[..., None], suite: type[StoreSuite], place: str, *more: str) -> None:
        self._pipe, theirs = _spawn.Pipe()
        self._process = _spawn.Process(target=_run, args=(act, suite, place, theirs, *more), daemon=True)
        self._process.start()
        theirs.close()

    def said(self) -> str:
        assert self._pipe.poll(60), "the other process says nothing"
        return str(self._pipe.recv())

    def say(self, word: str) -> None:
        self._pipe.send(word)

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def __del__(self) -> None:
        self._process.kill()
        self._process.join()


def _run(act: Callable[..., None], suite: type[StoreSuite], place: str, pipe: Any, *more: str) -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a killed test run leaves nobody behind
    try:
        act(suite.open(place), pipe, *more)
    except TachographError as error:
        pipe.send(type(error).__name__)


def _write_and_wait(store: Store, pipe: Any) -> None:
    file = store.create("a/b")
    file.write(b"one\n")
    file.write(b"two\n")
    pipe.send("written")
    pipe.recv()


def _lock_and_wait(store: Store, pipe: Any) -> None:
    held = store.lock("sessions/a/lock")
    pipe.send("held")
    pipe.recv()
    held.release()


def _create(store: Store, pipe: Any, name: str) -> None:
    pipe.send("ready")
    pipe.recv()
    file = store.create("new/file")
    write(file, name.encode())
    pipe.send(name)


def _put(store: Store, pipe: Any, name: str) -> None:
    pipe.send("ready")
    pipe.recv()
    store.put_new("new/object", name.encode())
    pipe.send(name)

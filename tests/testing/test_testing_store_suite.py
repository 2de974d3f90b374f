"""The conformance suite must fail a store that is wrong: each mistake here is caught by the check that is named for it."""

from __future__ import annotations

import fcntl
import inspect
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tachograph.core.errors import ConflictError, NotFoundError, StoreError
from tachograph.core.ports import Store
from tachograph.stores.local import LocalFile, LocalLock, LocalStore
from tachograph.testing.store_suite import StoreSuite


class Reopens(LocalStore):
    def create(self, name: str) -> LocalFile:
        if self.exists(name):
            path = os.path.join(self.root, name)
            return LocalFile(os.open(path, os.O_WRONLY | os.O_APPEND), name, path)
        return super().create(name)


class WritesInPlace(LocalStore):
    """A reader gets its chance between the two halves."""

    reads = 0

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        try:
            return super().read(name, limit=limit)
        finally:
            WritesInPlace.reads += 1

    def put_new(self, name: str, data: bytes) -> None:
        file = self.create(name)
        file.write(data[: len(data) // 2])
        before = WritesInPlace.reads
        # Not for ever: the reader may have seen enough and be gone, while threads of other tests are still there.
        until = time.monotonic() + 0.5
        while WritesInPlace.reads < before + 20 and threading.active_count() > 1 and time.monotonic() < until:
            time.sleep(0)
        file.write(data[len(data) // 2 :])
        file.close()

    def replace(self, name: str, data: bytes) -> None:
        if self.exists(name):
            os.unlink(os.path.join(self.root, name))
        self.put_new(name, data)


class LeavesLitter(LocalStore):
    def replace(self, name: str, data: bytes) -> None:
        super().replace(name, data)
        super().replace(name + ".old", data)


class Overwrites(LocalStore):
    def put_new(self, name: str, data: bytes) -> None:
        self.replace(name, data)


class Unsorted(LocalStore):
    def names(self, prefix: str) -> Iterator[str]:
        return iter(sorted(super().names(prefix), reverse=True))


class MatchesStrings(LocalStore):
    def names(self, prefix: str) -> Iterator[str]:
        return (name for name in super().names("") if name.startswith(prefix.rstrip("/")))


class CutsShort(LocalStore):
    def read(self, name: str, *, limit: int | None = None) -> bytes:
        return super().read(name)[:limit]


class MissingIsEmpty(LocalStore):
    def read(self, name: str, *, limit: int | None = None) -> bytes:
        try:
            return super().read(name, limit=limit)
        except NotFoundError:
            return b""


class TrustsNames(LocalStore):
    def _path(self, name: str) -> str:
        return os.path.join(self.root, name)


class LocksPerProcess(LocalStore):
    """POSIX locks belong to the process: a second one in it succeeds."""

    def lock(self, name: str) -> LocalLock:
        held = super().lock(f"{name}-{os.urandom(8).hex()}")
        fcntl.lockf(held._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return held


class ForeignErrors(LocalStore):
    def read(self, name: str, *, limit: int | None = None) -> bytes:
        return Path(self.root, name).read_bytes()


class SaysNothing(LocalStore):
    def create(self, name: str) -> LocalFile:
        try:
            return super().create(name)
        except ConflictError:
            raise ConflictError("conflict") from None


class Buffers(LocalStore):
    """Holds writes back until sync: they die with the process."""

    def create(self, name: str) -> Any:
        return Buffered(super().create(name))


class Buffered:
    def __init__(self, file: LocalFile) -> None:
        self._file, self._held = file, b""
        self.name = file.name

    @property
    def size(self) -> int:
        return self._file.size + len(self._held)

    def write(self, data: bytes) -> None:
        self._held += data

    def sync(self) -> None:
        self._file.write(self._held)
        self._held = b""
        self._file.sync()

    def close(self) -> None:
        self.sync()
        self._file.close()


class SkipsUnreadable(LocalStore):
    def names(self, prefix: str) -> Iterator[str]:
        try:
            return super().names(prefix)
        except StoreError:
            return iter(())


class CountsCharacters(LocalStore):
    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        return ((name, len(name)) for name in self.names(prefix))


S = StoreSuite
MISTAKES: list[tuple[type[LocalStore], Callable[..., None]]] = [
    (CountsCharacters, S.test_sizes_are_those_of_what_is_read),
    (CountsCharacters, S.test_the_size_of_a_file_that_is_being_written_grows),
    (Reopens, S.test_a_name_is_created_once_even_if_it_is_empty),
    (WritesInPlace, S.test_put_new_is_seen_whole_or_not_at_all),
    (WritesInPlace, S.test_replace_is_atomic),
    (LeavesLitter, S.test_replace_makes_and_swaps),
    (Overwrites, S.test_put_new_writes_once),
    (Overwrites, S.test_put_new_does_not_fill_what_was_created),
    (Unsorted, S.test_names_are_sorted_and_below_their_prefix),
    (MatchesStrings, S.test_names_are_sorted_and_below_their_prefix),
    (CutsShort, S.test_a_limit_bounds_what_is_read),
    (MissingIsEmpty, S.test_what_is_not_there_is_not_found),
    (LocksPerProcess, S.test_a_lock_is_exclusive),
    (ForeignErrors, S.test_what_is_not_there_is_not_found),
    (SaysNothing, S.test_a_name_is_created_once_even_if_it_is_empty),
    (Buffers, S.test_what_was_written_outlives_its_writer),
    (SkipsUnreadable, S.test_what_cannot_be_read_is_not_missing),
    (ForeignErrors, S.test_something_else_in_a_files_place_is_refused),
]


class Suite(StoreSuite):
    store_class: type[LocalStore] = LocalStore

    @classmethod
    def open(cls, place: str) -> Store:
        return cls.store_class(place)


class BufferedSuite(Suite):
    """Importable by name, for the test that opens the store in another process."""

    store_class = Buffers


def run(store_class: type[LocalStore], check: Callable[..., None], folder: Path, **more: str) -> None:
    suite: Suite = BufferedSuite() if store_class is Buffers else type("Of", (Suite,), {"store_class": store_class})()
    have = {"store": suite.open(str(folder)), "place": str(folder), "path": folder, **more}
    check(suite, **{name: have[name] for name in list(inspect.signature(check).parameters)[1:]})


@pytest.mark.parametrize(("store_class", "check"), MISTAKES, ids=[f"{s.__name__}-{c.__name__}" for s, c in MISTAKES])
def test_a_mistake_is_caught(store_class: type[LocalStore], check: Callable[..., None], tmp_path: Path) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception, OSError)):
        run(store_class, check, tmp_path / "store")


@pytest.mark.parametrize("name", ["../x", "a//b", "a\0b", "\ud800", "/etc/passwd"])
def test_a_store_that_trusts_names_is_caught(name: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception, OSError, ValueError)):
        run(TrustsNames, S.test_a_bad_name_is_refused_by_all, tmp_path / "deep/store", name=name)

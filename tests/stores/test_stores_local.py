from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from tachograph.core.errors import ConflictError, StoreError
from tachograph.core.ports import Store
from tachograph.stores.local import LocalStore
from tachograph.testing.store_suite import StoreSuite, refused


class TestLocal(StoreSuite):
    @classmethod
    def open(cls, place: str) -> Store:
        return LocalStore(place)


def test_nobody_else_can_read(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path / "a/store"))
    old = os.umask(0)
    try:
        store.create("sessions/s/log").close()
        store.put_new("keys/k", b"x")
        store.replace("head", b"x")
        store.lock("sessions/s/lock").release()
    finally:
        os.umask(old)
    for path in (tmp_path / "a").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_the_place_does_not_change_with_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = LocalStore("store")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    store.put_new("a", b"x")
    assert (tmp_path / "store/a").read_bytes() == b"x"
    assert store.url == str(tmp_path / "store")


class Calls:
    """The system calls that make things durable, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
        self.seen: list[str] = []
        self._root = root
        for name in ("fsync", "fdatasync"):
            real = getattr(os, name)
            monkeypatch.setattr(os, name, lambda fd, real=real: (self.seen.append("sync " + self._where(fd)), real(fd))[1])
        for name in ("link", "replace"):
            real = getattr(os, name)
            monkeypatch.setattr(os, name, lambda a, b, real=real, name=name: (self.seen.append(name), real(a, b))[1])

    def _where(self, fd: int) -> str:
        path = Path(os.readlink(f"/proc/self/fd/{fd}"))
        if path == self._root.parent:
            return ".."
        name = str(path.relative_to(self._root))
        return "temporary" if name.endswith(".new") else name


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Calls:
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to name descriptors")
    return Calls(monkeypatch, tmp_path / "store")


def test_a_new_name_is_durable_when_create_returns(calls: Calls, tmp_path: Path) -> None:
    """Each new folder in its parent, then the file in its folder (kafka#10405, ClickHouse#116316)."""
    LocalStore(str(tmp_path / "store")).create("a/b/c").close()
    assert calls.seen == ["sync ..", "sync .", "sync a", "sync a/b"]


def test_of_several_new_names_the_first_is_durable_before_the_others_and_all_are_in_the_end(calls: Calls, tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path / "store"))
    store.create("a/b").close()
    calls.seen.clear()
    there: list[set[str]] = []
    real = LocalStore._sync_directory

    def sync(path: str) -> None:
        there.append({entry.name for entry in Path(path).iterdir()})
        real(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalStore, "_sync_directory", staticmethod(sync))
        for file in store.create_all(["a/c", "a/d", "a/e"]):
            file.close()
    assert calls.seen == ["sync a", "sync a"]
    assert there == [{"b", "c"}, {"b", "c", "d", "e"}]


def test_a_small_object_is_on_the_device_before_it_has_its_name(calls: Calls, tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path / "store"))
    store.put_new("a", b"x")
    assert calls.seen == ["sync ..", "sync temporary", "link", "sync ."]
    calls.seen.clear()
    store.replace("a", b"y")
    assert calls.seen == ["sync temporary", "replace", "sync ."]


def test_a_descriptor_whose_sync_failed_is_never_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel forgets the pages that it could not write: a second fsync would report success (wiredtiger#4072)."""
    file = LocalStore(str(tmp_path)).create("a")
    file.write(b"x")
    count = 0

    def broken(fd: int) -> None:
        nonlocal count
        count += 1
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", broken, raising=False)
    monkeypatch.setattr(os, "fsync", broken)
    for act in (file.sync, file.sync, lambda: file.write(b"y")):
        with refused(StoreError):
            act()
    assert count == 1
    file.close()


def test_short_writes_are_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data[:3])))
    file = LocalStore(str(tmp_path)).create("a")
    file.write(b"0123456789")
    assert (file.size, (tmp_path / "a").read_bytes()) == (10, b"0123456789")
    file.close()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO])
def test_a_lock_that_the_file_system_cannot_give_is_not_held_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    import fcntl

    def broken(fd: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", broken)
    with pytest.raises(StoreError, match="cannot lock") as error:
        LocalStore(str(tmp_path)).lock("lock")
    assert not isinstance(error.value, ConflictError)


def test_what_a_crash_left_beside_an_object_is_in_nobodys_way(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    for number in range(3):
        (tmp_path / f"a.{os.getpid()}-{number}.new").write_bytes(b"half")
    store.put_new("a", b"x")
    store.replace("a", b"y")
    assert store.read("a") == b"y"


def test_a_name_that_is_too_long_for_the_file_system(tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path))
    with refused(StoreError, "too long"):
        store.create("x" * 5000)
    with refused(StoreError, "too long"):
        store.read("x" * 5000)


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"a file")
    store = LocalStore(str(tmp_path / "store"))
    assert list(store.names("")) == []
    with refused(StoreError, "no folder"):
        store.create("a")
    with refused(StoreError, "no folder"):
        store.lock("a")

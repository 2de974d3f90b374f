"""A store in a local folder. Files 0600, folders 0700.

Durability: a name is safe once the directory that holds it was synced, so ``create`` and ``put_new`` sync the directory (kafka#10405,
ClickHouse#116316 did not). A descriptor whose sync failed is closed and never synced again (wiredtiger#4072).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator

from tachograph.core.errors import ConflictError, NotFoundError, StoreError


class LocalStore:
    """See ``core.ports.Store`` for the contract."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)

    @property
    def url(self) -> str:
        return self.root

    def create(self, name: str) -> LocalFile:
        path = self._path(name)
        self._make_parents(path)
        try:
            fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise ConflictError(f"{name} exists already in {self.root}; it is written once and never opened again") from None
        except OSError as error:
            raise _store_error("create", path, error) from None
        self._sync_directory(os.path.dirname(path))
        return LocalFile(fd, name, path)

    def put_new(self, name: str, data: bytes) -> None:
        try:
            file = self.create(name)
        except ConflictError:
            if self.read(name) == data:
                return
            raise
        try:
            file.write(data)
            file.sync()
        finally:
            file.close()

    def replace(self, name: str, data: bytes) -> None:
        path = self._path(name)
        self._make_parents(path)
        temporary = f"{path}.{os.getpid()}.new"
        try:
            fd = os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
            try:
                _write_all(fd, data)
                os.fsync(fd)
            finally:
                os.close(fd)
            os.replace(temporary, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise _store_error("write", path, error) from None
        self._sync_directory(os.path.dirname(path))

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        path = self._path(name)
        try:
            with open(path, "rb") as file:
                data = file.read() if limit is None else file.read(limit + 1)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(f"no {name} in {self.root}") from None
        except OSError as error:
            raise _store_error("read", path, error) from None
        if limit is not None and len(data) > limit:
            raise StoreError(f"{path} is longer than {limit} bytes, which no such file should be; look at it before you trust it")
        return data

    def exists(self, name: str) -> bool:
        return os.path.exists(self._path(name))

    def names(self, prefix: str) -> Iterator[str]:
        top = self._path(prefix) if prefix else self.root
        found = []
        for folder, _, files in os.walk(top):
            for file in files:
                found.append(os.path.relpath(os.path.join(folder, file), self.root).replace(os.sep, "/"))
        yield from sorted(found)

    def lock(self, name: str) -> LocalLock:
        path = self._path(name)
        self._make_parents(path)
        try:
            fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _store_error("lock", path, error) from None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            raise ConflictError(f"{name} in {self.root} is held by another writer; wait for it to end") from None
        return LocalLock(fd)

    def _path(self, name: str) -> str:
        parts = name.rstrip("/").split("/")
        if not name or any(part in ("", ".", "..") for part in parts) or "\0" in name:
            raise StoreError(f"{name!r} is no name in a store")
        return os.path.join(self.root, *parts)

    def _make_parents(self, path: str) -> None:
        missing = []
        folder = os.path.dirname(path)
        while not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        try:
            for folder in reversed(missing):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(folder, 0o700)
                self._sync_directory(os.path.dirname(folder))
        except OSError as error:
            raise _store_error("create", folder, error) from None

    @staticmethod
    def _sync_directory(path: str) -> None:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EINVAL):  # a parent that we may not open is not ours to sync
                raise _store_error("sync", path, error) from None


class LocalFile:
    """See ``core.ports.AppendFile``."""

    def __init__(self, fd: int, name: str, path: str) -> None:
        self._fd = fd
        self._path = path
        self.name = name
        self.size = 0

    def write(self, data: bytes) -> None:
        try:
            _write_all(self._descriptor(), data)
        except OSError as error:
            self.close()
            raise _store_error("write", self._path, error) from None
        self.size += len(data)

    def sync(self) -> None:
        try:
            os.fdatasync(self._descriptor()) if hasattr(os, "fdatasync") else os.fsync(self._descriptor())
        except OSError as error:
            self.close()
            raise _store_error("sync", self._path, error) from None

    def close(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def _descriptor(self) -> int:
        if self._fd < 0:
            raise OSError(errno.EBADF, "closed after an earlier failure")
        return self._fd


class LocalLock:
    """A flock; the kernel gives it back when the holder dies."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def release(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _store_error(what: str, path: str, error: OSError) -> StoreError:
    advice = {
        errno.ENOSPC: "free some space",
        errno.EDQUOT: "free some space or raise the quota",
        errno.EACCES: "check its owner and mode",
        errno.EPERM: "check its owner and mode",
        errno.EROFS: "the file system is read-only: name another store with --store",
    }.get(error.errno or 0, "see the system's log for the device")
    return StoreError(f"cannot {what} {path}, {error.strerror or error}; {advice}")

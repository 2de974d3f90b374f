"""A store in a local folder. Files 0600, folders 0700.

Durability: a name is safe once the directory that holds it was synced, so ``create_all`` and ``put_new`` sync the directory (kafka#10405,
ClickHouse#116316 did not). A descriptor whose sync failed is closed and never synced again (wiredtiger#4072). Small objects are
written beside their place and linked or renamed into it, so nobody ever reads half of one and a crash leaves all or nothing.

Names come from hostile places (a store that somebody sent, a session id on the command line), so one that could lead out of the
folder is refused, and so is anything in a file's place that is no file: a named pipe would never end.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import stat
from collections.abc import Iterator, Sequence

from tachograph.core.errors import ConflictError, NotFoundError, StoreError
from tachograph.core.ports import AppendFile, ObjectLocks, SegmentLimit


class LocalStore:
    """See ``core.ports.Store`` for the contract."""

    segments: SegmentLimit | None = None
    locks: ObjectLocks | None = None

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)

    @property
    def url(self) -> str:
        return self.root

    def create(self, name: str) -> LocalFile:
        return self._create_all([name])[0]

    def create_all(self, names: Sequence[str]) -> list[AppendFile]:
        return [*self._create_all(names)]

    def _create_all(self, names: Sequence[str]) -> list[LocalFile]:
        made: list[LocalFile] = []
        try:
            for name in names:
                made.append(self._create(name))
                if len(made) in (1, len(names)):  # the first before the others are made, and all at the end
                    for folder in dict.fromkeys(os.path.dirname(self._path(file.name)) for file in made):
                        self._sync_directory(folder)
        except BaseException:
            for file in made:
                file.let_go()
            raise
        return made

    def _create(self, name: str) -> LocalFile:
        path = self._path(name)
        self._make_parents(path)
        try:
            fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise _exists(name, self.root) from None
        except OSError as error:
            raise _store_error("create", path, error) from None
        return LocalFile(fd, name, path)

    def put_new(self, name: str, data: bytes) -> None:
        path = self._path(name)
        self._make_parents(path)
        temporary = self._write_beside(path, data)
        try:
            os.link(temporary, path)
        except FileExistsError:
            if self.read(name) != data:
                raise _exists(name, self.root) from None
        except OSError as error:
            raise _store_error("create", path, error) from None
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        self._sync_directory(os.path.dirname(path))

    def replace(self, name: str, data: bytes) -> None:
        path = self._path(name)
        self._make_parents(path)
        temporary = self._write_beside(path, data)
        try:
            os.replace(temporary, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise _store_error("write", path, error) from None
        self._sync_directory(os.path.dirname(path))

    def sync(self, name: str) -> None:
        path = self._path(name)
        try:
            # Linux and macOS sync a file whole through any descriptor, also one that only reads.
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise _store_error("sync", path, error) from None

    def read(self, name: str, *, limit: int | None = None) -> bytes:
        path = self._path(name)
        try:
            # Not blocking: to open a named pipe must not wait for somebody who writes to it.
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(f"no {name} in {self.root}; it was never written, or somebody has removed it") from None
        except OSError as error:
            raise _store_error("read", path, error) from None
        try:
            about = os.fstat(fd)
            if not stat.S_ISREG(about.st_mode):
                raise StoreError(f"{path} is no file; look at what it is and who put it there")
            data = _read_all(fd, about.st_size, limit)
        except OSError as error:
            raise _store_error("read", path, error) from None
        finally:
            os.close(fd)
        if limit is not None and len(data) > limit:
            raise StoreError(f"{path} is longer than {limit} bytes, which no such file should be; look at it before you trust it")
        return data

    def exists(self, name: str) -> bool:
        path = self._path(name)
        try:
            return stat.S_ISREG(os.stat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise _store_error("read", path, error) from None

    def names(self, prefix: str) -> Iterator[str]:
        top = self._path(prefix.removesuffix("/")) if prefix else self.root
        found: list[str] = []
        for folder, _, files in os.walk(top, onerror=_unreadable):
            place = folder[len(self.root) + 1 :].replace(os.sep, "/") + "/" if folder != self.root else ""
            found += [place + file for file in files]
        found.sort()
        return iter(found)

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        waiting = [self._path(prefix.removesuffix("/")) if prefix else self.root]
        while waiting:
            folder = waiting.pop()
            place = folder[len(self.root) + 1 :].replace(os.sep, "/") + "/" if folder != self.root else ""
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        elif not entry.is_dir():
                            # One that was removed since the folder was read is not there.
                            with contextlib.suppress(FileNotFoundError):
                                found.append((place + entry.name, entry.stat().st_size))
            except OSError as error:
                _unreadable(error)
        found.sort()
        return iter(found)

    def lock(self, name: str) -> LocalLock:
        path = self._path(name)
        self._make_parents(path)
        try:
            fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _store_error("lock", path, error) from None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise ConflictError(f"{name} in {self.root} is held by another writer; wait for it to end") from None
        except OSError as error:
            os.close(fd)
            raise _store_error("lock", path, error) from None
        return LocalLock(fd)

    def check(self, name: str) -> None:
        """Raises ``StoreError`` for what is no name in a store."""
        self._path(name)

    def remove(self, name: str) -> None:
        path = self._path(name.removesuffix("/"))
        try:
            os.rmdir(path) if name.endswith("/") else os.unlink(path)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise _store_error("remove", path, error) from None
        self._sync_directory(os.path.dirname(path))

    def recover(self) -> int:
        return 0  # what a dead process left is where it belongs

    def settle(self, seconds: float) -> int:  # noqa: ARG002 - so is what was closed
        return 0

    def notices(self) -> list[str]:
        return []  # nothing is on its way here

    def _path(self, name: str) -> str:
        parts = name.split("/")
        if any(part in ("", ".", "..") for part in parts) or "\0" in name or not _encodes(name):
            raise StoreError(f"{name!r} is no name in a store; names are relative, with / between their parts")
        return os.path.join(self.root, *parts)

    def _write_beside(self, path: str, data: bytes) -> str:
        for number in itertools.count():
            # Of two processes with one number (in two containers, say), or two threads of one, each gets a file of its own.
            temporary = f"{path}.{os.getpid()}-{number}.new"
            try:
                fd = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
                break
            except FileExistsError:
                continue
            except OSError as error:
                raise _store_error("create", temporary, error) from None
        try:
            try:
                _write_all(fd, data)
                os.fsync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise _store_error("write", path, error) from None
        return temporary

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
            self._give_up()
            raise _store_error("write", self._path, error) from None
        self.size += len(data)

    def sync(self) -> None:
        try:
            os.fdatasync(self._descriptor()) if hasattr(os, "fdatasync") else os.fsync(self._descriptor())
        except OSError as error:
            self._give_up()
            raise _store_error("sync", self._path, error) from None

    def close(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            try:
                os.close(fd)
            except OSError as error:  # where a network file system says only now that it could not write
                raise _store_error("close", self._path, error) from None

    def let_go(self) -> None:
        self.close()

    def _give_up(self) -> None:
        with contextlib.suppress(StoreError):
            self.close()

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


def _encodes(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def _unreadable(error: OSError) -> None:
    """What ``os.walk`` would skip: a folder that cannot be read is not an empty one."""
    if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        raise _store_error("list", str(error.filename), error) from None


def _exists(name: str, root: str) -> ConflictError:
    return ConflictError(f"{name} exists already in {root}; it is written once and never opened again")


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _read_all(fd: int, size: int, limit: int | None) -> bytes:
    """The whole file, which was of that size a moment ago; of one above the limit a byte more than that. A ledger has many thousand small
    files, and a buffered file object takes longer to make than such a file to read."""
    pieces, have = [], 0
    while limit is None or have <= limit:
        wanted = min(max(size + 1 - have, 1 << 16), 1 << 30)  # more than 2 GiB at once some systems refuse
        piece = os.read(fd, wanted if limit is None else min(wanted, limit + 1 - have))
        if not piece:
            break
        pieces.append(piece)
        have += len(piece)
    return b"".join(pieces)


def _store_error(what: str, path: str, error: OSError) -> StoreError:
    advice = {
        errno.ENOSPC: "free some space",
        errno.EDQUOT: "free some space or raise the quota",
        errno.EACCES: "check its owner and mode",
        errno.EPERM: "check its owner and mode",
        errno.ENOTDIR: "something that is no folder is in its way",
        errno.EISDIR: "a folder is in its place",
        errno.ENAMETOOLONG: "the name is too long for this file system",
        errno.EROFS: "the file system is read-only: name another store with --store",
    }.get(error.errno or 0, "see the system's log for the device")
    return StoreError(f"cannot {what} {path}, {error.strerror or error}; {advice}")

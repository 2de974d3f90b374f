"""A user's key file and what lies beside it while its key is rotated.

    key.json             the key file
    key.json.next        the new one, until it takes its place: a rotation that was killed goes on with it
    key.json.<id>.old    the one that was replaced, until nothing needs it any more

Each is written whole or not at all, and on the device before anything relies on it.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from tachograph.core.errors import KeyUnavailableError, StoreError, UsageError
from tachograph.crypto import keys
from tachograph.crypto.keys import KeyFile

_ID = re.compile(r"[0-9a-f]{16}")


class KeyPlace:
    """``path``: of the key file; what a link there leads to is what is replaced."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path))
        self._next = self.path.with_name(self.path.name + ".next")

    def current(self) -> KeyFile:
        """Raises ``KeyUnavailableError``."""
        return _read(self.path)

    def pending(self) -> KeyFile | None:
        """The new key of a rotation that was begun."""
        return _read(self._next) if self._next.exists() else None

    def begin(self, new: KeyFile) -> None:
        """Keep the new key file beside the old one."""
        write_new(self._next, keys.dump(new))

    def switch(self, old: KeyFile) -> None:
        """Put the new key file in the place of the old one, which is kept beside it first."""
        kept = self._backup(old.id)
        if not kept.exists():
            write_new(kept, keys.dump(old))
        try:
            os.replace(self._next, self.path)
            _sync(self.path.parent)
        except OSError as error:
            raise StoreError(f"cannot replace the key file {self.path}, {error.strerror}; check its owner and mode") from None

    def replaced(self) -> list[KeyFile]:
        """Key files that were replaced and are kept still."""
        found = []
        for path in sorted(self.path.parent.glob(self.path.name + ".*.old")):
            if _ID.fullmatch(path.name.removeprefix(self.path.name + ".").removesuffix(".old")):
                found.append(_read(path))
        return found

    def find(self, key_id: str) -> KeyFile | None:
        """The replaced key file with this id, if it is kept still."""
        path = self._backup(key_id)
        return _read(path) if _ID.fullmatch(key_id) and path.exists() else None

    def forget(self, old: KeyFile) -> None:
        """Remove a replaced key file."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._backup(old.id))
        _sync(self.path.parent)

    def _backup(self, key_id: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{key_id}.old")


def write_new(path: Path, data: bytes) -> None:
    """A key file (0600) where there is none. Raises ``UsageError`` where there is something already."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fd = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        finally:
            os.close(fd)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise UsageError(f"{path} is there already, and a key file is never written over; name another place") from None
        finally:
            os.unlink(temporary)
        _sync(path.parent)
    except OSError as error:
        raise StoreError(f"cannot write the key file {path}, {error.strerror}; name a writable place") from None


def _read(path: Path) -> KeyFile:
    try:
        return keys.load(path.read_bytes(), str(path))
    except OSError as error:
        raise KeyUnavailableError(f"cannot read the key file {path}, {error.strerror}; check its owner and mode") from None


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)

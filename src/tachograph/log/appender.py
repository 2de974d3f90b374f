"""An append file and what waits to be written to it: the way to disk that the files of a log share.

After a failed write or sync the file is *failed* and never used again: what the kernel could not write it may have dropped, and the
next sync would report success (wiredtiger#4072).
"""

from __future__ import annotations

from tachograph.core.errors import StoreError
from tachograph.core.ports import AppendFile


class Appender:
    """``failed``: it takes nothing more."""

    def __init__(self, file: AppendFile) -> None:
        self.failed = False
        self._open(file)

    def _open(self, file: AppendFile) -> None:
        """Go on in another file."""
        self._file = file
        self._waiting: list[bytes] = []
        self._dirty = False

    def add(self, data: bytes) -> None:
        """It is written with the next ``flush``."""
        self._waiting.append(data)

    @property
    def waits(self) -> bool:
        """Whether something is not written yet."""
        return bool(self._waiting)

    @property
    def size(self) -> int:
        """Bytes written."""
        return self._file.size

    def flush(self) -> None:
        """What was added is with the operating system."""
        if not self._waiting:
            return
        self._check()
        data, self._waiting = b"".join(self._waiting), []
        try:
            self._file.write(data)
        except BaseException:
            self.failed = True
            raise
        self._dirty = True

    def sync(self) -> None:
        """What was flushed is on the device."""
        if not self._dirty:
            return
        self._check()
        try:
            self._file.sync()
        except BaseException:
            self.failed = True
            raise
        self._dirty = False

    def close(self) -> None:
        """The file is complete; what was not flushed is not in it."""
        self._file.close()

    def let_go(self) -> None:
        """After a fork: the other process goes on."""
        self._file.let_go()

    def _check(self) -> None:
        if self.failed:
            raise StoreError(f"{self._file.name} failed before and is not used again; see the error before this one")

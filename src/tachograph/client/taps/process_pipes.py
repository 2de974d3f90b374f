"""The pipes between the agent and its commands: everything that passes is told, whichever way it is read.

``subprocess`` opens its ends of the pipes through ``open_pipe``: the same buffered files over a raw file that tells. ``communicate``,
``asyncio`` and hand-made select loops read a descriptor by ``os.read``; these are looked up, too.

When the agent learns that a command has ended, what it has not read yet is read ahead and told before the end is told; later reads
get it from here.
"""

from __future__ import annotations

import functools
import io
import os
import select
import stat
import sys
import threading
import warnings
import weakref
from typing import Any, Callable, List, Optional

from tachograph.client import effects

from .patching import wrap

read_descriptor = os.read
write_descriptor = os.write

#: How long a thread that is reading right now may take to come to the end of its pipe, once the command is over. Seconds.
_READER = 0.25
_BLOCK = 65536

#: Of a file that a command writes, so much is told. Bytes.
MAX_FILE = 16 << 20

_by_descriptor: "weakref.WeakValueDictionary[int, Pipe]" = weakref.WeakValueDictionary()


class Pipe(io.FileIO):
    """One end of a pipe. ``fd``: 0, 1 or 2 as the command sees it. Before ``listen`` it is a plain file."""

    def __init__(self, file: int, mode: str) -> None:
        super().__init__(file, mode)
        self._call: Optional[effects.Call] = None
        self._fd = 1
        self._hook: Optional[Callable[[int], None]] = None
        self._ahead = bytearray()
        self._ended = False
        self._lock = threading.Lock()
        self._inode = 0

    def listen(self, call: effects.Call, fd: int, hook: Optional[Callable[[int], None]] = None) -> None:
        """Tell ``call`` what passes. ``hook`` is called with the number of bytes that were written, with 0 when a reader has come to
        the end, with -1 when the agent closes its end."""
        self._call, self._fd, self._hook = call, fd, hook
        self._inode = os.fstat(self.fileno()).st_ino
        _by_descriptor[self.fileno()] = self

    def __repr__(self) -> str:
        return super().__repr__().replace("Pipe", "FileIO", 1).replace("tachograph.client.taps.process_pipes", "_io")

    # -- reading ---------------------------------------------------------------------------------------------------------

    def readinto(self, buffer: Any) -> Optional[int]:
        if self._call is None:
            return super().readinto(buffer)
        view = memoryview(buffer).cast("B")
        data = self.take(len(view), functools.partial(self._read_into, view))
        if data is None:
            return None
        view[: len(data)] = data
        return len(data)

    def _read_into(self, view: Any, size: int) -> Optional[bytes]:
        got = io.FileIO.readinto(self, view[:size])
        return None if got is None else bytes(view[:got])

    def read(self, size: Optional[int] = -1) -> Optional[bytes]:  # type: ignore[override]
        if self._call is None:
            return super().read(-1 if size is None else size)
        if size is None or size < 0:
            return self.readall()
        return self.take(size, super().read)

    def readall(self) -> Optional[bytes]:  # type: ignore[override]
        if self._call is None:
            return super().readall()
        parts: List[bytes] = []
        while True:
            part = self.read(_BLOCK)
            if not part:
                return b"".join(parts) if parts or part is not None else None
            parts.append(part)

    def take(self, size: int, read: Callable[[int], Optional[bytes]]) -> Optional[bytes]:
        """What was read ahead, or what ``read`` gives, told."""
        assert self._call is not None
        with self._lock:
            if self._ahead and size:
                data = bytes(self._ahead[:size])
                del self._ahead[:size]
                return data
            got = read(size)
            if got is not None and size and not self._call.replayed:
                self._tell(got)
        if not got and size and got is not None:
            with self._lock:
                if self._ahead:  # read ahead by another thread while this one saw the end
                    got = bytes(self._ahead[:size])
                    del self._ahead[:size]
            if not got and self._hook is not None:
                self._hook(0)
        return got

    def _tell(self, data: bytes) -> None:
        assert self._call is not None
        if data:
            self._call.tell_chunk(data, fd=self._fd)
        elif not self._ended:
            self._ended = True
            self._call.tell_chunk(b"", fd=self._fd, closed=True)

    def drain(self) -> None:
        """The command is over: read what it has left. A thread that is reading does it itself."""
        if self.closed or self._call is None or not self.readable():
            return
        if not self._lock.acquire(timeout=_READER):
            return  # it waits for a process that has inherited the pipe
        try:
            poller = select.poll()
            poller.register(self.fileno(), select.POLLIN | select.POLLHUP)
            while poller.poll(0):
                data = read_descriptor(self.fileno(), _BLOCK)
                self._tell(data)
                if not data:
                    return
                self._ahead += data
        finally:
            self._lock.release()

    # -- writing ---------------------------------------------------------------------------------------------------------

    def write(self, data: Any) -> Optional[int]:  # type: ignore[override]
        written: Optional[int] = super().write(data)
        self.wrote(data, written)
        return written

    def wrote(self, data: Any, written: Optional[int]) -> None:
        """``written`` bytes of ``data`` went to the command. Told in a replay as well: the host may compare."""
        if written and self._call is not None:
            self._call.tell_chunk(bytes(memoryview(data).cast("B")[:written]), fd=self._fd)
            if self._hook is not None:
                self._hook(written)

    def close(self) -> None:
        if not self.closed:
            if self._call is not None and _by_descriptor.get(self.fileno()) is self:
                del _by_descriptor[self.fileno()]
            if self._call is not None and self._fd == 0:
                self._call.tell_chunk(b"", fd=0, closed=True)
            if self._hook is not None:
                self._hook(-1)
        super().close()

    def is_at(self, descriptor: int) -> bool:
        """Whether the descriptor is still this pipe (an agent may close a descriptor behind the file's back)."""
        try:
            return not self.closed and os.fstat(descriptor).st_ino == self._inode
        except OSError:
            return False


def of_stream(stream: Any) -> Optional[Pipe]:
    """The pipe under a ``Popen``'s stream."""
    for name in ("buffer", "raw"):
        stream = getattr(stream, name, stream)
    return stream if isinstance(stream, Pipe) else None


# -- where subprocess opens its pipes ------------------------------------------------------------------------------------


def open_pipe(file: Any, mode: str = "r", buffering: int = -1, *args: Any, **kwargs: Any) -> Any:
    """``io.open``, for the ends of pipes with a raw file that tells."""
    if not isinstance(file, int) or mode not in ("rb", "wb") or args or kwargs:
        return io.open(file, mode, buffering, *args, **kwargs)
    if buffering == 1:
        message = "line buffering (buffering=1) isn't supported in binary mode, the default buffer size will be used"
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    raw = Pipe(file, mode)
    if buffering == 0:
        return raw
    size = buffering if buffering > 1 else _default_size(file)
    return io.BufferedReader(raw, size) if mode == "rb" else io.BufferedWriter(raw, size)


def _default_size(file: int) -> int:
    block = os.fstat(file).st_blksize
    if sys.version_info >= (3, 14):
        return max(min(block, 8 << 20), io.DEFAULT_BUFFER_SIZE)
    return block if block > 1 else io.DEFAULT_BUFFER_SIZE


class Io:
    """The module ``io`` as ``subprocess`` sees it."""

    open = staticmethod(open_pipe)

    def __getattr__(self, name: str) -> Any:
        return getattr(io, name)


def _read(original: Callable[..., bytes]) -> Callable[..., bytes]:
    def read(fd: int, length: int, /) -> bytes:
        pipe = _by_descriptor.get(fd) if _by_descriptor else None
        if pipe is None or not pipe.is_at(fd):
            return original(fd, length)
        got = pipe.take(length, functools.partial(original, fd))
        return b"" if got is None else got

    return read


def _write(original: Callable[..., int]) -> Callable[..., int]:
    def write(fd: int, data: Any, /) -> int:
        written = original(fd, data)
        pipe = _by_descriptor.get(fd) if _by_descriptor else None
        if pipe is not None and pipe.is_at(fd):
            pipe.wrote(data, written)
        return written

    return write


def install() -> None:
    """Look up descriptors that are read and written by ``os.read`` and ``os.write``."""
    wrap(os, "read", _read)
    wrap(os, "write", _write)


# -- output that goes to a file of the agent's ----------------------------------------------------------------------------


class Written:
    """What a command writes to a regular file that the agent gave it, from where the file stood."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.dup(descriptor)
        self._start = self._position()

    def _position(self) -> int:
        import fcntl

        if fcntl.fcntl(self._file, fcntl.F_GETFL) & os.O_APPEND:
            return os.fstat(self._file).st_size
        return os.lseek(self._file, 0, os.SEEK_CUR)

    def take(self, most: int) -> bytes:
        """The bytes, as far as they can be read and are not too many; the end of watching."""
        try:
            size = min(self._position() - self._start, most)
            if size <= 0:
                return b""
            try:
                return os.pread(self._file, size, self._start)
            except OSError:  # opened for writing only
                with open("/proc/self/fd/%d" % self._file, "rb") as again:
                    again.seek(self._start)
                    return again.read(size)
        except OSError:
            return b""
        finally:
            os.close(self._file)


def write_all(descriptor: int, data: bytes) -> None:
    """All of it."""
    while data:
        data = data[write_descriptor(descriptor, data) :]


def regular(descriptor: int) -> bool:
    """Whether it is a regular file, and not one of the agent's own standard streams."""
    try:
        return descriptor > 2 and stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        return False

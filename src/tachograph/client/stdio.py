"""What the agent prints is told to the host as it is written, and goes where it would have gone, through the same descriptor.

``sys.stdout`` is rebuilt over a raw file that tees: same encoding, error handler, buffering and ``isatty``. Output that does not pass
through Python's own objects (a child's, a C library's) is not the agent's word and is not told.

What a declared tool prints is told as the tool's, too: in a replay the tool does not run, and its words are printed for it.
"""

from __future__ import annotations

import io
import sys
from typing import Any

from . import lanes, link
from .frames import pack
from .real import getpid, monotonic_ns


class _TeeFile(io.FileIO):
    """The raw end of a standard stream."""

    def write(self, data: Any) -> int:
        written = super().write(data)
        at = link.get()
        if at is not None and not at.lost and at.pid == getpid() and written:
            try:
                at.send(pack({"m": "output", "fd": self.fileno(), "t": monotonic_ns(), "c": 0}, bytes(memoryview(data)[:written])))
            except link.HostLost:
                # Printing is no effect: the next one will stop the agent.
                return written
        return written


class _Stream(io.TextIOWrapper):
    """The text end. Inside a declared tool, what is written belongs to the tool, whenever it is flushed."""

    def write(self, text: str) -> int:
        count = super().write(text)
        call = lanes.current().call
        at = link.get()
        if call is not None and at is not None and at.mode == "record" and not at.lost and at.pid == getpid():
            fd = 2 if self.name == "<stderr>" else 1
            at.send(pack({"m": "printed", "c": call, "fd": fd, "t": monotonic_ns()}, text.encode("utf-8", "surrogatepass")))
        return count


_Stream.__name__ = _Stream.__qualname__ = "TextIOWrapper"


def say(printed: Any) -> None:
    """Print what an answered tool printed: ``[[descriptor, text]…]``."""
    for fd, text in printed:
        (sys.stderr if fd == 2 else sys.stdout).write(text)


def install() -> None:
    """Tee ``sys.stdout`` and ``sys.stderr``, where they are what Python made them."""
    for name, fd in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if type(stream) is not io.TextIOWrapper or getattr(stream, "name", None) not in ("<stdout>", "<stderr>"):
            continue
        try:
            raw = _TeeFile(fd, "w", closefd=False)
        except OSError:
            continue
        raw.name = stream.name
        unbuffered = not isinstance(stream.buffer, io.BufferedWriter)
        rebuilt = _Stream(
            raw if unbuffered else io.BufferedWriter(raw),
            encoding=stream.encoding,
            errors=stream.errors,
            newline="\n",
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        stream.flush()
        setattr(sys, name, rebuilt)
        setattr(sys, "__%s__" % name, rebuilt)
